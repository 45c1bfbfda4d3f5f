"""The model as a graph: bodies are nodes, joints are edges from parent to child, and the world is the root.

Every body of a tree is the child of exactly one joint, and following parents from it ends at the world.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mbvi.errors import ModelError
from mbvi.model import shapes
from mbvi.model.expressions import Problem, wrong

if TYPE_CHECKING:
    from mbvi.model.elements import Model

WORLD = "world"


def spanning_tree(model: Model) -> tuple[str, ...]:
    """The joints' names, parents before children, otherwise in the order of the model.

    Parameters
    ----------
    model : Model
        A model whose joints refer to existing bodies.

    Returns
    -------
    tuple of str
        One joint for every body.

    Raises
    ------
    ModelError
        If the joints do not tie all bodies to the world as a tree.

    Examples
    --------
    >>> import mbvi.model as mm
    >>> upper, lower = mm.Free(parent="world", child="a"), mm.Ball(parent="a", child="b")
    >>> bodies = {"a": mm.Body(mass=1, inertia=(1, 1, 1)), "b": mm.Body(mass=1, inertia=(1, 1, 1))}
    >>> spanning_tree(mm.Model(name="two", bodies=bodies, joints={"lower": lower, "upper": upper}))
    ('upper', 'lower')
    """
    import networkx as nx

    for problem in problems(model):
        raise ModelError(str(problem))
    joint_of = {joint.child: name for name, joint in model.joints.items()}
    place = {name: i for i, name in enumerate(model.joints)}
    tree = nx.DiGraph((joint.parent, joint.child) for joint in model.joints.values())
    order = nx.lexicographical_topological_sort(tree, key=lambda body: place.get(joint_of.get(body, ""), -1))
    return tuple(joint_of[body] for body in order if body != WORLD)


def problems(model: Model) -> Iterator[Problem]:
    """Why the joints are not a tree that ties every body to the world."""
    found = list(_joint_problems(model))
    yield from found or _loose_bodies(model)


def massless_leaves(model: Model) -> Iterator[Problem]:
    """Joints that move nothing but massless bodies, in a model of numbers whose joints are a tree."""
    import networkx as nx

    rigid = nx.utils.UnionFind([WORLD, *model.bodies])
    for joint in model.joints.values():
        if joint.type == "weld":
            rigid.union(joint.parent, joint.child)
    moved = {name: joint for name, joint in model.joints.items() if joint.type != "weld"}
    ends = {rigid[joint.child] for joint in moved.values()} - {rigid[joint.parent] for joint in moved.values()}
    massive = {rigid[name] for name, body in model.bodies.items() if not shapes.is_massless(body)}
    massless = ends - massive
    for name, joint in moved.items():
        if rigid[joint.child] in massless:
            found = f"none on the massless body {joint.child!r} at the end of the tree"
            remedy = "give it mass or inertia, or tie something that has mass to it"
            yield Problem(("joints", name), wrong("mass or inertia that the joint moves", found, remedy))


def describe_tree(model: Model) -> str:
    """The tree of bodies as lines of ASCII: below each body those that hang on it, each with its joint.

    Parameters
    ----------
    model : Model
        Any model.

    Returns
    -------
    str
        One line for the world and one for each body: `joint: type (coordinates) -> body`.
    """
    children: dict[str, list[str]] = {}
    for name in spanning_tree(model):
        children.setdefault(model.joints[name].parent, []).append(name)
    lines, stack = [WORLD], [(name, "") for name in reversed(children.get(WORLD, []))]
    last = {names[-1] for names in children.values()}
    while stack:
        name, indent = stack.pop()
        joint = model.joints[name]
        coordinates = f" ({', '.join(joint.coordinate_names)})" if joint.coordinate_names else ""
        lines.append(f"{indent}{'`' if name in last else '|'}-- {name}: {joint.type}{coordinates} -> {joint.child}")
        below = indent + ("    " if name in last else "|   ")
        stack.extend((child, below) for child in reversed(children.get(joint.child, [])))
    return "\n".join(lines)


def _joint_problems(model: Model) -> Iterator[Problem]:
    import networkx as nx

    tied = nx.utils.UnionFind([WORLD, *model.bodies])
    graph: nx.Graph[str] = nx.Graph()
    parent_joint: dict[str, str] = {}
    for name, joint in model.joints.items():
        if joint.parent == joint.child:
            remedy = "tie two different bodies"
            yield Problem(("joints", name), wrong("two bodies", f"{joint.child!r} as parent and as child", remedy))
        elif joint.child == WORLD:
            remedy = "swap parent and child"
            yield Problem(("joints", name, "child"), wrong("a body", "'world', which can only be a parent", remedy))
        elif tied[joint.parent] == tied[joint.child]:
            yield _loop(name, joint, graph)
        elif joint.child in parent_joint:
            found = f"{joint.child!r}, which joint {parent_joint[joint.child]!r} already ties to a parent"
            yield Problem(("joints", name, "child"), wrong("a body without a parent", found, "swap parent and child"))
        else:
            parent_joint[joint.child] = name
            tied.union(joint.parent, joint.child)
            graph.add_edge(joint.parent, joint.child)


def _loop(name: str, joint: Any, graph: Any) -> Problem:
    """The problem of a joint between two bodies that others tie already."""
    import networkx as nx

    path = nx.shortest_path(graph, joint.parent, joint.child)
    found = f"the closed loop {' - '.join([*path, joint.parent])}, which joint {name!r} closes"
    remedy = "closed loops are not supported yet: remove one of its joints"
    return Problem(("joints", name), wrong("a tree of joints", found, remedy))


def _loose_bodies(model: Model) -> Iterator[Problem]:
    """Bodies that are no joint's child: in a graph without loops, the roots of all that is not tied to the world."""
    children = {joint.child for joint in model.joints.values()}
    for name in model.bodies:
        if name not in children:
            remedy = "add a joint with this child; of the type free if nothing holds the body"
            yield Problem(("bodies", name), wrong("a joint that ties the body to the world", "none", remedy))
