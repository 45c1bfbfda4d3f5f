"""From a model to the arrays of the kernels.

Every joint that is not cut becomes a sequence of elementary joints with links between. The frame of a link has its joint's
axis as z. With the joint frame at R_c, x_c in the link above, and A a rotation whose third column is the axis, the new link
hangs at rotation R_c A and place x_c, and sees the moved joint frame at Aᵀ, 0. The child's body frame then lies at rotation
Aᵀ R_orientation, and its origin −R offset from the joint. From child to parent the sequence runs backwards, about −axis.

A body whose joint to the spanning tree is cut gets coordinates of its own: the place of its centre of mass and a unit
quaternion, or the place alone if it is a point mass that needs no orientation. A joint that is cut becomes constraints; where
something acts on its coordinates, or it is a screw, they stay as coordinates of a massless frame that is tied to the child. So
do those of a joint of the tree whose quaternion, which turns the child in the parent, is against the direction of the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.model import meshes
from mbvi.model.arguments import check_choice
from mbvi.model.expressions import wrong
from mbvi.model.fields import WORLD
from mbvi.model.forces import BallSpring, Between, Bushing, Force, FrameActuator, Law, OnJoint, OnTendon, Torque
from mbvi.model.graph import Branch, Plan, is_backward, is_cut, plan
from mbvi.model.holds import ByExpression, Expressed, Follows, OnCurve, Related
from mbvi.model.joints import Joint
from mbvi.model.mass_properties import MassProperties, checked_properties
from mbvi.model.model import Model
from mbvi.model.motions import Z, rotation, slide
from mbvi.model.rotations import rotation_matrix
from mbvi.model.tendons import length_of, tendons_of
from mbvi.model.touching import frictions_of, has_contacts, stops_of
from mbvi.recording import are_equal, array, dot, is_zero, norm
from mbvi.system import ties
from mbvi.system.elementary import Elementary, elementary, elementary_joints
from mbvi.system.elimination import Atom, clique, dense, elimination
from mbvi.system.exact_loops import with_exact_loops
from mbvi.system.forms import with_all_cut, with_held, with_tree
from mbvi.system.given import Homes, given_state
from mbvi.system.lagrangian import compile_force
from mbvi.system.own_functions import OwnForce, OwnValues
from mbvi.system.parameters import ParameterMap, UnrecordedError
from mbvi.system.points import point_bodies
from mbvi.system.projection import CONSTRAINT_TOLERANCE, rounded_numbers
from mbvi.system.scales import set_scales
from mbvi.system.system import System
from mbvi.system.tables import WIDTHS, BodyFrame, Entry, Row, Tables
from mbvi.system.weightless import crosses, weightless_bodies

Array = np.ndarray
POSITIONS = 3  # number of positions at which idle constraints are looked for
NOTHING = 1e-13  # how little they may depend on coordinates there: some hundred roundings
DENSE = 12  # coordinates of a system up to which its matrix is one dense block
MIXED_DENSE = 24  # such a number for a system without constraints

JOINTS = ("joint", "joint_a", "joint_b", "joint_c")  # fields that name joints
BETWEEN = {
    "spring": layout.SPRING,
    "damper": layout.DAMPER,
    "potential": layout.LENGTH_POTENTIAL,
    "force of rate": layout.LENGTH_RATE_FORCE,
}
ON_COORDINATE = {
    "spring": layout.JOINT_SPRING,
    "damper": layout.JOINT_DAMPER,
    "potential": layout.JOINT_POTENTIAL,
    "force of rate": layout.JOINT_RATE_FORCE,
    "force of time": layout.JOINT_FORCE,
}


def assemble(model: Model, formulation: str | None = None, force: Any = None) -> System:
    """The System of a model.

    Parameters
    ----------
    model : Model
    formulation : str, optional
        tree, in the generalized coordinates of the joints, or embedding, in places and unit quaternions of the bodies with
        joints as constraints; by default the model's. Where every body is welded to the world it is the embedding.
    force : callable, optional
        A force of your own, ``force(t, q, v, F)`` with arrays (n,), compilable by numba, that adds generalized forces
        to ``F`` in place [N m for angles, N for displacements]. Where it raises an error, the step fails. Behind F it may take
        parameters of the model by their names, as in ``force(t, q, v, F, damping)``.

    Returns
    -------
    System
        Mass matrix, potential, forces and constraints as compiled kernels; nothing is compiled for the model.

    Raises
    ------
    ModelError
        If a mesh cannot be used, a constraint between parts that do not move against each other does not hold, or the force
        cannot be compiled, or takes what is no parameter of the model.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -2))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> system = assemble(mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}))
    >>> system.mass_matrix([0.3])
    array([[4.]])
    """
    if not isinstance(model, Model):
        raise ModelError(f"model: expected a Model, found {model!r}; mbvi.load reads one from a file")
    if formulation is not None:
        check_choice(formulation, ("tree", "embedding"), "formulation")
    if formulation is not None and formulation != model.formulation:
        model = model.replaced({"formulation": formulation})
    for problem in meshes.problems(model):
        raise ModelError(str(problem))
    meshes.warn(model)
    builder = built(model)
    if (exact := _with_exact_loops(model, builder)) is not model:
        model, builder = exact, built(exact)
    values = None if force is None or isinstance(force, OwnForce) else OwnValues({"force": force})
    own_force = force if values is None else compile_force(force, *builder.given_state(), builder.model.parameters)
    system = builder.system(model, own_force)
    if idle := idle_rows(system):
        builder.tables.make_idle(idle)
        system = builder.system(model, own_force)
    system._own_values = values
    if system.constraint_count:
        set_scales(system)
    return system


def built(model: Model) -> Builder:
    """The tables of a model, in the embedding where it has no coordinates in its own formulation."""
    builder = Builder(model.resolved())
    builder.build()
    if not builder.tables.names:
        builder = Builder(with_all_cut(model.resolved()))
        builder.build()
    return builder


def _with_exact_loops(model: Model, builder: Builder) -> Model:
    """The model in numbers with which its loops move exactly; itself if they do."""
    resolved, chords = model.resolved(), builder.plan.chords
    moves = any(resolved.joints[branch.joint].coordinate_names for branch in builder.plan.branches)
    if resolved._moved_loops is not None or not (chords or resolved.constraints) or not moves:
        return model
    try:
        whole = built(with_tree(resolved, chords)) if builder.roots else builder
    except ModelError:  # what does not fit together is refused where a start is looked for
        return model
    return with_exact_loops(model, whole.system(whole.model, None), lambda each: built(each).system(each, None))


def record(system: System, names: tuple[str, ...]) -> ParameterMap | None:
    """The map from some parameters to the tables of a system, see `ParameterMap`; None where it cannot be written down."""
    try:
        return ParameterMap(system, names, built, idle_rows)
    except UnrecordedError:
        return None


def idle_rows(system: System) -> set[int]:
    """The constraints of loops that hold whatever the coordinates are, as what would keep a planar loop in its plane.

    They depend on no coordinate at any position, so that some at random show it.
    """
    arrays = system.arrays
    geometric = np.isin(arrays.constraints[:, layout.CONSTRAINT_KIND], layout.GEOMETRIC)
    is_idle = geometric & (arrays.constraints[:, layout.FUNCTION] < 0) & (arrays.reference[arrays.row_nodes[:, 0]] > 0)
    if not is_idle.any():
        return set()
    rows, random = np.repeat(np.arange(arrays.k), arrays.constraints[:, layout.ENTRIES]), np.random.default_rng(11)
    for _ in range(POSITIONS):
        g, G, _ = system._constraint_entries(system.given_q + random.standard_normal(arrays.n), 0.0)
        sizes = np.abs(g)
        with np.errstate(invalid="ignore"):  # what is not a number here is not idle
            np.maximum.at(sizes, rows, np.abs(G))
        is_idle &= sizes <= NOTHING * np.abs(G).max(initial=1.0)
    return set(np.flatnonzero(is_idle).tolist())


def frame_with_axis(axis: Array, above: Array) -> Array:
    """A rotation whose third column is the axis; the transpose of `above` if that is one, so that frames align."""
    if are_equal(dot(above, axis), [0.0, 0.0, 1.0]):
        return above.T
    a, b, c = axis
    cross = array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])  # axis × y = cross y, and e_i × axis is row i
    sizes = list(map(abs, axis.tolist()))
    across = cross[sizes.index(min(sizes))]
    x = across / norm(across)
    return np.column_stack([x, dot(cross, x), axis])


class Builder:
    """The tables of a resolved model, filled joint by joint.

    coordinates   first coordinate of every joint that has any
    roots         atom of every body with coordinates of its own
    base_of_loop  for every atom that closes a loop, the body of the loop that is nearest the world
    loops         atom of every joint that closes a loop
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.plan: Plan = plan(model)
        self.tables = Tables()
        self.properties = {name: checked_properties(body, model.files) for name, body in model.bodies.items()}
        self.frames = {WORLD: BodyFrame(-1, np.eye(3), np.zeros(3))}
        self.coordinates: dict[str, int] = {}
        self.roots: dict[str, int] = {}
        self.root_coordinates: dict[str, tuple[int, bool]] = {}
        self.curves: dict[str, int] = {}
        self.atom_of_body: dict[str, int | None] = {WORLD: None}
        self.base_of_loop: dict[int, str] = {}
        self.loops: dict[str, int] = {}
        self.branch_to = {branch.outer: branch for branch in self.plan.branches}
        touching = with_held(model, (*stops_of(model), *frictions_of(model))) if has_contacts(model) else model
        self.points = point_bodies(touching, self.plan, self.properties)
        self.backward = {branch.joint for branch in self.plan.branches if is_backward(model, branch, self.plan)}
        self.used = self.backward.union(_used_joints(touching))

    def build(self) -> None:
        """Fill the tables."""
        for branch in self.plan.branches:
            if self.is_tied(branch) or branch.outer in self.points:
                self.add_root(branch.outer)
            else:
                self.add_branch(branch)
        for name, frame in self.frames.items():
            if name != WORLD:
                self.add_body(frame, self.properties[name])
        for branch in self.plan.branches:
            if self.is_tied(branch):
                self.add_cut_joint(branch.joint, self.roots[branch.outer])
        for name in self.plan.chords:
            self.loops[name] = self.loop_atom(self.model.joints[name].parent, self.model.joints[name].child)
            self.add_cut_joint(name, self.loops[name])
        for name, element in self.model.constraints.items():
            self.add_constraint(name, element)
        self.add_subtree_masses()
        for name, force in self.model.forces.items():
            self.add_force(name, force)

    def is_tied(self, branch: Branch) -> bool:
        """Whether a joint of the tree becomes constraints, and its outer body has coordinates of its own."""
        return branch.joint in self.backward or is_cut(self.model, branch.joint, self.plan)

    def system(self, model: Model, force: OwnForce | None) -> System:
        """The System of the tables, of a model before it was resolved, with a force of the user's own or none."""
        tables = self.tables
        entries = [(i, entry.coordinate) for i, row in enumerate(tables.rows) for entry in row.entries]
        atoms, coupled = self.atoms(is_dense=force is not None)
        n, k = len(tables.names), len(tables.rows)
        arrays = layout.System(
            n=n,
            k=k,
            is_tree=1,
            **self.arrays(() if force is None else force.names),
            **elimination(atoms, coupled, entries, k - sum(len(atom.rows) for atom in atoms)),
            gradient=0,
            hessian=0,
            potential=0,
            vector_potential=0,
            constraint=0,
            curvature=0,
            force=0 if force is None else force.function,
            time_rates=0,
        )
        if force is not None:
            arrays.periodic[:] = 0
        q, v = self.given_state()
        system = System(
            name=model.name,
            arrays=arrays,
            coordinate_names=tables.names,
            coordinate_units=tables.units,
            initial_q=q,
            initial_v=v,
            is_conservative=force is None and self.is_conservative(),
            constraint_names=[row.name for row in tables.rows],
            model=model,
            frames=self.frames,
            homes=self.homes(),
            assemble=assemble,
            record=record,
        )
        system._force_names = () if force is None else force.names
        return system

    def arrays(self, force_names: Sequence[str]) -> dict[str, Any]:
        """What the kernels read of the tables, with a force of the user's own that takes these parameters."""
        own = array([self.model.parameters[name] for name in force_names])
        return {"gravity": array(self.model.gravity), "force_parameters": own, **self.tables.arrays()}

    def homes(self) -> Homes:
        """Where the coordinates come from."""
        centers = {name: each.center_of_mass for name, each in self.properties.items()}
        return Homes(self.plan, self.coordinates, self.root_coordinates, centers, self.curves)

    def given_state(self) -> tuple[Array, Array]:
        """The coordinates and velocities that the model gives."""
        return given_state(self.model, self.homes(), len(self.tables.names))

    # ------------------------------------------------------------------------------------------ links

    def add_sequence(self, start: BodyFrame, sequence: list[tuple[int, Elementary]], atom: int) -> BodyFrame:
        """Add the links of (coordinate, elementary joint) at a joint frame; the joint frame at their end."""
        tables, (link, turned, place) = self.tables, start
        for coordinate, (kind, axis, pitch) in sequence:
            own = frame_with_axis(axis, turned) if kind not in WIDTHS else np.eye(3)
            fixed = dot(turned, own)
            tables.links.append([link, kind, coordinate, int(are_equal(fixed, np.eye(3)))])
            tables.geometry.append(np.concatenate([fixed.ravel(), place, array([pitch]), np.zeros(11)]))
            tables.atom_of_link.append(atom)
            link, turned, place = len(tables.links) - 1, own.T, np.zeros(3)
            if kind == layout.QUATERNION:
                name = tables.names[coordinate].removesuffix(".qw")
                quaternion = [Entry(j, link, 0.0) for j in range(coordinate, coordinate + 4)]
                tables.add_row(Row(f"{name}.norm", layout.UNIT_QUATERNION, quaternion), atom)
        return BodyFrame(link, turned, place)

    def add_joint_links(self, name: str, inner: BodyFrame, atom: int, is_reversed: bool = False) -> BodyFrame:
        """Add the coordinates and links of a joint from the body frame on its parent (or on its child) to the other."""
        joint = self.model.joints[name]
        if joint.coordinate_names:
            self.coordinates[name] = len(self.tables.names)
        for short, unit in zip(joint.coordinate_names, joint.coordinate_units, strict=True):
            self.tables.add_coordinate(f"{name}.{short}", unit, atom, joint.armatures.get(short, 0.0))
        sequence, coordinate = [], self.coordinates.get(name, 0)
        for each in elementary_joints(joint):
            sequence.append((coordinate, each))
            coordinate += WIDTHS.get(each.kind, 1)
        orientation = rotation_matrix(joint.orientation)
        if is_reversed:
            sequence = [(i, each._replace(axis=-each.axis)) for i, each in reversed(sequence)]
            start = BodyFrame(inner.link, dot(inner.rotation, orientation.T), inner.point(joint.offset))
            end = self.add_sequence(start, sequence, atom)
            return end._replace(place=end.place - dot(end.rotation, array(joint.position)))
        end = self.add_sequence(inner._replace(place=inner.point(joint.position)), sequence, atom)
        turned = dot(end.rotation, orientation)
        return BodyFrame(end.link, turned, end.place - dot(turned, array(joint.offset)))

    def add_branch(self, branch: Branch) -> None:
        """Add a joint of the tree that is not cut."""
        moves = bool(self.model.joints[branch.joint].coordinate_names)
        atom = self.tables.add_atom() if moves else self.atom_of_body[branch.inner]
        inner = self.frames[branch.inner]
        self.frames[branch.outer] = self.add_joint_links(branch.joint, inner, atom or 0, branch.is_reversed)
        self.atom_of_body[branch.outer] = atom

    def add_root(self, body: str) -> None:
        """Add coordinates of a body of its own: the place of its centre of mass and its orientation."""
        atom = self.roots[body] = self.atom_of_body[body] = self.tables.add_atom()
        first = len(self.tables.names)
        self.root_coordinates[body] = first, body in self.points
        sequence = [(first, Elementary(layout.TRANSLATION, np.zeros(3), 1.0))]
        if body not in self.points:
            sequence += [(first + 3, elementary(each)) for each in rotation("quaternion")]
        for short in ("x", "y", "z"):
            self.tables.add_coordinate(f"{body}.{short}", "m", atom)
        for short in () if body in self.points else ("qw", "qx", "qy", "qz"):
            self.tables.add_coordinate(f"{body}.{short}", "-", atom)
        end = self.add_sequence(self.frames[WORLD], sequence, atom)
        self.frames[body] = end._replace(place=dot(-end.rotation, self.properties[body].center_of_mass))

    def add_body(self, frame: BodyFrame, properties: MassProperties) -> None:
        """Add the mass properties of a body to its link, about the link's origin."""
        if frame.link < 0:
            return
        m = properties.mass
        c = frame.point(properties.center_of_mass)
        turned = dot(dot(frame.rotation, properties.inertia), frame.rotation.T)
        inertia = turned + m * (dot(c, c) * np.eye(3) - c[:, None] * c)
        own = np.concatenate([array([m]), m * c, inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]])
        row = self.tables.geometry[frame.link]
        before, after = row[: layout.MASS], row[layout.SUBTREE_MASS :]
        self.tables.geometry[frame.link] = np.concatenate([before, row[layout.MASS : layout.SUBTREE_MASS] + own, after])

    def add_subtree_masses(self) -> None:
        """Mass of every link and all that hangs on it."""
        geometry = self.tables.geometry
        masses = [row[layout.MASS] for row in geometry]
        for i in range(len(geometry) - 1, -1, -1):
            if (parent := self.tables.links[i][layout.PARENT]) >= 0:
                masses[parent] += masses[i]
            geometry[i] = np.append(geometry[i][: layout.SUBTREE_MASS], array([masses[i]]))

    # ------------------------------------------------------------------------------------ constraints

    def add_cut_joint(self, name: str, atom: int) -> None:
        """Add the constraints of a joint that is cut; where its coordinates are needed, those and a weld."""
        joint = self.model.joints[name]
        holds = joint.holds()
        if name in self.used or holds is None:
            frame = self.add_joint_links(name, self.frames[joint.parent], atom)
            child = self.frames[joint.child]
            a, b = (ties.End(f.link, f.place, f.rotation) for f in (frame, child))
            self.add_rows(name, ties.rows(self.tables, name, ties.weld(), (a, b), self.coordinate), atom)
        elif arm := self.points_arm(joint):
            a, b, length = arm
            self.add_rows(name, [ties.distance(self.tables, name, a, b, length)], atom)
        else:
            rows = list(ties.rows(self.tables, name, holds, ties.joint_ends(joint, self.frames), self.coordinate))
            if len(rows) != joint.constraint_count:
                expected = f"{joint.constraint_count} constraints of what a joint of the type {joint.type} holds"
                raise ModelError(f"joints.{name}: {wrong(expected, str(len(rows)))}")
            self.add_rows(name, rows, atom)

    def points_arm(self, joint: Joint) -> tuple[ties.End, ties.End, float] | None:
        """The two points and their distance, for a joint about whose place a point body swings."""
        if not joint.is_pivot:
            return None
        a, b = ties.joint_ends(joint, self.frames)
        for body, place in ((joint.parent, joint.position), (joint.child, joint.offset)):
            arm = array(place) - self.properties[body].center_of_mass if body in self.points else np.zeros(3)
            if not is_zero(arm):
                origin = np.zeros(3)  # of a point's link, where its mass is
                ends = (a._replace(place=origin), b) if body == joint.parent else (a, b._replace(place=origin))
                return *ends, norm(arm)
        return None

    def add_constraint(self, name: str, element: Any) -> None:
        """Add the constraints of an element."""
        holds = element.holds() if hasattr(element, "holds") else None
        if not holds:
            expected = "what the constraint holds"
            raise ModelError(f"constraints.{name}: {wrong(expected, f'nothing, for the type {element.type}')}")
        if isinstance(holds[0], Expressed):
            self.add_expression(name, ByExpression(*holds[0]))
            return
        names = [joint for hold in holds if isinstance(hold, Related | Follows) for joint, _, _ in hold.terms]
        if names:
            joints = [self.model.joints[each] for each in names]
            atom = self.loop_atom(*(body for joint in joints for body in (joint.parent, joint.child)))
            self.tables.atoms[atom].before |= {self.loops[each] for each in names if each in self.loops}
        else:
            atom = self.loop_atom(*(body for body, _ in element.ends()))
        if any(isinstance(hold, OnCurve) for hold in holds):
            s = self.tables.add_coordinate(f"{name}.s", "", atom)
            self.curves[name] = s
            self.add_sequence(self.frames[WORLD], [(s, elementary(slide("s", Z)))], atom)
        ends = ties.element_ends(element, self.frames)
        self.add_rows(name, ties.rows(self.tables, name, holds, ends, self.coordinate), atom)

    def add_expression(self, name: str, element: ByExpression) -> None:
        """Add the constraint of an expression."""
        joints = [self.model.joints[each] for each in element.joints]
        bodies = [body for joint in joints for body in (joint.parent, joint.child)]
        atom = self.loop_atom(WORLD, *bodies, *(body for body, _ in element.places))
        self.tables.atoms[atom].before |= {self.loops[each] for each in element.joints if each in self.loops}
        row = ties.expressed(self.tables, name, element, self.frames, self.coordinate)
        self.add_rows(name, [row], atom)

    def add_rows(self, name: str, rows: Any, atom: int) -> None:
        """Add rows to an atom."""
        for row in rows:
            if row.entries:
                self.tables.add_row(row, atom)
            else:
                self.check_still(name, row)
                self.tables.rows.append(row)

    def check_still(self, name: str, row: Row) -> None:
        """Refuse a constraint between parts that do not move against each other if it does not hold."""
        group, parts = "joints" if name in self.model.joints else "constraints", "parts that are welded together"
        if row.function >= 0:
            raise ModelError(
                f"{group}.{name}: expected bodies that move against each other as a function of time says, found {parts}; "
                "remove it, or give one of them a joint"
            )
        if row.touch is not None or row.expression is not None:
            expected = "bodies that move against each other"
            raise ModelError(f"{group}.{name}: {wrong(expected, parts, 'remove it, or give one of them a joint')}")
        gap = self.gap(row)
        if abs(gap) > CONSTRAINT_TOLERANCE:
            left, unit = (
                (abs(gap), "m") if row.kind != layout.ACROSS else (_turned(gap + row.offset, row.offset), "deg")
            )
            remedy = "correct lengths, places, axes and orientations, or remove it"
            raise ModelError(
                f"{group}.{name}: expected a constraint that holds between {parts}, found {left:.3g} {unit} left of {row.name}; "
                f"{rounded_numbers(self.model, self.plan, name, left, unit) or remedy}"
            )

    def gap(self, row: Row) -> float:
        """How far a constraint between points or directions of one link is from being satisfied."""
        if row.kind == layout.ACROSS:
            return dot(row.u, row.w) - row.offset
        gap = row.points[1] - row.points[0]
        return (norm(gap) if row.kind == layout.DISTANCE else dot(row.u, gap)) - row.offset

    def coordinate(self, joint: str, short: str) -> int:
        """The index of a joint's coordinate, or of a curve's parameter."""
        if joint not in self.model.joints:
            return self.curves[joint]
        return self.coordinates[joint] + self.model.joints[joint].coordinate_names.index(short)

    # ------------------------------------------------------------------------------------------ atoms

    def loop_atom(self, *bodies: str) -> int:
        """An atom for what ties these bodies, eliminated after all bodies between them."""
        atom = self.tables.add_atom()
        self.tables.atoms[atom].is_loop = True
        paths = [self.body_path(body) for body in bodies]
        common = set.intersection(*map(set, paths))
        between = {body for path in paths for body in path} - common
        self.base_of_loop[atom] = next(body for body in paths[0] if body in common)
        self.tables.atoms[atom].before |= {a for a in map(self.atom_of_body.get, between) if a is not None}
        return atom

    def body_path(self, body: str) -> list[str]:
        """A body and those between it and the world."""
        path = [body]
        while path[-1] in self.branch_to:
            path.append(self.branch_to[path[-1]].inner)
        return path

    def atoms(self, is_dense: bool) -> tuple[list[Atom], list[tuple[int, int]]]:
        """The atoms of elimination, and the pairs of them that share second derivatives or curvature."""
        tables = self.tables
        n, k = len(tables.names), len(tables.rows)
        is_open = k == 0 or (not self.plan.chords and not self.model.constraints)  # a free joint closes no loop
        if is_open and (is_dense or n <= (DENSE if k else MIXED_DENSE - 1)):
            return [dense(n, k)], []
        merged, light = nx.utils.UnionFind(range(len(tables.atoms))), self.light_bodies()
        loose = light - crosses(self.model, self.plan, self.properties, light)
        for loop, body in self.base_of_loop.items():
            if body in loose and (base := self.atom_of_body[body]) is not None:
                tables.atoms[loop].before.add(base)
        in_loops = {i for atom in tables.atoms for i in atom.before}
        weightless = {i for body in loose if (i := self.atom_of_body[body]) in in_loops}
        for pair in self.merges(is_dense, weightless, light):
            merged.union(*pair)
        number: dict[int, int] = {}
        of = [number.setdefault(merged[i], len(number)) for i in range(len(tables.atoms))]
        atoms = [Atom() for _ in number]
        for i, atom in enumerate(tables.atoms):
            atoms[of[i]].coordinates += atom.coordinates
            atoms[of[i]].rows += atom.rows
            atoms[of[i]].before |= {of[j] for j in atom.before} - {of[i]}
            atoms[of[i]].is_loop |= atom.is_loop
        for first, last in self.hung_atoms(weightless):
            atoms[of[last]].before |= {of[first]} - {of[last]}
        coupled = {(of[a], of[b]) for a, b in self.coupled_atoms() if of[a] != of[b]}
        if is_dense:  # a force of all coordinates
            coupled |= set(clique(i for i, atom in enumerate(atoms) if atom.coordinates))
        return atoms, sorted(coupled)

    def merges(self, is_dense: bool, weightless: set[int], light: set[str]) -> Iterator[tuple[int, int]]:
        """Atoms that go with another: serial joints with what they hang on, and light bodies with what is tied to them.

        If dense, all that close no loop go together. Weightless ones, of light bodies in loops, go with these, whose constraints
        alone may say how they move.
        """
        atoms = self.tables.atoms
        for loop, atom in enumerate(atoms):
            yield from ((own, loop) for own in atom.before & weightless)
        if is_dense:
            together = [i for i, atom in enumerate(atoms) if not atom.is_loop and i not in weightless]
            yield from ((i, together[0]) for i in together[1:])
            return
        below: dict[str, list[str]] = {}
        for branch in self.plan.branches:
            below.setdefault(branch.inner, []).append(branch.outer)
        for branch in self.plan.branches:
            own, inner = self.atom_of_body[branch.outer], self.atom_of_body[branch.inner]
            if own is None or inner is None or own == inner or weightless & {own, inner}:
                continue
            is_serial = branch.outer not in self.roots and len(below[branch.inner]) == 1
            is_carried = branch.inner in light and not self.roots.keys().isdisjoint(branch[1:3])
            if is_serial or is_carried:
                yield own, inner

    def light_bodies(self) -> set[str]:
        """Massless bodies, and those in loops or with bodies tied to them, that their joint moves without inertia in some way."""
        in_loops = {i for atom in self.tables.atoms for i in atom.before}
        others = {b.inner for b in self.plan.branches if not self.roots.keys().isdisjoint(b[1:3])}
        others.update(self.base_of_loop.values())
        bodies = {body for body, i in self.atom_of_body.items() if i in in_loops or body in others} - self.points
        massless = {body for body in self.roots if not self.properties[body].mass}
        return massless | weightless_bodies(self.model, self.plan, self.properties, bodies)

    def hung_atoms(self, weightless: set[int]) -> Iterator[tuple[int, int]]:
        """Pairs of atoms: that of what hangs on a body without inertia, and may give it some, and that of the body."""
        if not weightless:
            return
        above: dict[int | None, set[int]] = {}
        for body, own in self.atom_of_body.items():
            above[own] = weightless.intersection(map(self.atom_of_body.get, self.body_path(body)))
        for i, atom in enumerate(self.tables.atoms):
            for own in (i, *atom.before):
                yield from ((i, last) for last in above.get(own, set()) - atom.before)

    def coupled_atoms(self) -> Iterator[tuple[int, int]]:
        """Pairs of atoms whose coordinates share second derivatives."""
        tables, done = self.tables, set()
        for link in range(len(tables.links)):
            above = [tables.atom_of_link[each] for each in tables.path(link)]
            if (key := tuple(dict.fromkeys(above))) not in done:
                done.add(key)
                yield from ((key[0], other) for other in key[1:])
        for a, b in [*(row[1:3] for row in tables.body_forces), *tables.bushings]:
            yield from clique(tables.atom_of_link[link] for end in (a, b) for link in tables.path(end))
        for tendon in tables.tendons:
            yield from clique(tables.atom_of_link[entry.link] for entry in tendon.entries)

    # ----------------------------------------------------------------------------------------- forces

    def is_conservative(self) -> bool:
        """Whether all forces derive from a potential, and no constraint depends on time."""
        is_driven = any(row.function >= 0 and row.argument < 0 for row in self.tables.rows)
        return not is_driven and all(each.derives_from_potential for each in self.model.forces.values())

    def add_force(self, name: str, force: Any) -> None:
        """Add one force of the model."""
        match force:
            case Bushing():
                self.add_bushing(force, *(self.frames[body] for body, _ in force.ends()))
            case BallSpring():
                joint = self.model.joints[force.joint]
                self.add_bushing(force.bushing(joint), self.frames[joint.parent], self.frames[joint.child])
            case OnJoint():
                self.add_joint_force(name, force)
            case OnTendon():
                self.add_tendon(name, force)
            case FrameActuator():
                self.add_frame_actuator(force, self.frames[force.body])
            case Between():
                self.add_force_between(name, force)
            case Force() | Torque():
                self.add_body_force(force, self.frames[force.body])
            case _:
                raise ModelError(f"forces.{name}: {wrong('what is known to follow from it', repr(force))}")

    def add_bushing(self, force: Bushing, a: BodyFrame, b: BodyFrame) -> None:
        """Add a bushing between two bodies."""
        axes = rotation_matrix(force.orientation)
        carried = rotation_matrix(force.rest_orientation).T @ axes
        points = a.point(force.point_a), b.point(force.point_b)
        along = force.stiffness, force.damping, force.turning_stiffness, force.turning_damping
        numbers = (*points, (a.rotation @ axes).ravel(), (b.rotation @ carried).ravel(), *along)
        self.tables.bushings.append([a.link, b.link])
        self.tables.bushing_data.append(np.concatenate([np.array(each, dtype=float) for each in numbers]))

    def add_force_between(self, name: str, force: Any) -> None:
        """Add a force between two points."""
        law, (a, b) = law_of(name, force), [(self.frames[body], point) for body, point in force.ends()]
        kind, function = self.kind_and_function(name, law, BETWEEN)
        self.tables.body_forces.append([kind, a[0].link, b[0].link, function, 0, 0])
        points = [frame.point(point) for frame, point in (a, b)]
        self.tables.body_force_data.append([*points[0], *points[1], law.constant, law.rest, *np.eye(3).ravel()])

    def kind_and_function(self, name: str, law: Law, kinds: Mapping[str, int]) -> tuple[int, int]:
        """The kind of a force, and the index of its function, 0 if it has none."""
        expected = f"a law of the kind {' or '.join(kinds)}"
        if law.kind not in kinds:
            raise ModelError(f"forces.{name}: {wrong(expected, law.kind)}")
        return kinds[law.kind], 0 if law.function is None else self.tables.add_function(law.function)

    def add_body_force(self, force: Any, frame: BodyFrame) -> None:
        """Add a force or torque on a body."""
        if frame.link < 0:
            return  # welded to the world, which does not move
        is_force = isinstance(force, Force)
        kind = {
            (True, "world"): layout.FORCE_WORLD,
            (True, "body"): layout.FORCE_BODY,
            (False, "world"): layout.TORQUE_WORLD,
            (False, "body"): layout.TORQUE_BODY,
        }[is_force, force.frame]
        functions = [self.tables.add_function(component) for component in force.vector]
        point = frame.point(force.point) if is_force else np.zeros(3)
        self.tables.body_forces.append([kind, -1, frame.link, *functions])
        self.tables.body_force_data.append([0.0, 0.0, 0.0, *point, 0.0, 0.0, *frame.rotation.ravel()])

    def add_joint_force(self, name: str, force: Any) -> None:
        """Add a force on a joint's coordinate."""
        self.add_law(name, law_of(name, force), self.coordinate(force.joint, str(force.coordinate)))

    def add_law(self, name: str, law: Law, coordinate: int) -> None:
        """Add the law of a force on a coordinate, or along a tendon (-1)."""
        if law.kind == "actuator":
            self.add_actuator(law, coordinate)
            return
        kind, function = self.kind_and_function(name, law, ON_COORDINATE)
        self.tables.joint_forces.append([kind, coordinate, function, 0])
        self.tables.joint_force_data.append([law.constant, law.rest, *np.zeros(4)])

    def add_tendon(self, name: str, force: OnTendon) -> None:
        """Add a force along a tendon."""
        length = length_of(force, self.model)
        self.tables.tendons.append(ties.tendon(self.tables, length, self.frames, self.coordinate))
        self.add_law(name, law_of(name, force), -1)

    def add_frame_actuator(self, force: FrameActuator, frame: BodyFrame) -> None:
        """Add an actuator of a frame."""
        self.tables.frame_actuators.append([frame.link, len(self.tables.joint_forces)])
        axes = frame.rotation @ rotation_matrix(force.orientation)
        wrench = (dot(axes, array(each)) for each in (force.force, force.torque))
        self.tables.frame_actuator_data.append(np.concatenate([frame.point(force.point), *wrench]))
        self.add_actuator(force.law(), -1)

    def add_actuator(self, law: Law, coordinate: int) -> None:
        """Add an actuator, on a coordinate or elsewhere (-1), whose input is a number or a function of time."""
        is_constant = isinstance(law.function, float)
        function = -1 if is_constant else self.tables.add_function(law.function)
        self.tables.joint_forces.append([layout.ACTUATOR, coordinate, function, len(self.tables.inputs)])
        self.tables.joint_force_data.append(list(law.factors))
        self.tables.inputs.append(law.function if is_constant else 0.0)


def _turned(cosine: float, expected: float) -> float:
    """The difference between the angle of two directions and that expected [deg]."""
    one, other = np.arccos(np.clip([cosine, expected], -1.0, 1.0))
    return float(np.rad2deg(abs(one - other)))


def law_of(name: str, force: Any) -> Law:
    """The law of a force, whose problems name it."""
    try:
        law: Law = force.law()
    except ModelError as error:
        raise ModelError(f"forces.{name}: {error}") from None
    return law


def _used_joints(model: Model) -> Iterator[str]:
    """Joints whose coordinates something acts on or that have inertia, or that are held at the start though they close a loop."""
    for element in (*model.forces.values(), *model.constraints.values()):
        if not isinstance(element, BallSpring):  # which acts on the bodies
            yield from (getattr(element, key) for key in JOINTS if hasattr(element, key))
            yield from getattr(element, "joints", ())
    yield from (joint for _, tendon in tendons_of(model) for joint in length_of(tendon, model).joints)
    yield from (name for name, joint in model.joints.items() if joint.armatures)
    yield from (name for name, initial in model.initial.items() if initial.hold)
