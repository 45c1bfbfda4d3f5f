"""The model as a graph: bodies and the world are nodes, joints are edges.

A spanning tree of it leads from the world to every body. Its joints are the branches; every other joint is a chord, which
closes a loop. A joint whose coordinates are not used is cut: it takes constraints to hold its bodies together.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mbvi.errors import ModelError
from mbvi.model.description import Description
from mbvi.model.expressions import Problem, nearest, show, wrong
from mbvi.model.fields import WORLD
from mbvi.model.joints import Joint
from mbvi.model.mass_properties import is_massless

MOST_SHOWN = 12
"""A loop of more bodies is shown by its first and last ones."""


class Branch(NamedTuple):
    """A joint of the spanning tree.

    joint         its name
    inner         of its two bodies the one nearer the world, or the world
    outer         the other one
    is_reversed   True if the outer body is the joint's parent
    """

    joint: str
    inner: str
    outer: str
    is_reversed: bool


class Plan(NamedTuple):
    """The spanning tree of a model, and what it leaves out.

    branches   joints of the tree, inner before outer, otherwise in the order of the model
    chords     names of the joints that close loops, in the order of the model
    """

    branches: tuple[Branch, ...]
    chords: tuple[str, ...]


def plan(model: Description) -> Plan:
    """The spanning tree that leaves the fewest constraints, and the chords, which close loops in the middle.

    It is the maximum spanning tree in the number of constraints that a joint needs if cut (Kruskal). Joints with
    `cut` true come last, those with false first; among equals those nearer the world come first, then the model's
    order counts.

    Parameters
    ----------
    model : Model
        Any model.

    Returns
    -------
    Plan
        One branch for every body, and the chords.

    Examples
    --------
    >>> import mbvi.model as mm
    >>> upper, lower = mm.Free(parent="world", child="a"), mm.Ball(parent="a", child="b")
    >>> bodies = {"a": mm.Body(mass=1, inertia=(1, 1, 1)), "b": mm.Body(mass=1, inertia=(1, 1, 1))}
    >>> joints = {"lower": lower, "upper": upper, "again": mm.Weld(parent="a", child="b", cut=True)}
    >>> found = plan(mm.Model(name="two", bodies=bodies, joints=joints))
    >>> [branch.joint for branch in found.branches], found.chords
    (['upper', 'lower'], ('again',))
    """
    _check_model(model)
    ties = (_Tie(name, each.parent, each.child, each.cut, each.constraint_count) for name, each in model.joints.items())
    return _plan(tuple(model.bodies), tuple(ties))


def _check_model(model: Any) -> None:
    """Refuse what is no model."""
    if not isinstance(model, Description):
        raise ModelError(f"model: {wrong('a Model', show(model), 'mbvi.load reads one from a file')}")


def _joint(model: Description, name: Any) -> Joint:
    """A joint of a model by its name."""
    _check_model(model)
    if not isinstance(name, str) or name not in model.joints:
        remedy = nearest(str(name), model.joints)
        raise ModelError(f"joint_name: {wrong('the name of a joint', show(name), remedy)}")
    return model.joints[name]


class _Tie(NamedTuple):
    """The properties of a joint that decide whether it is in the spanning tree."""

    name: str
    parent: str
    child: str
    cut: bool | None
    constraint_count: int


@functools.lru_cache(maxsize=64)
def _plan(bodies: tuple[str, ...], ties: tuple[_Tie, ...]) -> Plan:
    """See `plan`."""
    import networkx as nx

    tied = nx.utils.UnionFind([WORLD, *bodies])
    tree: nx.Graph[str] = nx.Graph()
    for tie in _by_preference(ties):
        if tied[tie.parent] != tied[tie.child]:
            tied.union(tie.parent, tie.child)
            tree.add_edge(tie.parent, tie.child, tie=tie)
    branches = _branches(ties, tree)
    in_tree = {branch.joint for branch in branches}
    return Plan(branches, tuple(tie.name for tie in ties if tie.name not in in_tree))


def is_cut(model: Description, joint_name: str, plan: Plan) -> bool:
    """Whether a joint becomes constraints: a chord, one with `cut` true, or, without `cut`, any in the embedding."""
    joint = _joint(model, joint_name)
    if not isinstance(plan, Plan):
        raise ModelError(f"plan: {wrong('a Plan', show(plan), 'make one by mbvi.plan')}")
    cut = joint.cut
    return bool(cut) or (cut is None and model.formulation == "embedding") or joint_name in plan.chords


def is_backward(model: Description, branch: Branch, plan: Plan) -> bool:
    """Whether a branch that is not cut has a quaternion, which turns the child, though the child is nearer the world."""
    is_turned = branch.is_reversed and "qw" in model.joints[branch.joint].coordinate_names
    return is_turned and not is_cut(model, branch.joint, plan)


def problems(model: Description) -> Iterator[Problem]:
    """What is wrong with the graph of a model of numbers."""
    found = list(_joined_to_themselves(model)) or list(_loose_bodies(model))
    if found:
        yield from found
        return
    planned = plan(model)
    yield from _kept_chords(model, planned)
    yield from _shared_names(model, planned)
    yield from massless_leaves(model, planned)


def massless_leaves(model: Description, plan: Plan) -> Iterator[Problem]:
    """Joints without armature that move nothing but massless bodies, on which no loop and no constraint acts; in numbers."""
    import networkx as nx

    rigid = nx.utils.UnionFind([WORLD, *model.bodies])
    for joint in model.joints.values():
        if not joint.coordinate_names:
            rigid.union(joint.parent, joint.child)
    heavy = {rigid[name] for name, body in model.bodies.items() if not is_massless(body)}
    heavy |= {rigid[name] for name in _constrained(model, plan)}
    goes_on = set()  # bodies from which a joint without armature moves others
    for branch in reversed(plan.branches):
        inner, outer = rigid[branch.inner], rigid[branch.outer]
        is_moved = not _has_own_inertia(model.joints[branch.joint])
        if outer in heavy:
            heavy.add(inner)
        elif is_moved and outer not in goes_on:
            found = f"none on the massless body {branch.outer!r}, nor on what it carries"
            remedy = "give it mass or inertia, or connect something that has mass to it"
            yield Problem(("joints", branch.joint), wrong("mass or inertia that the joint moves", found, remedy))
        if is_moved or outer in goes_on:
            goes_on.add(inner)


def _has_own_inertia(joint: Joint) -> bool:
    """Whether every coordinate of a joint has an armature; so has a weld, which has no coordinates."""
    return len(joint.armatures) == len(joint.coordinate_names)


def describe_tree(model: Description) -> str:
    """The spanning tree as lines of ASCII, below each body those that hang on it, then what else ties bodies together.

    Parameters
    ----------
    model : Model
        Any model.

    Returns
    -------
    str
        A line for the world; one for each body, `joint: type (coordinates) -> body`, with `<-` if the body is the
        joint's parent; one for each joint that closes a loop; one for each constraint. Of a joint that is cut its
        number of constraints stands for its coordinates.
    """
    planned = plan(model)
    chords = [
        f"{_title(model, name, planned)} closes a loop: {loop_of(model.joints[name], planned)}"
        for name in planned.chords
    ]
    constraints = [f"{name}: {each.type} of {' and '.join(_named(each))}" for name, each in model.constraints.items()]
    return "\n".join([*_drawing(model, planned), *chords, *constraints])


def summary(model: Description) -> str:
    """What a model is made of, in a line.

    Examples
    --------
    >>> import mbvi
    >>> summary(mbvi.load("models/slider_crank.yaml"))
    '3 bodies, 4 joints (3 revolute, 1 prismatic), 1 loop'
    """
    joints = Counter(joint.type for joint in model.joints.values())
    loops = len(plan(model).chords)
    parts = [f"{len(model.bodies)} {'body' if len(model.bodies) == 1 else 'bodies'}"]
    types = ", ".join(f"{number} {kind}" for kind, number in joints.items())
    parts.append(f"{_count(len(model.joints), 'joint')} ({types})")
    numbers = {"loop": loops, "force": len(model.forces), "constraint": len(model.constraints)}
    numbers |= {"contact": len(model.contacts), "sensor": len(model.sensors)}
    parts += [_count(number, noun) for noun, number in numbers.items() if number]
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# ------------------------------------------------------------------------------------- the spanning tree


def _by_preference(ties: Sequence[_Tie]) -> list[_Tie]:
    """The joints, those first that the spanning tree should have."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph((tie.parent, tie.child) for tie in ties)
    graph.add_node(WORLD)
    distance = nx.single_source_shortest_path_length(graph, WORLD)

    def key(tie: _Tie) -> tuple[int, int, int]:
        last = {False: 0, None: 1, True: 2}[tie.cut]
        return last, -tie.constraint_count, min(distance.get(body, len(ties)) for body in (tie.parent, tie.child))

    return sorted(ties, key=key)


def _branches(ties: Sequence[_Tie], tree: Any) -> tuple[Branch, ...]:
    """The edges of a tree, inner before outer, otherwise in the order of the model."""
    import networkx as nx

    tree.add_node(WORLD)
    outward = nx.bfs_tree(tree, WORLD)
    place = {tie.name: i for i, tie in enumerate(ties)}
    branch_to = {}
    for inner, outer in outward.edges:
        tie = tree.edges[inner, outer]["tie"]
        branch_to[outer] = Branch(tie.name, inner, outer, is_reversed=tie.parent == outer)
    order = nx.lexicographical_topological_sort(
        outward, key=lambda body: place[branch_to[body].joint] if body in branch_to else -1
    )
    return tuple(branch_to[body] for body in order if body != WORLD)


# ------------------------------------------------------------------------------------------ what is wrong


def _joined_to_themselves(model: Description) -> Iterator[Problem]:
    for name, joint in model.joints.items():
        if joint.parent == joint.child:
            remedy = "connect two different bodies"
            yield Problem(("joints", name), wrong("two bodies", f"{joint.child!r} as parent and as child", remedy))


def _loose_bodies(model: Description) -> Iterator[Problem]:
    """One body of each group that has no path to the world, if possible one that is no joint's child."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph((joint.parent, joint.child) for joint in model.joints.values())
    graph.add_nodes_from([WORLD, *model.bodies])
    children = {joint.child for joint in model.joints.values()}
    place = {name: i for i, name in enumerate(model.bodies)}
    groups = [group for group in nx.connected_components(graph) if WORLD not in group]
    loose = [min(group, key=lambda name: (name in children, place[name])) for group in groups]
    for name in sorted(loose, key=place.__getitem__):
        remedy = "add a joint with this child; of the type free if nothing holds the body"
        yield Problem(("bodies", name), wrong("a joint that connects the body to the world", "none", remedy))


def _kept_chords(model: Description, plan: Plan) -> Iterator[Problem]:
    """Joints that have to be cut though none of their loop may be."""
    for name in plan.chords:
        if model.joints[name].cut is False:
            found = f"false for all of {loop_of(model.joints[name], plan)}"
            remedy = "leave out the key 'cut' of one of them"
            yield Problem(("joints", name, "cut"), wrong("a joint of every loop that may be cut", found, remedy))


def _shared_names(model: Description, plan: Plan) -> Iterator[Problem]:
    """Joints whose coordinates would have the names of those of a body: those that are not cut in the embedding."""
    for name, joint in model.joints.items() if model.formulation == "embedding" else ():
        if name in model.bodies and joint.coordinate_names and not is_cut(model, name, plan):
            expected = "a name that no body has, for a joint whose coordinates are used together with those of bodies"
            yield Problem(("joints", name), wrong(expected, f"{name!r}, a body", "rename one of them"))


def _constrained(model: Description, plan: Plan) -> Iterator[str]:
    """The bodies that chords and constraints act on."""
    joints: list[str] = list(plan.chords)
    for constraint in model.constraints.values():
        yield from _named(constraint, "body")
        joints += _named(constraint, "joint")
    for name in joints:
        yield from (model.joints[name].parent, model.joints[name].child)


def _named(constraint: Any, *kinds: str) -> list[str]:
    """The bodies and joints that a constraint names, or those of one kind."""
    kinds = kinds or ("body", "joint")
    keys = [f"{kind}{suffix}" for kind in kinds for suffix in ("", "_a", "_b")]
    over = [body for body, _ in getattr(constraint, "places", ())] if "body" in kinds else []
    return [*(getattr(constraint, key) for key in keys if hasattr(constraint, key)), *dict.fromkeys(over)]


# ---------------------------------------------------------------------------------------------- drawing


def _drawing(model: Description, plan: Plan) -> list[str]:
    """The world and, below each body, the branches to those that hang on it."""
    children: dict[str, list[Branch]] = {}
    for branch in plan.branches:
        children.setdefault(branch.inner, []).append(branch)
    lines, stack = [WORLD], [(branch, "") for branch in reversed(children.get(WORLD, []))]
    last = {branches[-1] for branches in children.values()}
    while stack:
        branch, indent = stack.pop()
        arrow = "<-" if branch.is_reversed else "->"
        title = _title(model, branch.joint, plan)
        lines.append(f"{indent}{'`' if branch in last else '|'}-- {title} {arrow} {branch.outer}")
        below = indent + ("    " if branch in last else "|   ")
        stack.extend((child, below) for child in reversed(children.get(branch.outer, [])))
    return lines


def _title(model: Description, name: str, plan: Plan) -> str:
    """A joint's name, type, and its coordinates or, if it is cut, how many constraints it has."""
    joint: Joint = model.joints[name]
    parts: Sequence[str] = joint.coordinate_names
    if is_cut(model, name, plan):
        parts = [f"{joint.constraint_count} constraints"]
    return f"{name}: {joint.type}" + (f" ({', '.join(parts)})" if parts else "")


def loop_of(chord: Joint, plan: Plan) -> str:
    """The bodies of the loop that a joint closes: from its parent through the tree to its child, and back.

    Those in the middle of a long loop are left out: "z - y - x - w - … (18 more) … - d - c - b - a - z".
    """
    inward = {branch.outer: branch.inner for branch in plan.branches}
    up, down = (list(_path(body, inward)) for body in (chord.parent, chord.child))
    while len(up) > 1 and len(down) > 1 and up[-2] == down[-2]:
        up.pop()
        down.pop()
    bodies = [*up, *reversed(down[:-1])]
    if len(bodies) > MOST_SHOWN:
        kept = MOST_SHOWN // 3
        bodies[kept:-kept] = [f"… ({len(bodies) - 2 * kept} more) …"]
    return " - ".join([*bodies, chord.parent])


def _path(body: str, inward: dict[str, str]) -> Iterator[str]:
    """The body and those it hangs on, up to the world."""
    yield body
    while body in inward:
        body = inward[body]
        yield body
