"""The momenta that `find_invariants` finds: all of them, no others, and conserved by the schemes."""

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.model.forces import Between
from mbvi.system.poses import all_poses, all_velocities
from tests.system import mechanisms

X, Y, T = sympy.symbols("x y t")
BODY = mbvi.Body(mass=2, inertia=(1, 2, 2.5))
START = {"position": (0.1, 0.2, 0.3, 1, 0, 0, 0), "velocity": (1, -2, 3, 0.4, 0.5, -0.6)}

TOTALS = [f"{kind} momentum ({axis})" for kind in ("linear", "angular") for axis in "xyz"]


def free_body(**changes):
    joint = mbvi.Free(parent="world", child="body")
    fields = {"name": "body", "bodies": {"body": BODY}, "joints": {"j": joint}, "initial": {"j": START}}
    return mbvi.Model(**(fields | changes))


def names(model):
    return {invariant.name for invariant in mbvi.analysis.find_invariants(mbvi.assemble(model))}


def test_free_body_in_gravity_has_four_momenta_and_a_spin():
    # The weight acts at the joint's own place, so that all three spins are kept too.
    spins = {f"angular momentum (j, fixed {axis})" for axis in "xyz"}
    assert names(free_body()) == {"linear momentum (x)", "linear momentum (y)", "angular momentum (z)"} | spins


def test_spins_are_named_by_the_axes_of_the_body_and_not_by_those_of_its_turned_joint():
    """Of a symmetric top that is turned by a quarter about y: its own axis is still z, and L_z = I₃ ω_z."""
    top = mbvi.Body(mass=1, inertia=(1, 1, 0.3), center_of_mass=(0, 0, 0.4))
    ball = mbvi.Ball(parent="world", child="body", orientation=(0, np.pi / 2, 0))
    model = mbvi.Model(
        name="top", bodies={"body": top}, joints={"j": ball}, initial={"j": mbvi.Initial(velocity=(3, 0.5, 1))}
    )
    assert names(model) == {"angular momentum (z)", "angular momentum (j, body z)"}
    run = mbvi.simulate(model, "gauss4", step=0.05, duration=1)
    spin = run.momenta()["angular momentum (j, body z)"]
    assert np.allclose(spin, 0.3 * 1, rtol=1e-12, atol=0)


def test_off_centre_body_in_gravity_keeps_only_the_whole_vertical_momentum():
    body = BODY.model_copy(update={"center_of_mass": (0.3, 0.1, 0.2)})
    assert names(free_body(bodies={"body": body})) == {
        "linear momentum (x)",
        "linear momentum (y)",
        "angular momentum (z)",
    }


def test_bodies_tied_by_a_spring_share_their_momenta():
    model = mbvi.Model(
        name="pair",
        gravity=(0, 0, 0),
        bodies={"a": BODY, "b": BODY},
        joints={key: mbvi.Free(parent="world", child=key) for key in "ab"},
        forces={
            "spring": mbvi.Spring(
                body_a="a", point_a=(0, 0.1, 0), body_b="b", point_b=(0.1, 0, 0), stiffness=3, rest_length=0.5
            )
        },
        initial={"a": START, "b": {"position": (1, 1, 0, 1, 0, 0, 0), "velocity": (0, 0, 0, 0, 0, 2)}},
    )
    system = mbvi.assemble(model)
    assert [each.name for each in mbvi.analysis.find_invariants(system)] == TOTALS
    run = mbvi.simulate(system, "gauss2", step=0.02, duration=10)
    for values in run.momenta().values():
        assert np.ptp(values) < 1e-12


TOWARDS_A_POINT = [
    kind
    for kind, (force, _) in mechanisms.FORCES.items()
    if issubclass(force, Between) and force is not mbvi.Bushing  # which has directions of its own
]


@pytest.mark.parametrize("kind", TOWARDS_A_POINT)
def test_a_force_towards_a_fixed_point_leaves_the_angular_momentum_about_it(kind):
    force, _ = mechanisms.FORCES[kind]
    ends = {"body_a": "world", "point_a": (0, 0, 0), "body_b": "body", "point_b": (0, 0, 0)}
    pull = force(**mechanisms.random_values(np.random.default_rng(1), force, ends))
    point = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=1, position=(0, 0, 0))})
    system = mbvi.assemble(free_body(bodies={"body": point}, forces={"pull": pull}, gravity=(0, 0, 0)), "embedding")
    assert [each.name for each in mbvi.analysis.find_invariants(system)] == TOTALS[3:]


def test_damping_leaves_what_it_does_not_touch():
    damper = mbvi.Damper(body_a="world", point_a=(5, 0, 0), body_b="body", damping=1)
    assert names(free_body(forces={"damper": damper}, gravity=(0, 0, 0))).isdisjoint(TOTALS[:3])


def test_planar_joint():
    joint = mbvi.Planar(parent="world", child="body", normal=(0, 0, 1))
    body = mbvi.Body(mass=1, center_of_mass=(0.3, 0, 0), inertia=(1, 1, 1))
    model = mbvi.Model(name="puck", bodies={"body": body}, joints={"j": joint})
    assert names(model) == {"linear momentum (x)", "linear momentum (y)", "angular momentum (z)"}


def test_invariants_are_conserved_by_the_equations_of_motion():
    system = mbvi.assemble(free_body())
    random = np.random.default_rng(5)
    q, v = random.standard_normal(7), random.standard_normal(7)
    q[3:] /= np.linalg.norm(q[3:])
    v[3:] -= (q[3:] @ v[3:]) * q[3:]
    p, f = system.gradient(q, v)
    invariants = mbvi.analysis.find_invariants(system)
    assert invariants
    for invariant in invariants:
        assert invariant.rate(q, v, p, f) == pytest.approx(0.0, abs=1e-12)


def slider(**changes):
    body = mbvi.Body(mass=1)
    fields = {
        "name": "sliders",
        "gravity": (0, 0, 0),
        "bodies": {"a": body, "b": body},
        "joints": {key: mbvi.Prismatic(parent="world", child=key, axis=(1, 0, 0)) for key in "ab"},
    }
    return mbvi.Model(**(fields | changes))


def test_force_that_acts_late_changes_a_momentum():
    late = mbvi.JointForce(joint="a", value="max(0, t - 1000)")
    assert names(slider(forces={"late": late})) == {"p(b.displacement)"}


def test_weak_damping_beside_a_stiff_spring_is_seen():
    forces = {
        "stiff": mbvi.JointSpring(joint="a", stiffness=1e7),
        "weak": mbvi.JointDamper(joint="b", damping=1e-3),
    }
    assert names(slider(forces=forces)) == set()


def test_constraint_that_moves():
    """A rod through the origin that turns: what it keeps at one time it does not keep at others."""
    start = {"initial_q": [1, 0], "initial_v": [1, 1]}

    def found(constraint):
        system = mbvi.from_sympy([X, Y], sympy.eye(2), 0, time=T, constraints=[constraint], **start)
        return [each.name for each in mbvi.analysis.find_invariants(system)]

    assert found(Y - X * T) == []
    assert found(Y - T) == ["p(x)"]


@pytest.mark.parametrize("constraint", [Y - sympy.log(1 - 9 * T), Y - sympy.sqrt(1 - T) * X])
def test_constraints_that_are_defined_for_a_while(constraint):
    system = mbvi.from_sympy([X, Y], sympy.eye(2), 0, time=T, constraints=[constraint], initial_q=[1, 1])
    assert [each.name for each in mbvi.analysis.find_invariants(system)] == (
        ["p(x)"] if constraint.has(sympy.log) else []
    )


def test_a_place_that_hardly_leaves_a_line():
    """The middle of Watt's linkage, near whose middle position the body hung there seems to keep a momentum about the line."""
    rod = mbvi.Body(mass=1, center_of_mass=(0.25, 0, 0), inertia=(0.01, 0.03, 0.02))
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.3), inertia=(0.001, 0.001, 0.001))

    def hinge(parent, child, **places):
        return mbvi.Revolute(parent=parent, child=child, axis=(0, 1, 0), **places)

    model = mbvi.Model(
        name="Watt",
        bodies={"left": rod, "coupler": bob, "right": rod, "bob": bob},
        joints={
            "a": hinge("world", "left"),
            "b": hinge("left", "coupler", position=(0.5, 0, 0)),
            "c": hinge("coupler", "right", position=(0, 0, -0.4), offset=(-0.5, 0, 0)),
            "d": hinge("world", "right", position=(1, 0, -0.4)),
            "hook": mbvi.Ball(parent="coupler", child="bob", position=(0, 0, -0.2)),
        },
    )
    assert [each.name for each in mbvi.analysis.find_invariants(mbvi.assemble(model, "embedding"))] == [
        "angular momentum (bob, body z)"
    ]


def sums_over_bodies(run):
    """Σ m u and Σ (m x × u + I ω) of all bodies, by name, from poses and differences of poses, to about 1e-7."""
    q, v, model = run.q, run.v, run.system.model.resolved()
    poses, velocities = all_poses(run.system, q), all_velocities(run.system, q, v)
    linear, angular = np.zeros((len(q), 3)), np.zeros((len(q), 3))
    for name, body in model.bodies.items():
        mass, center, inertia = mbvi.mass_properties(body, model.files)
        R, omega = poses[name].rotations, velocities[name].angular
        u = velocities[name].linear + np.cross(omega, R @ center)
        linear += mass * u
        angular += mass * np.cross(poses[name].point(center), u)
        angular += np.einsum("fij,jk,flk,fl->fi", R, inertia, R, omega)
    return dict(zip(TOTALS, np.hstack([linear, angular]).T, strict=True))


def held_pair(**changes):
    """Two bodies that a spring ties, on turned joints away from the origin: with a quaternion, and with Euler angles."""
    bodies = {"a": BODY.model_copy(update={"center_of_mass": (0.1, 0, 0.2)}), "b": BODY}
    joints = {
        "fa": mbvi.Free(parent="world", child="a", position=(1, 2, 3), orientation=(0.3, 0.2, 0.1), offset=(0.1, 0, 0)),
        "fb": mbvi.Free(parent="world", child="b", position=(0.5, 0.1, 0), coordinates="zyx"),
    }
    tie = mbvi.Spring(body_a="a", body_b="b", point_b=(0.2, 0, 0), stiffness=3, rest_length=0.5)
    start = {"fa": START, "fb": mbvi.Initial(position=(2, 1, 0, 0.6, 0, 0.8), velocity=(0.5, 0, 1, 0.3, 2, 1))}
    fields = {"bodies": bodies, "joints": joints, "forces": {"tie": tie}, "initial": start, "gravity": (0, 0, 0)}
    return mbvi.Model(**({"name": "pair"} | fields | changes))


def hung(joint, **start):
    """A symmetric top."""
    top = mbvi.Body(mass=1, inertia=(1, 1, 0.3), center_of_mass=(0, 0, 0.4))
    return mbvi.Model(name="hung", bodies={"top": top}, joints={"j": joint}, initial={"j": mbvi.Initial(**start)})


def ball(*position, coordinates="quaternion"):
    velocity = (0.3, 0.5, 4)
    start = (
        {"velocity": velocity} if coordinates == "quaternion" else {"position": (0.1, 0.7, 0.2), "velocity": velocity}
    )
    return hung(mbvi.Ball(parent="world", child="top", position=position, coordinates=coordinates), **start)


ASIDE = "angular momentum (z) + 0.5 linear momentum (x) - 3 linear momentum (y)"  # about the vertical through (3, 0.5)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize(
    ("model", "totals", "others"),
    [
        (held_pair(gravity=(0, 0, -9.81)), ["linear momentum (x)", "linear momentum (y)", "angular momentum (z)"], 0),
        (ball(0, 0, 2), ["angular momentum (z)"], 1),
        (ball(0, 0, 2, coordinates="zxz"), ["angular momentum (z)"], 1),
        (ball(3, 0.5, 0), [ASIDE], 1),
        (ball(3, 0.5, 0, coordinates="zxz"), [ASIDE], 1),
        (hung(mbvi.Prismatic(parent="top", child="world", axis=(0, 1, 0)), velocity=2), ["linear momentum (y)"], 0),
        (hung(mbvi.Revolute(parent="world", child="top", axis=(0, 0, -2)), velocity=2), ["angular momentum (z)"], 0),
        (
            hung(mbvi.Cylindrical(parent="world", child="top", axis=(0, 1, 0)), velocity=(2, 3)),
            ["linear momentum (y)"],
            0,
        ),
    ],
)
def test_totals_come_first_and_are_sums_over_bodies(model, totals, others, formulation):
    """By the same names in both formulations; what is left has others."""
    run = mbvi.simulate(mbvi.assemble(model, formulation), "gauss2", step=0.01, duration=0.2)
    momenta, sums = run.momenta(), sums_over_bodies(run)
    assert list(momenta)[: len(totals)] == totals and len(momenta) == len(totals) + others
    sums[ASIDE] = sums[TOTALS[5]] + 0.5 * sums[TOTALS[0]] - 3 * sums[TOTALS[1]]
    units = {each.name: each.unit(run.system.coordinate_units) for each in run.invariants}
    for name in totals:
        largest = np.abs(momenta[name]).max()
        assert largest > 0.01 and np.ptp(momenta[name]) < 1e-12 * (1 + largest)
        np.testing.assert_allclose(momenta[name], sums[name], rtol=0, atol=1e-6 * np.abs(list(sums.values())).max())
        assert units[name] == ("kg m/s" if name.startswith("linear") else "kg m²/s")


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_two_welded_bodies_conserve_the_totals_and_nothing_else(formulation):
    """Of two free joints at different places no combination of single momenta is listed."""
    frame = {"point_a": (0.3, 0, 0), "point_b": (-0.2, 0, 0)}
    model = mbvi.Model(
        name="two parts glued",
        gravity=(0, 0, 0),
        bodies={"a": BODY, "b": BODY},
        joints={
            "fa": mbvi.Free(parent="world", child="a"),
            "fb": mbvi.Free(parent="world", child="b", position=(0.5, 0, 0)),
        },
        constraints={"glue": mbvi.CoincidentFrames(body_a="a", body_b="b", **frame)},
    )
    assert [each.name for each in mbvi.analysis.find_invariants(mbvi.assemble(model, formulation))] == TOTALS


@pytest.mark.parametrize("ratio", [1e3, 1e10])
def test_a_light_body_that_falls_beside_a_heavy_one_keeps_no_momentum_of_its_own(ratio):
    """Its fall alone changes p_a, however small that is beside the fall of the other; p_a/m_a − p_b/m_b stays."""
    bodies = {name: mbvi.Body(mass=m, inertia=(m, 2 * m, 2.5 * m)) for name, m in (("a", 1.0), ("b", ratio))}
    joints = {f"f{name}": mbvi.Free(parent="world", child=name, position=(i, 0, 0)) for i, name in enumerate("ab")}
    start = {"fa": mbvi.Initial(velocity=(0, 0, 1, 0, 0, 0))}
    momenta = mbvi.simulate(
        mbvi.Model(name="fall", bodies=bodies, joints=joints, initial=start), step=0.01, duration=0.5
    ).momenta()
    assert "p(fa.z)" not in momenta
    assert np.ptp(momenta[f"p(fa.z) - {1 / ratio:g} p(fb.z)"]) < 1e-6  # of a p_a that changes by 4.9


def test_a_wall_between_them_leaves_each_body_its_own():
    """Bodies that do not know of each other: the totals, and what one of them conserves besides."""
    names_of_all = [each.name for each in mbvi.analysis.find_invariants(mbvi.assemble(slider()))]
    assert names_of_all == ["linear momentum (x)", "p(a.displacement)"]
