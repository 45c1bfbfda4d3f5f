"""Wrong arguments, one after the other, of all that is public: each is taken, or refused in one line.

What is public is found by introspection: a function that is added is called here, or the test says that it needs arguments that
work in `WORKING`.
"""

import functools
import inspect
import itertools
import math
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.catalog import FAMILIES
from mbvi.ensembles import sampling
from mbvi.exact import DampedOscillator
from mbvi.model.base import Element
from mbvi.model.fields import Kind, Triple, kinds
from tests.folders import MODELS
from tests.marks import campaign

X, V, T = sympy.symbols("x v t")
ANALYSES = "control_points convergence interaction linearization noether small_step symmetry symplecticity".split()
NAMED = {  # the names that the reference shows
    "mbvi.ensembles.sampling": "SamplingPlan load_plan Uniform Normal LogNormal Triangular".split(),
    "mbvi.ensembles.sensitivity": ["sobol_indices"],
    "mbvi.ensembles.export": ["to_parquet"],
    "mbvi.pictures.bundles": ["plot_bundle"],
    "mbvi.between": ["states_at"],
    "mbvi.live": ["follow"],
    "mbvi.symbolic": ["equations"],
    "mbvi.analysis.equilibrium": ["buckling_factors"],
    "mbvi.analysis.steady": ["linearize_motion"],
}
MODULES = [  # those that the reference shows
    *("mbvi", "mbvi.analysis", "mbvi.pictures"),
    *(f"mbvi.analysis.{name}" for name in ANALYSES),
    "mbvi.exact",
    "mbvi.catalog",
    "mbvi.schemes.galerkin",
    "mbvi.schemes.tableau",
    "mbvi.schemes.method",
    "mbvi.system.chart",
    *NAMED,
]
MADE = {  # by functions, and never by calling the class
    *(
        "Bench",
        "Comparison",
        "ControlPoints",
        "Invariant",
        "Linearization",
        "OscillationErrors",
        "System",
        "Trajectory",
    ),
    *("ModelError", "StepError", "MassProperties", "AffineField"),
}


def wrong_values():
    """Values that hardly any argument takes, by what they are; made anew, since an iterator is used up."""
    return {
        "None": None,
        "truth": True,
        "zero": 0,
        "minus one": -1,
        "a huge integer": 10**30,
        "a longer one": 10**400,
        "nan": math.nan,
        "inf": math.inf,
        "a huge number": 1e300,
        "a tiny number": 1e-300,
        "complex": 1 + 2j,
        "text": "nonsense",
        "no text": "",
        "a long text": "a" * 5000,
        "control characters": "a\0\n",
        "bytes": b"nonsense",
        "an object": object(),
        "a class": int,
        "a function": lambda *_: None,
        "an empty list": [],
        "a list": [1, "a", None],
        "numbers": [1.0, 2.0, 3.0, 4.0, 5.0],
        "lists of unequal lengths": [[1.0], [1.0, 2.0]],
        "a set": {1, 2},
        "a mapping": {"a": 1},
        "an array of no dimension": np.array(1.0),
        "a matrix": np.ones((2, 3)),
        "an empty array": np.zeros((0, 0)),
        "an array of objects": np.array([None, "a"], dtype=object),
        "complex numbers": np.array([1j]),
        "nan in an array": np.array([[math.nan]]),
        "a path": Path("nonsense"),
        "a date": np.datetime64("2020-01-01"),
        "an iterator": iter([1.0]),
        "a symbol": X,
    }


def unit_mass(q, M):
    M[0, 0] = 1.0


def parabola(q):
    return 0.5 * q[0] ** 2


def drag(t, q, v, F):
    F[0] -= v[0]


def holding(t, q, v):
    return -q[0]


@functools.cache
def torques():
    """A file of inputs."""
    path = new_path(".csv")
    Path(path).write_text("t,motor\n0,1\n1,2\n", encoding="utf-8")
    return path


@functools.cache
def things():
    """What the functions take, small and quick."""
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    joint = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    initial = {"pivot": {"position": 0.5}}
    quick = {"step": 0.05, "duration": 0.2}
    model = mbvi.Model(
        name="pendulum",
        parameters={"length": 1.0},
        bodies={"bob": bob},
        joints={"pivot": joint},
        sensors={"angle": mbvi.Encoder(joint="pivot")},
        initial=initial,
        simulation=quick,
    )
    system = mbvi.assemble(model)
    run = mbvi.simulate(system)
    return {
        "model": model,
        "system": system,
        "run": run,
        "invariant": mbvi.analysis.find_invariants(falling())[0],
    }


@functools.cache
def falling():
    body, free = mbvi.Body(mass=1, inertia=(1, 2, 2.5)), mbvi.Free(parent="world", child="a")
    return mbvi.assemble(mbvi.Model(name="falling", bodies={"a": body}, joints={"free": free}))


NEW = itertools.count()


def new_path(ending):
    return f"{next(NEW)}{ending}"


def stored():
    path = new_path(".h5")
    things()["run"].save(path)
    return path


def plan_file():
    path = new_path(".yaml")
    Path(path).write_text("over: {mass: {type: normal, mean: 1, deviation: 0.1}}")
    return path


@functools.cache
def saltelli():
    """An ensemble for Sobol indices."""
    plan = sampling.SamplingPlan(over={"q.pivot.angle": sampling.Uniform(low=0, high=1)}, members=4, method="saltelli")
    return mbvi.ensemble(things()["model"], plan, store=["q"], measure={"end": lambda run: run.q[-1, 0]})


def half_done():
    path = new_path(".h5")
    mbvi.simulate(things()["model"], path=path)
    return path


ONE, ONES = [0.5], [[0.5], [0.5]]
FRAME = {"frame": "bob", "q": ONE, "reference": "body"}
STATE = {"q": ONE, "v": ONE, "t": 0.0}
SERIES = {"t": [0.0, 1.0], "q": ONES, "v": ONES}
OWN = {"mass_matrix": unit_mass, "potential": parabola}
SCHEME = {"control_points": (0.0, 1.0), "nodes": (0.5,), "weights": (1.0,), "order": 2, "source": ""}
SEVEN = [0.0] * 7
ANY_PLACE = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
TOP = {"inertia": 1.0, "axial_inertia": 0.5, "weight_moment": 1.0}


# Arguments that work, of all that is public and takes any; quick ones.
def passing(t, q, v):
    """The function of an event."""
    return q[0]


WORKING = {
    "load": lambda: {
        "path": MODELS / "robot_arm" / "arm.urdf",
        "search": (),
        "floating": False,
        "geometry": "visual",
        "mend": True,
        "start": None,
        "locked": (),
        "stops": False,
    },
    "save": lambda: {"model": things()["model"], "path": new_path(".yaml"), "force": False},
    "assemble": lambda: {"model": things()["model"], "formulation": None, "force": None},
    "from_sympy": lambda: (
        {"coordinates": [X], "mass_matrix": [[1]], "potential": X**2, "velocities": [V], "time": T}
        | {"constraints": [], "forces": [-V], "dissipation": V**2, "parameters": {}, "initial_q": [1.0]}
        | {"initial_v": [0.0], "name": "a", "velocity_constraints": []}
    ),
    "from_functions": lambda: (
        OWN
        | {"coordinate_names": ["x"], "constraints": None, "constraint_count": 0, "force": None, "parameters": {}}
        | {"initial_q": ONE, "initial_v": ONE, "name": "a"}
        | {"velocity_constraints": None, "velocity_constraint_count": 0}
    ),
    "simulate": lambda: (
        {"model": things()["model"], "scheme": "midpoint", "step": 0.05, "duration": 0.2, "formulation": None}
        | {"initial_q": ONE, "initial_v": ONE, "previous_q": None, "chart": None, "start_time": 0.0, "project": None}
        | {"every": 1, "progress": None, "path": new_path(".h5"), "force": False, "store": ["poses"]}
        | {"events": None, "until": None, "inputs": None, "controllers": None}
    ),
    "resume": lambda: (
        {"path": half_done(), "duration": 0.3, "system": None, "chart": None, "progress": None}
        | {"events": None, "until": None, "controllers": None, "inputs": None}
    ),
    "read_inputs": lambda: ({"source": torques(), "interpolation": "smooth", "names": ["motor"], "longest_gap": None}),
    "Controller": lambda: (
        {"law": holding, "period": 0.1, "inputs": ["motor"], "delay": 0.0} | {"limits": 1.0, "sensors": ()}
    ),
    "follow": lambda: {"run": owner("Simulator"), "speed": 1.0, "trails": ["bob"]},
    "Event": lambda: {"function": passing, "direction": 0, "terminal": False},
    "Simulator": lambda: (
        {"model": things()["model"], "scheme": "midpoint", "step": 0.05, "formulation": None, "initial_q": ONE}
        | {"initial_v": ONE, "start_time": 0.0, "project": None, "every": 1, "inputs": None}
    ),
    "Simulator.pose": lambda: {"body": "bob"},
    "Simulator.reset": lambda: {"q": ONE, "v": ONE},
    "Simulator.run": lambda: {"duration": 0.1, "u": None},
    "Simulator.step": lambda: {"u": None},
    "Simulator.set_parameters": lambda: {"values": {"length": 2.0}},
    "Simulator.lock": lambda: {"joint": "pivot"},
    "Simulator.unlock": lambda: {"joint": "pivot"},
    "Simulator.measurements": lambda: {"names": ["angle"]},
    "Trajectory.measurements": lambda: {"names": ["angle"]},
    "Trajectory.measurement_table": lambda: {"names": ["angle"]},
    "Simulator.set_state": lambda: {"state": owner("Simulator").state()},
    "states_at": lambda: {"trajectory": things()["run"], "times": [0.05], "fast": False, "inputs": None},
    "Trajectory.at": lambda: {"times": [0.05], "fast": False, "inputs": None},
    "ensemble": lambda: (
        {"model": things()["model"], "over": {"q.pivot.angle": [0.1, 0.2]}, "scheme": "midpoint"}
        | {
            "step": 0.05,
            "duration": 0.2,
            "formulation": None,
            "every": 1,
            "store": ["q"],
            "measure": None,
            "statistics": None,
            "threads": 1,
        }
        | {"processes": None, "executor": None, "time_limit": None, "progress": None, "path": None, "force": False}
        | {"resume": False}
    ),
    "load_plan": lambda: {"path": plan_file()},
    "sobol_indices": lambda: {"runs": saltelli(), "of": "end", "seed": 1},
    "to_parquet": lambda: {"runs": saltelli(), "path": new_path(".parquet"), "force": False},
    "plot_bundle": lambda: {"runs": saltelli(), "path": new_path(".png"), "force": False},
    "read": lambda: {"path": stored(), "system": None},
    "find_invariants": lambda: {"system": things()["system"]},
    "linearize_motion": lambda: {"model": things()["model"], "q": [0.0], "v": [0.0]},
    "find_equilibrium": lambda: {"model": things()["model"], "start": ONE, "t": 0.0},
    "buckling_factors": lambda: {"model": things()["model"], "load": "gravity"},
    "equations": lambda: {"model": things()["model"], "parts": ["potential"]},
    "inverse_kinematics": lambda: (
        {"system": things()["system"], "targets": {"bob": {"place": (0, 0, 0)}}, "start": ONE, "starts": 1}
        | {"seed": 0, "t": 0.0, "tolerance": 1e-9, "nearest_if_missed": True}
    ),
    "linearize": lambda: {"model": things()["model"], "at": [0.0]},
    "compare": lambda: (
        {"model": things()["model"], "schemes": ["midpoint"], "steps": [0.1, 0.05], "duration": 0.2}
        | {"formulation": None, "reference": "gauss3"}
    ),
    "plot": lambda: {"trajectory": things()["run"], "what": "phase", "names": None, "section": None},
    "draw_graph": lambda: {"model": things()["model"]},
    "animate": lambda: (
        {"trajectory": things()["run"], "path": new_path(".glb"), "speed": None, "rate": None, "trails": None}
        | {"force": False, "progress": None, "triangles": None}
    ),
    "attach": lambda: (
        {"base": things()["model"], "other": things()["model"], "to": "world", "prefix": "b "}
        | {"position": (1.0, 0.0, 0.0), "orientation": (0.0, 0.0, 0.0)}
    ),
    "describe_tree": lambda: {"model": things()["model"]},
    "evaluate": lambda: {"text": "2*a", "parameters": {"a": 1.0}},
    "from_yaml": lambda: {"text": mbvi.to_yaml(things()["model"]), "source": "a.yaml", "folder": None, "files": None},
    "is_cut": lambda: {"model": things()["model"], "joint_name": "pivot", "plan": mbvi.plan(things()["model"])},
    "mass_properties": lambda: {"body": things()["model"].bodies["bob"], "files": None},
    "plan": lambda: {"model": things()["model"]},
    "postfix": lambda: {"text": "2*t", "parameters": {}, "variable": "t"},
    "to_yaml": lambda: {"model": things()["model"]},
    "Model.with_parameters": lambda: {"values": {"length": 1.0}},
    "System.with_parameters": lambda: {"values": {"length": 1.0}},
    "System.integrate": lambda: {"q": ONE, "step": ONE},
    "System.difference": lambda: {"q": ONE, "other": ONE},
    "System.rates_of_velocity": lambda: {"q": ONE, "v": ONE},
    "System.velocity_of_rates": lambda: {"q": ONE, "rates": ONE},
    "System.frame_pose": lambda: {"frame": "bob", "q": ONE},
    "System.frame_velocity": lambda: FRAME | {"v": ONE},
    "System.frame_velocity_derivatives": lambda: FRAME | {"v": ONE},
    "System.frame_acceleration": lambda: FRAME | {"v": ONE, "a": ONE},
    "System.frame_acceleration_derivatives": lambda: FRAME | {"v": ONE, "a": ONE},
    "System.frame_jacobian": lambda: FRAME,
    "System.frame_jacobian_derivative": lambda: FRAME,
    "System.frame_jacobian_rate": lambda: FRAME | {"v": ONE},
    "System.operational_inertia": lambda: FRAME | {"frame": "a", "q": ANY_PLACE},
    "System.operational_inertia_derivative": lambda: FRAME | {"frame": "a", "q": ANY_PLACE},
    "System.operational_mobility": lambda: FRAME,
    "System.center_of_mass": lambda: {"q": ONE},
    "System.center_of_mass_derivatives": lambda: {"q": ONE, "v": ONE},
    "System.center_of_mass_jacobian": lambda: {"q": ONE},
    "System.centroidal_momentum": lambda: {"q": ONE, "v": ONE},
    "System.centroidal_momentum_derivatives": lambda: {"q": ONE, "v": ONE},
    "System.centroidal_momentum_matrix": lambda: {"q": ONE},
    "System.inverse_dynamics": lambda: STATE | {"a": ONE, "actuated": None},
    "System.inverse_dynamics_derivatives": lambda: STATE | {"a": ONE, "actuated": None},
    "System.forward_dynamics": lambda: STATE | {"forces": ONE},
    "System.forward_dynamics_derivatives": lambda: STATE | {"forces": ONE},
    "System.bias": lambda: STATE,
    "System.gravity": lambda: {"q": ONE},
    "System.tangent_mass_matrix": lambda: {"q": ONE},
    "System.tangent_mass_matrix_derivative": lambda: {"q": ONE},
    "System.project_state": lambda: STATE | {"a": ONE},
    "System.equations": lambda: {"parts": ["potential"]},
    "System.find_equilibrium": lambda: {"start": ONE, "t": 0.0},
    "System.inverse_kinematics": lambda: (
        {"targets": {"bob": {"place": (0, 0, 0)}}, "start": ONE, "starts": 1}
        | {"seed": 0, "t": 0.0, "tolerance": 1e-9, "nearest_if_missed": True}
    ),
    "System.mass_matrix": lambda: {"q": ONE, "t": 0.0},
    "System.potential": lambda: {"q": ONE, "t": 0.0},
    "System.momentum": lambda: STATE,
    "System.gradient": lambda: STATE,
    "System.second_derivatives": lambda: STATE,
    "System.kinetic_energy": lambda: STATE,
    "System.energy": lambda: STATE,
    "System.lagrangian": lambda: STATE,
    "System.velocities": lambda: {"t": [0.0, 1.0], "q": ONES, "p": ONES},
    "System.energies": lambda: SERIES,
    "System.constraint_residuals": lambda: {"t": [0.0, 1.0], "q": ONES},
    "System.constraint": lambda: {"q": ONE, "t": 0.0},
    "System.constraint_jacobian": lambda: {"q": ONE, "t": 0.0},
    "System.constraint_curvature": lambda: {"q": ONE, "multipliers": [], "t": 0.0},
    "System.acceleration": lambda: STATE,
    "System.accelerations_and_multipliers": lambda: SERIES,
    "System.multipliers": lambda: SERIES,
    "System.guiding_forces": lambda: SERIES | {"a": ONES},
    "System.poses": lambda: {"body": "bob", "q": ONES},
    "Trajectory.forces": lambda: {"names": ["pivot"]},
    "Trajectory.force_table": lambda: {"names": ["pivot"]},
    "Trajectory.kinematics": lambda: {"frames": ["bob"]},
    "Trajectory.reaction": lambda: {"name": "pivot"},
    "Trajectory.reactions": lambda: {"names": ["pivot"]},
    "Trajectory.control_points": lambda: {"state": 0},
    "Trajectory.pose": lambda: {"body": "bob"},
    "Trajectory.evaluate": lambda: {"expression": "q('pivot')"},
    "Trajectory.plot": lambda: {"what": "phase", "names": None, "section": None},
    "Trajectory.export": lambda: {"path": new_path(".csv"), "force": False},
    "Trajectory.save": lambda: {"path": new_path(".h5"), "force": False, "store": None},
    "Trajectory.rows": lambda: {"part": slice(1)},
    "Trajectory.blocks": lambda: {"size": 2},
    "Invariant.value": lambda: {"q": [SEVEN], "p": [SEVEN]},
    "Invariant.unit": lambda: {"units": falling().coordinate_units},
    "Invariant.rate": lambda: {"q": SEVEN, "v": SEVEN, "p": SEVEN, "f": SEVEN},
    "solve_control_points": lambda: (
        {"system": things()["system"], "tableau": mbvi.SCHEMES["simpson"], "h": 0.1, "t": 0.0} | {"q": ONE, "p": ONE}
    ),
    "convergence_order": lambda: {"errors": [1.0, 0.25], "steps": [2.0, 1.0]},
    "oscillation_errors": lambda: {
        "oscillator": DampedOscillator(1.0, 0.0, 1.0, 1.0),
        "t": [0.1],
        "x": [1.0],
        "v": [0.0],
    },
    "linear_generator": lambda: {"matrix": [[0.0]], "shift": [1.0], "name": "a"},
    "discrete_momenta": lambda: (
        {"system": things()["system"], "scheme": "midpoint", "step": 0.1, "before": ONE, "after": ONE} | {"t": 0.0}
    ),
    "action_variation": lambda: (
        {"system": things()["system"], "t": 0.0, "x": ONE, "v": ONE, "a": ONE, "tau": 0.1} | {"is_force_varied": True}
    ),
    "step_map_jacobian": lambda: {
        "system": things()["system"],
        "scheme": "midpoint",
        "step": 0.1,
        "q": ONE,
        "p": ONE,
        "t": 0.0,
    },
    "symplecticity_defect": lambda: {"J": np.eye(2)},
    "direct_midpoint": lambda: {"g": 0.5, "iterations": 1},
    "chorin": lambda: {"alpha": 0.5, "beta": 0.5, "gamma": 0.5, "delta": 0.5},
    "find_scheme": lambda: {"name": "simpson"},
    "find_tableau": lambda: {"name": "simpson"},
    "Tableau": lambda: SCHEME | {"name": "a", "fractions": (1.0,), "description": "", "is_projected": True},
    "lagrange_basis": lambda: {"points": (0.0, 1.0), "x": 0.5},
    "gauss": lambda: {"count": 2},
    "lobatto": lambda: {"count": 2},
    "Method": lambda: (
        {"name": "a", "order": 2, "source": "", "description": "", "runner": "parabola"}
        | {"is_symmetric": True, "is_variable": False, "numbers": ()}
    ),
    "Chart": lambda: {"coordinate_names": ("a",), "start": np.zeros(1), "place": lambda a, near: (a, np.eye(1))},
    "Chart.coordinates": lambda: {"q": ONE, "near": ONE},
    "sympy_chart": lambda: {"coordinates": [X], "positions": [X], "start": [0.5], "parameters": {}},
    "joint_chart": lambda: {"system": things()["system"]},
    "CuspedTop": lambda: TOP | {"angle": 0.5, "spin": 9.0},
    "DampedOscillator": lambda: {"mass": 1.0, "damping": 0.1, "stiffness": 1.0, "position": 1.0, "velocity": 0.0},
    "FreeBody": lambda: {
        "inertia": (1.0, 2.0, 2.5),
        "angular_velocity": (1.0, 2.0, 3.0),
        "orientation": (1.0, 0.0, 0.0, 0.0),
    },
    "LagrangeTop": lambda: TOP | {"angles": (0.0, 0.5, 0.0), "rates": (0.0, 0.0, 9.0)},
    "LinearDoublePendulum": lambda: (
        {"masses": (1.0, 1.0), "lengths": (1.0, 1.0), "gravity": 9.81, "angles": (0.1, 0.1)} | {"rates": (0.0, 0.0)}
    ),
    "Pendulum": lambda: {"length": 1.0, "gravity": 9.81, "angle": 0.5, "rate": 0.0},
    "SphericalPendulum": lambda: {"length": 1.0, "gravity": 9.81, "angles": (0.1, 0.5), "rates": (1.0, 0.0)},
    "FreeBody.rotation": lambda: {"t": [1.0]},
    "LagrangeTop.height": lambda: {"t": [1.0]},
    "LagrangeTop.height_by_weierstrass": lambda: {"t": [1.0]},
    "SphericalPendulum.azimuth": lambda: {"t": [1.0]},
    "SphericalPendulum.angle": lambda: {"t": [1.0]},
} | {f"{name}.__call__": lambda: {"t": [1.0]} for name in mbvi.exact.__all__}
REQUIRED = {  # fields of elements of which the type does not say a value
    **{"parent": "world", "child": "a", "body": "a", "body_a": "world", "body_b": "a", "joint": "a", "joint_a": "a"},
    **{"joint_b": "b", "axes": ((1, 0, 0), (0, 1, 0)), "ratio": 2, "joint_c": "c", "across": (1, 0, 0)},
    **{"vector": (0, 0, 1), "file": "a.stl", "position": (0, 0, 0), "curve": ("s", 0, 0)},
    **{"times": (0, 1), "values": (0, 1), "name": "a", "bodies": {}, "over": {}},
    **{"frame": "a", "expression": "t", "gap": "t", "potential": "x", "points": ({"body": "world"}, {"body": "a"})},
}
OF_MBVI_ALONE = {
    "Model.replaced",
    "Model.model_post_init",
    "Model.with_exact_loops",
    "System.parameter_map",
}


MOST_CHARACTERS = 6000  # with the name of a file
RAISE_THEMSELVES = {("progress", "a class")}  # when they are called
SLOW = {
    "from_sympy": 5,
    "from_functions": 10,
    "resume": 5,
    "ensemble": 5,
    "compare": 5,
}  # they compile, or run several times


def public():
    """All that is public and can be called, by its name: functions, classes but elements of models, and their methods."""
    found = dict(FAMILIES)
    for module in map(import_module, MODULES):
        for name in names_of(module):
            value = getattr(module, name)
            if inspect.isclass(value) and not issubclass(value, Element | Exception) and name not in MADE:
                found[name] = value
            if inspect.isclass(value) and (not issubclass(value, Element) or value is mbvi.Model):
                owners = value.__mro__ if value is mbvi.System else [value]  # what a system can is that of its base too
                methods = {key: each for owner in owners for key, each in vars(owner).items() if is_method(key, each)}
                found |= {f"{name}.{key}": each for key, each in methods.items()}
            elif callable(value) and not inspect.isclass(value):
                found[name] = value
    return {name: value for name, value in found.items() if parameters_of(value) and name not in OF_MBVI_ALONE}


def names_of(module):
    if module is mbvi:
        return [*mbvi.__all__, *mbvi.model.__all__]
    if module.__name__ in NAMED:
        return NAMED[module.__name__]
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [key for key in own if not key.startswith("_")])


def is_method(key, value):
    return inspect.isfunction(value) and (not key.startswith("_") or key == "__call__")


def elements():
    """The elements of models and of sampling plans, by their names."""
    found = {name: getattr(mbvi, name) for name in [*mbvi.model.__all__, *mbvi.__all__]}
    found |= {name: getattr(sampling, name) for name in NAMED[sampling.__name__]}
    return {name: value for name, value in found.items() if is_element(name, value)}


def is_element(name, value):
    return inspect.isclass(value) and issubclass(value, Element) and name != "Joint"


def parameters_of(value):
    return [name for name in inspect.signature(value).parameters if name != "self"]


def owner(name):
    """What a method is called of."""
    kind = name.partition(".")[0]
    if name.startswith("System.operational_inertia"):  # of what can move in all ways
        return falling()
    makers = {
        "Model": lambda: things()["model"],
        "System": lambda: things()["system"],
        "Trajectory": lambda: things()["run"],
    }
    makers |= {"Invariant": lambda: things()["invariant"]}
    if name == "Simulator.unlock":
        simulator = owner("Simulator")
        simulator.lock("pivot")
        return simulator
    return makers[kind]() if kind in makers else PUBLIC[kind](**WORKING[kind]())


PUBLIC = public()


def call(name, arguments):
    """Call what has a name, with arguments by their names."""
    function, given = PUBLIC[name], dict(arguments)
    if "." in name:
        function = getattr(owner(name), name.partition(".")[2])
    several = [given.pop("what")] if "what" in given else []
    result = function(*several, **given) if not several else function(*first(given), *several, **given)
    if inspect.isgenerator(result):
        list(result)
    if name == "follow":
        result.close()


def first(given):
    return [given.pop("trajectory")] if "trajectory" in given else []


def fault(name, arguments):
    """What is wrong with how arguments are taken; None if they are taken, or refused in one line that says something."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", mbvi.errors.MbviWarning)
            call(name, arguments)
    except (mbvi.ModelError, mbvi.StepError) as error:
        is_right = "\n" not in str(error) and 0 < len(str(error)) < MOST_CHARACTERS
        return None if is_right else f"a message of {len(str(error))} characters: {str(error)[:100]}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def test_all_that_is_public_is_called_here():
    assert sorted(PUBLIC) == sorted(WORKING)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "share"),
    [
        *((name, SLOW.get(name, 1)) for name in sorted(PUBLIC)),
        *(pytest.param(name, 1, marks=campaign) for name in SLOW),
    ],
)
def test_wrong_arguments(name, share):
    """Each parameter is given every value, or every so many, beginning with another one for the next parameter."""
    arguments = WORKING[name]()
    owner_names = ("system",) if name.startswith("System.") else ()
    assert sorted(arguments) == sorted(each for each in parameters_of(PUBLIC[name]) if each not in owner_names)
    call(name, arguments)
    faults = []
    for number, parameter in enumerate(arguments):
        for what, value in list(wrong_values().items())[number % share :: share]:
            if (parameter, what) in RAISE_THEMSELVES or repr(value) == repr(arguments[parameter]):
                continue
            if found := fault(name, WORKING[name]() | {parameter: value}):
                faults.append(f"{parameter} = {what}: {found}")
    assert not faults, "\n".join(faults)


def working_value(element, key):
    """A value of a field of a type of elements."""
    if key in REQUIRED:
        return REQUIRED[key]
    match kinds(element).get(key):
        case Kind("direction" | "place"):
            return (0, 0, 1)
        case Kind("numbers") if element.model_fields[key].annotation == Triple:
            return (1, 1, 1)
    return 1


@pytest.mark.parametrize(("name", "element"), elements().items())
def test_wrong_fields(name, element):
    working = {key: working_value(element, key) for key, field in element.model_fields.items() if field.is_required()}
    if name == "Model":
        working = dict(things()["model"])
    made, faults = element(**working), []
    for key in [*element.model_fields, "unknown"]:
        for what, value in wrong_values().items():
            for make in (lambda each: element(**working | each), lambda each: made.model_copy(update=each)):
                try:
                    make({key: value})
                except mbvi.ModelError:
                    pass
                except Exception as error:
                    faults.append(f"{key} = {what}: {type(error).__name__}: {error}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", ["simulate", "ensemble", "plot_bundle"])
def test_a_force_is_not_taken_for_the_permission_to_overwrite(name):
    with pytest.raises(
        mbvi.ModelError, match=r"^force: expected True or False, for files, found a function; give a force"
    ):
        call(name, WORKING[name]() | {"path": None, "force": drag})
