"""Elements and the Model: what is accepted, what it is resolved to, and the message of everything that is wrong."""

import copy
import math
import pickle
from typing import get_args

import numpy as np
import pytest

import mbvi.model as mm
from mbvi.errors import ModelError
from mbvi.model.constraints import AnyConstraint
from mbvi.model.joints import AnyJoint

from ..system import mechanisms

BASE = {
    "name": "test",
    "parameters": {"length": 2},
    "bodies": {
        "rod": {"mass": 1, "inertia": [1, 1, 1], "points": {"tip": [0, 0, "-length"]}},
        "top": {"mass": 1, "inertia": [1, 1, 1]},
    },
    "joints": {
        "crank": {"type": "revolute", "parent": "world", "child": "rod", "axis": [0, 0, 1]},
        "hub": {"type": "ball", "parent": "rod", "child": "top"},
    },
}


def changed(**changes):
    """The base model's data with changes at dotted paths, written a__b__c; the value ... removes a key."""
    data = copy.deepcopy(BASE)
    for path, value in changes.items():
        *keys, last = path.split("__")
        place = data
        for key in keys:
            place = place.setdefault(key, {})
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return data


def test_base_is_right():
    assert mm.Model(**BASE).resolved().bodies["rod"].points["tip"] == (0.0, 0.0, -2.0)


def types(union):
    """The types of a union of elements, as messages list them."""
    return ", ".join(element.model_fields["type"].default for element in get_args(get_args(union)[0]))


KNOWN_JOINTS, KNOWN_CONSTRAINTS = types(AnyJoint), types(AnyConstraint)
EULER = "'quaternion', 'xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx', 'xyx', 'xzx', 'yxy', 'yzy', 'zxz' or 'zyz'"
FORCE = {"type": "force", "body": "rod", "vector": [0, 0, 1]}
SPRING = {"type": "spring", "body_a": "world", "body_b": "rod", "stiffness": 1}
ON_HUB = {"type": "joint_spring", "joint": "hub", "stiffness": 1}
ENDS = {"body_a": "world", "body_b": "rod"}
DISTANCE = {"type": "distance", **ENDS, "length": 1}
CURVE = {"type": "point_on_curve", "body_b": "rod", "point_b": "tip", "curve": ["s", "s**2", 0]}
GEAR = {"type": "coupling", "joint_a": "crank", "joint_b": "slide", "ratio": 2}
SLIDE = {"type": "prismatic", "parent": "rod", "child": "top", "axis": [0, 0, 1]}
CRANK = {"type": "prescribed_coordinate", "joint": "crank", "value": "t"}
POINT = {"type": "prescribed_point", "body": "rod", "point": "tip", "position": ["t", 0, 0]}
UNIT = "expected a unit quaternion (w, x, y, z), found"
MESSAGES = [
    # wrong types
    ({"bodies__rod__mass": True}, "bodies.rod.mass: expected a number or an expression, found True"),
    ({"bodies__rod__mass": [1]}, "bodies.rod.mass: expected a number or an expression, found [1]"),
    ({"bodies__rod__mass": None}, "bodies.rod.mass: expected a number or an expression, found nothing"),
    ({"bodies__rod__mass": " "}, "bodies.rod.mass: expected a number or an expression, found ' '"),
    ({"bodies__rod__mass": 1j}, "bodies.rod.mass: expected a number or an expression, found 1j"),
    ({"bodies__rod": 3}, "bodies.rod: expected a mapping of keys to values, found 3"),
    ({"bodies": [1]}, "bodies: expected a mapping of keys to values, found [1]"),
    ({"bodies__rod__shapes": 3}, "bodies.rod.shapes: expected a list, found 3"),
    ({"name": 3}, "name: expected text, found 3"),
    ({"gravity": 9.81}, "gravity: expected 3 numbers, found 9.81; write for example [0, 0, 1]"),
    ({"gravity": [0, 0]}, "gravity: expected 3 numbers, found [0, 0]; write for example [0, 0, 1]"),
    ({"gravity": [0, 0, False]}, "gravity.2: expected a number or an expression, found False"),
    (
        {"bodies__rod__inertia": [1, 2]},
        "bodies.rod.inertia: expected [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] or 3 rows of 3 numbers, "
        "found [1, 2]; write for example [0.1, 0.1, 0.2], in kg m²",
    ),
    ({"joints__crank__axis": "z"}, "joints.crank.axis: expected 3 numbers, found 'z'; write [0, 0, 1]"),
    ({"joints__crank__axis": "up"}, "joints.crank.axis: expected 3 numbers, found 'up'; write for example [0, 0, 1]"),
    ({"joints__crank__axis": ["0 1 0"]}, "joints.crank.axis: expected 3 numbers, found ['0 1 0']; write [0, 1, 0]"),
    ({"joints__crank__axis": "0, -1 0"}, "joints.crank.axis: expected 3 numbers, found '0, -1 0'; write [0, -1, 0]"),
    (
        {"bodies__rod__mass": "mass.csv"},
        "bodies.rod.mass: expected a number or an expression, found the name of a file, 'mass.csv'; copy its numbers in, "
        "those of a function of time as {times: […], values: […]}",
    ),
    (
        {"constraints__c": {**CRANK, "value": "./my data/table.CSV"}},
        "constraints.c.value: expected a number or an expression, found the name of a file, './my data/table.CSV'; copy its "
        "numbers in, those of a function of time as {times: […], values: […]}",
    ),
    (
        {"constraints__c": {**CRANK, "value": {"times": [0, 1], "values": "table.csv"}}},
        "constraints.c.value.values: expected a list of numbers, found 'table.csv'; write them here, as [0, 1.5, 2]",
    ),
    (
        {"joints__crank__orientation": [1, 0]},
        "joints.crank.orientation: expected a rotation vector of 3 numbers or a unit quaternion of 4 (w, x, y, z), "
        "found [1, 0]; write for example [0, 0, 90 deg]",
    ),
    ({"joints__crank": 7}, "joints.crank: expected a mapping of keys to values, found 7"),
    # non-finite numbers
    (
        {"bodies__rod__mass": math.nan},
        "bodies.rod.mass: expected a finite number, found nan; write for example 1.5 or 1e-3",
    ),
    ({"gravity": [0, math.inf, 0]}, "gravity.1: expected a finite number, found inf; write for example 1.5 or 1e-3"),
    (
        {"bodies__rod__mass": 10**400},
        "bodies.rod.mass: expected a finite number, found 1" + "0" * 58 + "…; write for example 1.5 or 1e-3",
    ),
    (
        {"gravity": [0, 0, "-3e50*length"]},
        "gravity.2: expected a number of size at most 1e+50, found -6e+50",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, "1e30*1e30", 0]}},
        "forces.f.vector.1: expected a number of size at most 1e+50, found 1e+60",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 1e300, 0]}},
        "forces.f.vector.1: expected a number of size at most 1e+50, found 1e+300",
    ),
    (
        {"bodies__rod__shapes": [{"type": "sphere", "radius": 5e-324, "mass": 1}]},
        "bodies.rod.shapes.0.radius: expected lengths of at least 1e-50, found 4.94066e-324; write for example 0.1",
    ),
    ({"name": ""}, "name: expected a name of printable characters, found ''; write for example 'pendulum'"),
    ({"name": "a\0b"}, "name: expected a name of printable characters, found 'a\\x00b'; write for example 'pendulum'"),
    (
        {"description": "a\33[2J"},
        "description: expected text without control characters, found 'a\\x1b[2J'; remove them",
    ),
    (
        {"joints__crank__position": "tip"},
        "joints.crank.position: expected 3 numbers, found 'tip'; write for example [0, 0, 1]; names of points are for "
        "forces and point masses",
    ),
    # unknown and missing keys
    ({"bodies__rod__mas": 1}, "bodies.rod.mas: expected a known key, found 'mas'; did you mean 'mass'?"),
    ({"joints__crank__axes": [0, 0, 1]}, "joints.crank.axes: expected a known key, found 'axes'; did you mean 'axis'?"),
    (
        {"joints__crank__axi": [0, 0, 1], "joints__crank__axis": ...},
        "joints.crank.axi: expected a known key, found 'axi'; did you mean 'axis'? (and 1 more)",
    ),
    ({"gravitiy": [0, 0, 0]}, "gravitiy: expected a known key, found 'gravitiy'; did you mean 'gravity'?"),
    ({"joints__crank__axis": ...}, "joints.crank.axis: expected a value, found nothing; add the key 'axis'"),
    (
        {"joints__crank__type": "revolut"},
        "joints.crank.type: expected a known type, found 'revolut'; did you mean 'revolute'?",
    ),
    (
        {"joints__crank__type": ...},
        f"joints.crank.type: expected a known type, found nothing; add the key 'type'; known: {KNOWN_JOINTS}",
    ),
    (
        {"joints__crank__type": ..., "joints__crank__typ": "revolute"},
        "joints.crank: expected the key 'type', found 'typ'; did you mean 'type'?",
    ),
    (
        {"bodies__rod__shapes": [{"type": "bax", "size": [1, 1, 1]}]},
        "bodies.rod.shapes.0.type: expected a known type, found 'bax'; did you mean 'box'?",
    ),
    (
        {"bodies__rod__shapes": [{"type": "box", "size": [1, 1, 1], "densty": 3}]},
        "bodies.rod.shapes.0.densty: expected a known key, found 'densty'; did you mean 'density'?",
    ),
    (
        {"joints__revolute": {"type": "ball", "parent": "rod", "child": "top", "axis": [0, 0, 1]}},
        "joints.revolute.axis: expected a known key, found 'axis'; "
        "known: type, parent, child, position, orientation, offset, cut, limits, armature, friction, coordinates",
    ),
    # unknown names
    ({"joints__hub__child": "topp"}, "joints.hub.child: expected a body or world, found 'topp'; did you mean 'top'?"),
    ({"joints__hub__parent": "x"}, "joints.hub.parent: expected a body or world, found 'x'; known: world, rod, top"),
    ({"initial__crnk": {}}, "initial.crnk: expected a joint, found 'crnk'; did you mean 'crank'?"),
    ({"forces__f": {**FORCE, "body": "world"}}, "forces.f.body: expected a body, found 'world'; known: rod, top"),
    (
        {"forces__f": {**FORCE, "point": "tipp"}},
        "forces.f.point: expected 3 numbers or a point of 'rod', found 'tipp'; did you mean 'tip'?",
    ),
    (
        {"forces__f": {**SPRING, "point_a": "tip"}},
        "forces.f.point_a: expected 3 numbers, found 'tip'; the world has no named points",
    ),
    (
        {"bodies__top__point_masses": {"bob": {"mass": 1, "position": "tip"}}},
        "bodies.top.point_masses.bob.position: expected 3 numbers or a point of 'top', found 'tip'; known: none",
    ),
    (
        {"bodies__rod__inertia_about": "tipp"},
        "bodies.rod.inertia_about: expected a point, found 'tipp'; did you mean 'tip'?",
    ),
    (
        {"forces__f": {**ON_HUB, "joint": "hubb"}},
        "forces.f.joint: expected a joint, found 'hubb'; did you mean 'hub'?",
    ),
    (
        {"bodies__rod__mass": "lenght"},
        "bodies.rod.mass: expected a parameter or a constant, found 'lenght' in 'lenght'; did you mean 'length'?",
    ),
    # names that cannot be
    (
        {"bodies__world": {}},
        "bodies.world: expected a name of its own, found 'world', which is the fixed frame; rename the body",
    ),
    (
        {"bodies__rod__points__origin": [0, 0, 0]},
        "bodies.rod.points.origin: expected a name of its own, found 'origin', which is predefined; rename the point",
    ),
    (
        {"bodies__rod__frames": {"tip": {}}, "bodies__rod__points": {"tip": [0, 0, 1]}},
        "bodies.rod.frames.tip: expected a name that no point of the body has, found 'tip', a point; rename one of them",
    ),
    (
        {"parameters__pi": 3},
        "parameters.pi: expected a name of its own, found 'pi', which is predefined; rename the parameter",
    ),
    (
        {"parameters__lambda": 3},
        "parameters.lambda: expected a name of letters, digits and _, found 'lambda'; rename the parameter",
    ),
    (
        {"forces": {" a": FORCE}},
        "forces. a: expected a name of printable characters, without blanks at its ends, found ' a'; rename it",
    ),
    # expressions
    (
        {"bodies__rod__mass": "1/(length-2)"},
        "bodies.rod.mass: expected a finite number, found a division by zero in '1/(length-2)'; change the divisor",
    ),
    (
        {"gravity": [0, 0, "__import__('os')"]},
        "gravity.2: expected a known function, found '__import__' in \"__import__('os')\"; known: sin, cos, tan, asin, "
        "acos, atan, sinh, cosh, tanh, exp, log, sqrt, …",
    ),
    (
        {"parameters__length": "2*length"},
        "parameters.length: expected parameters without a cycle, found length -> length; give one of them a number",
    ),
    (
        {"simulation__step": "t"},
        "simulation.step: expected a parameter or a constant, found 't' in 't'; "
        "only values of forces and constraints may depend on the time t",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, "sin(tt)", 0]}},
        "forces.f.vector.1: expected a parameter or a constant, found 'tt' in 'sin(tt)'; did you mean 't'?",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, "sin(q)", 0]}},
        "forces.f.vector.1: expected a parameter or a constant, found 'q' in 'sin(q)'; known: t, length, pi, e, deg, "
        "rad, rpm",
    ),
    # axes, orientations
    (
        {"joints__crank__axis": [0, 0, 0]},
        "joints.crank.axis: expected a non-zero 3-vector, found [0, 0, 0]; write for example [0, 0, 1]",
    ),
    (
        {"joints__crank__orientation": [1, 1, 0, 0]},
        f"joints.crank.orientation: {UNIT} [1, 1, 0, 0] of norm 1.41421; write for example [1, 0, 0, 0]",
    ),
    (
        {"joints__crank__orientation": [0, 0, 0, 0]},
        f"joints.crank.orientation: {UNIT} the zero quaternion; write for example [1, 0, 0, 0]",
    ),
    (
        {"joints__hub": {"type": "universal", "parent": "rod", "child": "top", "axes": [[0, 0, 1], [0, 0, -2]]}},
        "joints.hub.axes: expected two axes that are not parallel, found [[0, 0, 1], [0, 0, -2]]; "
        "turn one of them, or use the type revolute",
    ),
    (
        {"joints__hub": {"type": "universal", "parent": "rod", "child": "top", "axes": [[0, 0, 1], [0, 0, 0]]}},
        "joints.hub.axes.1: expected a non-zero 3-vector, found [0, 0, 0]; write for example [0, 0, 1]",
    ),
    (
        {"joints__hub": {"type": "universal", "parent": "rod", "child": "top", "axes": [0, 0, 1]}},
        "joints.hub.axes: expected 2 axes of 3 numbers, found [0, 0, 1]; write for example [[1, 0, 0], [0, 1, 0]]",
    ),
    (
        {"joints__hub": {"type": "planar", "parent": "rod", "child": "top", "normal": [0, 0, 1], "x_axis": [0, 0, 3]}},
        "joints.hub.x_axis: expected a direction across the normal [0, 0, 1], found [0, 0, 3]; "
        "choose a direction in the plane",
    ),
    ({"joints__hub__coordinates": "zzx"}, f"joints.hub.coordinates: expected {EULER}, found 'zzx'"),
    # masses
    ({"bodies__rod__mass": -1}, "bodies.rod.mass: expected a mass of at least 0, found -1; change its sign"),
    (
        {"bodies__rod__inertia": [1, 1, 3]},
        "bodies.rod.inertia: expected principal moments of which none exceeds the sum of the others, found [1, 1, 3] "
        "about the center of mass, of which the largest does by 1 kg m², 0.2 of the trace; rounding explains 0.0005 of "
        "the trace; check inertia, which is given about the center_of_mass, and mass",
    ),
    (
        {"bodies__rod__shapes": [{"type": "sphere", "radius": 1, "mass": 1, "density": 1}]},
        "bodies.rod.shapes.0.mass: expected density or mass, found both; remove one of them",
    ),
    ({"bodies": {}, "joints": {}}, "bodies: expected at least one body, found none"),
    # initial values
    ({"initial__crank": {"position": [1, 2]}}, "initial.crank.position: expected 1 number (angle), found [1, 2]"),
    ({"initial__hub": {"position": 1}}, "initial.hub.position: expected 4 numbers (qw, qx, qy, qz), found 1"),
    (
        {"initial__hub": {"position": ["30 deg", 0, 0]}},
        "initial.hub.position: expected 4 numbers (qw, qx, qy, qz), found [0.523599, 0, 0]; write a unit quaternion, or give "
        "the joint coordinates: xyz, of which the angles are written",
    ),
    (
        {"initial__crank": {"position": ["1 deg/s", 0]}},
        "initial.crank.position: expected 1 number (angle), found [0.0174533, 0]",
    ),
    (
        {"initial__hub": {"velocity": [1, 2]}},
        "initial.hub.velocity: expected 3 or 4 numbers (qw, qx, qy, qz), found [1, 2]",
    ),
    (
        {"initial__hub": {"position": [0, 0, 0, 0]}},
        f"initial.hub.position: {UNIT} the zero quaternion; write for example [1, 0, 0, 0]",
    ),
    (
        {"initial__hub": {"position": [1, 0.1, 0, 0]}},
        f"initial.hub.position: {UNIT} [1, 0.1, 0, 0] of norm 1.00499; write for example [1, 0, 0, 0]",
    ),
    ({"simulation__step": 0}, "simulation.step: expected a time greater than 0, found 0; write for example 0.01 [s]"),
    (
        {"simulation__duration": -1},
        "simulation.duration: expected a time greater than 0, found -1; write for example 10 [s]",
    ),
    (
        {"simulation": {"step": 1e-300, "duration": 1e300}},
        "simulation.step: expected at most 1e15 steps, found steps of 1e-300 s for 1e+300 s; a larger step or a shorter "
        "duration",
    ),
    (
        {"forces__f": {"type": "joint_force", "joint": "crank", "value": "t+(" * 64 + "t" + ")" * 64}},
        "forces.f.value: expected an expression of t that keeps at most 64 numbers at once, found 65; nest fewer "
        "parentheses, or use parameters for its parts",
    ),
    # forces
    (
        {"forces__f": {**FORCE, "vector": 3}},
        "forces.f.vector: expected 3 components, each a number, an expression of t or a table, found 3; "
        "write for example [0, 0, 1]",
    ),
    ({"forces__f": {**FORCE, "frame": "bdy"}}, "forces.f.frame: expected 'world' or 'body', found 'bdy'"),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"times": [0, 1, 0.5], "values": [1, 2, 3]}]}},
        "forces.f.vector.2.times: expected increasing times, found [0, 1, 0.5]",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"times": [1, 1], "values": [1, 2]}]}},
        "forces.f.vector.2.times: expected at least 2 different times, found [1, 1]",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"times": [0, 1, 1, 1], "values": [1, 2, 3, 4]}]}},
        "forces.f.vector.2.times: expected each time at most twice, found [0, 1, 1, 1]; give the values before and after a jump, "
        "and none between",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"times": [0, 1, 1], "values": [1, 2, 3], "interpolation": "hold"}]}},
        "forces.f.vector.2.times: expected each time once where values are held, found 1 s twice, of which the first value, 2, "
        "is never held; remove the first of the two",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"times": [0, 5e-324], "values": [1, 2]}]}},
        "forces.f.vector.2.values: expected values whose rates are finite, found [1, 2] at [0, 4.94066e-324]; check the times",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"times": [0, 1], "values": [1, 2], "interpolation": "cubic"}]}},
        "forces.f.vector.2.interpolation: expected 'linear', 'hold', 'smooth' or 'spline', found 'cubic'",
    ),
    (
        {"constraints__motor": {**CRANK, "value": 1e15}},
        "constraints.motor.value: expected a number of size at most 1e+12, found 1e+15; beyond, too few digits are left of a "
        "position; check its unit",
    ),
    (
        {"constraints__hand": {**POINT, "position": [0, {"times": [0, 1], "values": [0, -1e16]}, 0]}},
        "constraints.hand.position.1: expected a number of size at most 1e+12, found -1e+16; beyond, too few digits are left of "
        "a position; check its unit",
    ),
    (
        {"constraints__motor": {**CRANK, "value": {"times": [0, 1], "values": [1, 2], "interpolation": "linear"}}},
        "constraints.motor.value.interpolation: expected a motion that can be differentiated twice, found linear, by which the "
        "velocity would jump; choose smooth or spline",
    ),
    (
        {
            "constraints__hand": {
                **POINT,
                "position": [0, 0, {"times": [0, 1], "values": [1, 2], "interpolation": "hold"}],
            }
        },
        "constraints.hand.position.2.interpolation: expected a motion that can be differentiated twice, found hold, by which the "
        "place would jump; choose smooth or spline",
    ),
    (
        {"constraints__rope": {**DISTANCE, "length": {"times": [0, 1, 1, 2], "values": [1, 2, 3, 4]}}},
        "constraints.rope.length.times: expected each time once in a prescribed motion, found [0, 1, 1, 2], with which the place "
        "would jump; give the way some time",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"times": [0, "length"], "values": [1]}]}},
        "forces.f.vector.2.values: expected as many values as times (2), found 1",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"times": [0], "values": [1]}]}},
        "forces.f.vector.2.times: expected at least 2 times, found 1",
    ),
    (
        {"forces__f": {**FORCE, "vector": [0, 0, {"time": [0, 1], "values": [1, 1]}]}},
        "forces.f.vector.2.time: expected a known key, found 'time'; did you mean 'times'?",
    ),
    (
        {"forces__f": {**SPRING, "body_a": "rod"}},
        "forces.f.body_b: expected two different bodies, found 'rod' twice; choose another body",
    ),
    ({"forces__f": {**SPRING, "rest_length": -1}}, "forces.f.rest_length: expected a length of at least 0, found -1"),
    (
        {"forces__f": ON_HUB},
        "forces.f.coordinate: expected one of the coordinates qw, qx, qy, qz of joint 'hub', found nothing; name one",
    ),
    (
        {"forces__f": {**ON_HUB, "coordinate": "qx"}},
        "forces.f.coordinate: expected an angle or a displacement, found the quaternion of joint 'hub'; "
        "give the joint Euler coordinates, as coordinates: xyz",
    ),
    (
        {"forces__f": {**ON_HUB, "joint": "crank", "coordinate": "angel"}},
        "forces.f.coordinate: expected a coordinate of joint 'crank', found 'angel'; did you mean 'angle'?",
    ),
    (
        {"forces__f": ON_HUB, "joints__hub": {"type": "weld", "parent": "rod", "child": "top"}},
        "forces.f.joint: expected a joint that moves, found 'hub', a weld",
    ),
    # formulation and how to start
    ({"formulation": "treee"}, "formulation: expected 'tree' or 'embedding', found 'treee'"),
    ({"joints__crank__cut": "yes"}, "joints.crank.cut: expected true or false, found 'yes'"),
    ({"initial__crank": {"hold": 1}}, "initial.crank.hold: expected true or false, found 1"),
    ({"simulation__project": "no"}, "simulation.project: expected true or false, found 'no'"),
    # constraints
    (
        {"constraints__c": {"type": "distanc"}},
        "constraints.c.type: expected a known type, found 'distanc'; did you mean 'distance'?",
    ),
    (
        {"forces__f": {"type": "dry_friction", "joint": "crank", "kinetic": 1}},
        "forces.f.type: expected a known type, found 'dry_friction'; write it under contacts",
    ),
    (
        {"constraints__c": {}},
        f"constraints.c.type: expected a known type, found nothing; add the key 'type'; known: {KNOWN_CONSTRAINTS}",
    ),
    (
        {"constraints__c": {**DISTANCE, "lenght": 1}},
        "constraints.c.lenght: expected a known key, found 'lenght'; did you mean 'length'?",
    ),
    (
        {"constraints__c": {"type": "distance", **ENDS}},
        "constraints.c.length: expected a value, found nothing; add the key 'length'",
    ),
    (
        {"constraints__c": {**DISTANCE, "length": "1-1"}},
        "constraints.c.length: expected a length greater than 0, found 0; or use coincident_points",
    ),
    (
        {"constraints__c": {**DISTANCE, "length": {"times": [0, 1], "values": [1, -1]}}},
        "constraints.c.length: expected a length greater than 0, found -1; or use coincident_points",
    ),
    (
        {"constraints__c": {**DISTANCE, "body_b": "world"}},
        "constraints.c.body_b: expected two different bodies, found 'world' twice; choose another body",
    ),
    (
        {"constraints__c": {**DISTANCE, "body_b": "rodd"}},
        "constraints.c.body_b: expected a body or world, found 'rodd'; did you mean 'rod'?",
    ),
    (
        {"constraints__c": {**DISTANCE, "point_b": "tipp"}},
        "constraints.c.point_b: expected 3 numbers or a point of 'rod', found 'tipp'; did you mean 'tip'?",
    ),
    (
        {"constraints__c": {"type": "coincident_points", **ENDS, "point_a": [0, 0]}},
        "constraints.c.point_a: expected 3 numbers or the name of a point, found [0, 0]; write for example [0, 0, 1]",
    ),
    (
        {"constraints__c": {"type": "coincident_frames", **ENDS, "orientation": [1, 1, 0, 0]}},
        f"constraints.c.orientation: {UNIT} [1, 1, 0, 0] of norm 1.41421; write for example [1, 0, 0, 0]",
    ),
    (
        {"constraints__c": {"type": "point_on_line", **ENDS, "direction": [0, 0, 0]}},
        "constraints.c.direction: expected a non-zero 3-vector, found [0, 0, 0]; write for example [0, 0, 1]",
    ),
    (
        {"constraints__c": {"type": "point_on_plane", **ENDS, "normal": [0, 0, 0]}},
        "constraints.c.normal: expected a non-zero 3-vector, found [0, 0, 0]; write for example [0, 0, 1]",
    ),
    (
        {"constraints__c": {**CURVE, "body_b": "world", "point_b": [0, 0, 0]}},
        "constraints.c.body_b: expected two different bodies, found 'world' twice; choose another body",
    ),
    (
        {"constraints__c": {**CURVE, "curve": ["s", 0]}},
        "constraints.c.curve: expected 3 components, each a number or an expression of s, found ['s', 0]; "
        "write for example [cos(s), s, 0]",
    ),
    (
        {"constraints__c": {**CURVE, "curve": ["s", "t", 0]}},
        "constraints.c.curve.1: expected a parameter or a constant, found 't' in 't'; "
        "a curve depends on its parameter s alone, not on the time t",
    ),
    (
        {"constraints__c": {**CURVE, "curve": [1, "length", 0]}},
        "constraints.c.curve: expected a curve that depends on its parameter s, found [1, 2, 0]; "
        "write for example [cos(s), sin(s), 0], or use coincident_points",
    ),
    (
        {"constraints__c": {**CURVE, "curve": [{"times": [0, 1], "values": [0, 1]}, 0, 0]}},
        "constraints.c.curve.0: expected a number or an expression, found a mapping with the keys times, values",
    ),
    (
        {"constraints__c": {**CURVE, "curve": ["s", "1/(s - length)", 0], "start": 2}},
        "constraints.c.curve.1: expected a curve around its start, s = 2, found (1.0 / (s - 2.0)) without a finite value "
        "there; choose another start",
    ),
    (
        {"constraints__c": {**CURVE, "curve": ["sqrt(s)", 0, 0]}},
        "constraints.c.curve.0: expected a curve around its start, s = 0, found sqrt(s) without a finite value there; "
        "choose another start",
    ),
    (
        {"constraints__c": {**CURVE, "start": "s"}},
        "constraints.c.start: expected a parameter or a constant, found 's' in 's'; "
        "only curves may depend on a parameter s",
    ),
    (
        {"constraints__c": {**GEAR, "joint_b": "crank"}},
        "constraints.c.joint_b: expected two different coordinates, found 'crank.angle' twice; choose another joint",
    ),
    (
        {"constraints__c": {**GEAR, "ratio": 0, "joint_b": "slide"}, "joints__slide": SLIDE},
        "constraints.c.ratio: expected a ratio other than 0, found 0; "
        "to prescribe the second coordinate use prescribed_coordinate",
    ),
    (
        {"constraints__c": {**GEAR, "joint_b": "hub", "coordinate_b": "qx"}},
        "constraints.c.coordinate_b: expected an angle or a displacement, found the quaternion of joint 'hub'; "
        "give the joint Euler coordinates, as coordinates: xyz",
    ),
    (
        {"constraints__c": {**GEAR, "joint_b": "hub"}},
        "constraints.c.coordinate_b: expected one of the coordinates qw, qx, qy, qz of joint 'hub', found nothing; "
        "name one",
    ),
    (
        {
            "constraints__c": {**GEAR, "joint_a": "hub", "joint_b": "crank"},
            "joints__hub": {"type": "weld", "parent": "rod", "child": "top"},
        },
        "constraints.c.joint_a: expected a joint that moves, found 'hub', a weld",
    ),
    (
        {"constraints__c": {**GEAR, "joint_a": "crnk", "joint_b": "crank"}},
        "constraints.c.joint_a: expected a joint, found 'crnk'; did you mean 'crank'?",
    ),
    (
        {"constraints__c": {**CRANK, "coordinate": "angel"}},
        "constraints.c.coordinate: expected a coordinate of joint 'crank', found 'angel'; did you mean 'angle'?",
    ),
    (
        {"constraints__c": {**CRANK, "value": "s"}},
        "constraints.c.value: expected a parameter or a constant, found 's' in 's'; "
        "only curves may depend on a parameter s",
    ),
    (
        {"constraints": {"a": CRANK, "b": {**CRANK, "coordinate": "angle"}}},
        "constraints.b: expected one constraint that prescribes it, found the coordinate 'crank.angle', which 'a' "
        "prescribes already; remove one of them",
    ),
    (
        {"constraints__crank": CRANK},
        "constraints.crank: expected a name that no joint has, found 'crank', a joint; rename one of them",
    ),
    (
        {"constraints__c": {**POINT, "body": "world", "point": [0, 0, 0]}},
        "constraints.c.body: expected a body, found 'world'; known: rod, top",
    ),
    (
        {"constraints__c": {**POINT, "position": [0, 0]}},
        "constraints.c.position: expected 3 components, each a number, an expression of t or a table, found [0, 0]; "
        "write for example [0, 0, 1]",
    ),
    (
        {"constraints": {"a": POINT, "b": {**POINT, "point": [0, 0, -2], "position": [0, 0, 0]}}},
        "constraints.b: expected one constraint that prescribes it, found the point [0, 0, -2] of 'rod', which 'a' "
        "prescribes already; remove one of them",
    ),
]


@pytest.mark.parametrize(("changes", "message"), MESSAGES, ids=[message[:50] for _, message in MESSAGES])
def test_messages(changes, message):
    with pytest.raises(ModelError) as caught:
        mm.Model(**changed(**changes))
    assert str(caught.value) == message


def test_forces_on_coordinates_that_are_no_quaternion():
    joint = {"type": "free", "parent": "world", "child": "rod"}
    model = mm.Model(**changed(joints__crank=joint, forces__f={**ON_HUB, "joint": "crank", "coordinate": "z"}))
    assert model.resolved().forces["f"].coordinate == "z"


def test_what_is_prescribed_once():
    joint = {"type": "free", "parent": "world", "child": "rod"}
    x, y = ({**CRANK, "coordinate": coordinate} for coordinate in "xy")
    constraints = {"x": x, "y": y, "tip": POINT, "origin": {**POINT, "point": [0, 0, 0]}}
    assert len(mm.Model(**changed(joints__crank=joint, constraints=constraints)).constraints) == 4


def test_several_problems():
    with pytest.raises(ModelError) as caught:
        mm.Model(**changed(bodies__rod__mass="x", gravity=["y", 0, "z"]))
    assert str(caught.value).startswith("gravity.0: expected a parameter or a constant, found 'y'")
    assert str(caught.value).endswith("(and 2 more)")


def test_errors_of_single_elements():
    with pytest.raises(ModelError) as caught:
        mm.Revolute(parent="world", child="a", axis=(0, 0), posision=(0, 0, 0))
    assert str(caught.value) == (
        "posision: expected a known key, found 'posision'; did you mean 'position'? (and 1 more)"
    )


@pytest.mark.parametrize(
    ("joint", "names", "units"),
    [
        (mm.Weld(parent="a", child="b"), (), ()),
        (mm.Revolute(parent="a", child="b", axis=(1, 0, 0)), ("angle",), ("rad",)),
        (mm.Prismatic(parent="a", child="b", axis=(1, 0, 0)), ("displacement",), ("m",)),
        (mm.Screw(parent="a", child="b", axis=(1, 0, 0), pitch=1), ("angle",), ("rad",)),
        (mm.Universal(parent="a", child="b", axes=((1, 0, 0), (0, 1, 0))), ("angle1", "angle2"), ("rad", "rad")),
        (mm.Cylindrical(parent="a", child="b", axis=(1, 0, 0)), ("angle", "displacement"), ("rad", "m")),
        (mm.Planar(parent="a", child="b", normal=(1, 0, 0)), ("x", "y", "angle"), ("m", "m", "rad")),
        (mm.Ball(parent="a", child="b"), ("qw", "qx", "qy", "qz"), ("-",) * 4),
        (mm.Ball(parent="a", child="b", coordinates="zxz"), ("phi", "theta", "psi"), ("rad",) * 3),
        (mm.Free(parent="a", child="b"), ("x", "y", "z", "qw", "qx", "qy", "qz"), ("m",) * 3 + ("-",) * 4),
        (
            mm.Free(parent="a", child="b", coordinates="xyz"),
            ("x", "y", "z", "phi", "theta", "psi"),
            ("m",) * 3 + ("rad",) * 3,
        ),
    ],
    ids=lambda value: getattr(value, "type", None),
)
def test_coordinates(joint, names, units):
    assert (joint.coordinate_names, joint.coordinate_units) == (names, units)


def test_resolved():
    model = mm.Model(
        **changed(
            gravity=[0, 0, "-9.81*length"],
            joints__crank__axis=[0, "3*length", 0],
            joints__crank__orientation=[0, 0, "90 deg"],
            initial__crank={"position": "60 deg"},
            initial__hub={"position": [1, 0, 0, 1e-7], "velocity": ["length", 0, 0]},
            forces__push={
                **FORCE,
                "point": "tip",
                "vector": ["length*t", "2*length", {"times": [0, "length"], "values": [0, 1]}],
            },
            forces__torsion={**ON_HUB, "joint": "crank"},
            bodies__top__point_masses={"bob": {"mass": 1, "position": [1, 0, 0]}},
        )
    )
    resolved = model.resolved()
    assert resolved.gravity == (0.0, 0.0, -19.62)
    assert resolved.joints["crank"].axis == (0.0, 1.0, 0.0)
    assert resolved.joints["crank"].orientation == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)))
    assert resolved.joints["hub"].orientation == (1.0, 0.0, 0.0, 0.0)
    assert resolved.bodies["rod"].inertia == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    assert resolved.initial["crank"].position == pytest.approx((math.pi / 3,))
    assert math.hypot(*resolved.initial["hub"].position) == pytest.approx(1, abs=1e-15)
    assert resolved.initial["hub"].velocity == (2.0, 0.0, 0.0)
    assert resolved.forces["push"].point == (0.0, 0.0, -2.0)
    assert resolved.forces["push"].vector == (
        (2.0, "t", "*"),
        4.0,
        mm.Table(times=(0, 2), values=(0, 1), interpolation="smooth"),
    )
    assert resolved.forces["torsion"].coordinate == "angle"
    assert resolved.resolved() is resolved
    again = mm.Model(**{key: getattr(resolved, key) for key in mm.Model.model_fields})
    assert again.resolved() == resolved
    assert model.joints["crank"].axis == (0.0, "3*length", 0.0)


def test_resolved_constraints():
    table = {"times": [0, 1], "values": [1, "length"]}
    model = mm.Model(
        **changed(
            joints__slide=SLIDE,
            constraints={
                "rod": {**DISTANCE, "point_b": "tip", "length": "length + t"},
                "rope": {**DISTANCE, "length": table},
                "frames": {"type": "coincident_frames", **ENDS, "orientation": [0, 0, "180 deg"]},
                "line": {"type": "point_on_line", **ENDS, "direction": [0, 0, "-length"]},
                "plane": {"type": "point_on_plane", **ENDS, "normal": ["length", 0, 0]},
                "curve": {**CURVE, "curve": ["length*s", "s/s", "length"], "start": "length"},
                "gear": {**GEAR, "ratio": "1/length"},
                "motor": {**CRANK, "value": "length*t"},
                "hand": {**POINT, "position": ["t", table, "length"]},
            },
        )
    )
    found = model.resolved().constraints
    assert (found["rod"].point_b, found["rod"].length) == ((0.0, 0.0, -2.0), (2.0, "t", "+"))
    assert found["rope"].length == mm.Table(times=(0, 1), values=(1, 2), interpolation="spline")
    assert found["frames"].orientation == pytest.approx((0, 0, 0, 1), abs=1e-15)
    assert (found["line"].direction, found["plane"].normal) == ((0.0, 0.0, -1.0), (1.0, 0.0, 0.0))
    assert found["curve"].curve == ((2.0, "t", "*"), ("t", "t", "/"), 2.0)
    assert (found["curve"].body_a, found["curve"].start) == ("world", 2.0)
    assert (found["gear"].coordinate_a, found["gear"].coordinate_b) == ("angle", "displacement")
    assert (found["gear"].ratio, found["gear"].offset) == (0.5, 0.0)
    assert (found["motor"].coordinate, found["motor"].value) == ("angle", (2.0, "t", "*"))
    assert found["hand"].position == (("t",), mm.Table(times=(0, 1), values=(1, 2), interpolation="spline"), 2.0)
    again = mm.Model(**dict(model.resolved()))
    assert again.resolved() == model.resolved()


def test_defaults():
    model = mm.Model(**changed(initial__crank={"position": 1}))
    assert (model.formulation, model.simulation.project, model.initial["crank"].hold) == ("tree", True, False)
    assert model.constraints == {}
    assert model.joints["crank"].cut is None


@pytest.mark.parametrize("kind", mechanisms.KINDS)
def test_constraints_of_a_joint_are_the_freedoms_it_takes(kind):
    joint = mechanisms.random_joint(np.random.default_rng(1), kind, "world", "b")
    names = joint.coordinate_names
    assert joint.constraint_count == 6 - len(names) + ("qw" in names)
    assert len(set(names)) == len(names) == len(joint.coordinate_units)


def test_x_axis_of_a_planar_joint():
    def x_axis(**arguments):
        joint = {"type": "planar", "parent": "rod", "child": "top", **arguments}
        return mm.Model(**changed(joints__hub=joint)).resolved().joints["hub"].x_axis

    assert x_axis(normal=[0, 0, 2]) == (1.0, 0.0, 0.0)
    assert x_axis(normal=[2, 0, 0]) == (0.0, 1.0, 0.0)
    assert x_axis(normal=[0, 0, 1], x_axis=[0, 3, 5]) == (0.0, 1.0, 0.0)


def test_with_parameters():
    model = mm.Model(**BASE)
    assert model.with_parameters({"length": "1 + 2"}).resolved().bodies["rod"].points["tip"] == (0.0, 0.0, -3.0)
    assert model.parameters == {"length": 2.0}
    with pytest.raises(ModelError) as caught:
        model.with_parameters({"lenght": 1})
    assert str(caught.value) == "parameters.lenght: expected a parameter, found 'lenght'; did you mean 'length'?"
    for values, message in (
        ([], "parameters: expected a mapping of names to values, found []"),
        (None, "parameters: expected a mapping of names to values, found nothing"),
        ({1: 2}, "parameters.1: expected a parameter, found 1; known: length"),
    ):
        with pytest.raises(ModelError) as caught:
            model.with_parameters(values)
        assert str(caught.value) == message
    with pytest.raises(ModelError, match="resolved model has no parameters left to change"):
        model.resolved().with_parameters({"length": 1})


def test_elements_mappings_and_arrays_are_the_same():
    made = mm.Model(
        name="test",
        parameters={"length": np.int64(2)},
        bodies={
            "rod": mm.Body(mass=np.float32(1), inertia=np.eye(3), points={"tip": (0, 0, "-length")}),
            "top": mm.Body(mass="1", inertia=(1, 1, 1)),
        },
        joints={
            "crank": mm.Revolute(parent="world", child="rod", axis=np.array([0, 0, 1])),
            "hub": mm.Ball(parent="rod", child="top"),
        },
    )
    assert made.resolved() == mm.Model(**BASE).resolved()
    assert made != mm.Model(**changed(name="other"))
    assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)


@pytest.mark.parametrize("change", [lambda each: setattr(each, "name", "x"), lambda each: delattr(each, "name")])
def test_fields_do_not_change(change):
    model = mm.Model(**BASE)
    with pytest.raises(ModelError) as caught:
        change(model)
    remedy = "make another, as by model.with_parameters(…) or model.model_copy(update=…)"
    assert str(caught.value) == f"name: expected a model as it was made, found a change of its fields; {remedy}"
    assert model == mm.Model(**BASE)
    with pytest.raises(ModelError, match=r"^mass: expected a model as it was made, found a change of its fields; "):
        next(iter(model.bodies.values())).mass = 3
    with pytest.raises(ModelError, match=r"^weight: expected a model as it was made"):
        model.weight = 3


def test_import_is_light():
    """Neither YAML, graphs, meshes nor numba are imported before they are needed."""
    import subprocess
    import sys

    code = "import sys, mbvi.model; print([m for m in ('yaml', 'networkx', 'trimesh', 'numba') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"gravitiy": (0, 0, -1)}, "update: expected fields of Model, found 'gravitiy'; did you mean 'gravity'?"),
        ({"gravity": 3}, "gravity: expected 3 numbers, found 3; write for example [0, 0, 1]"),
        (
            {"bodies": {"a": {"inerta": 2}}},
            "bodies.a.inerta: expected a known key, found 'inerta'; did you mean 'inertia'?",
        ),
        (
            {"joints": {"a": {"type": "revolut"}}},
            "joints.a.type: expected a known type, found 'revolut'; did you mean 'revolute'?",
        ),
        ({"formulation": "tre"}, "formulation: expected 'tree' or 'embedding', found 'tre'"),
        (3, "update: expected a mapping of fields to values, found 3"),
    ],
)
def test_a_copy_with_wrong_values(update, message):
    with pytest.raises(ModelError) as caught:
        mm.Model(**BASE).model_copy(update=update)
    assert str(caught.value) == message


def test_an_element_is_copied_with_values_of_its_fields():
    rod = mm.Model(**BASE).bodies["rod"]
    assert rod.model_copy(update={"inertia": [1, 2, 2.5]}).inertia == (1.0, 2.0, 2.5)
    with pytest.raises(ModelError, match="update: expected fields of Body, found 'mas'; did you mean 'mass'"):
        rod.model_copy(update={"mas": 3})
    for copying in (rod.replaced, lambda update: rod.copy(update=update)):
        with pytest.raises(ModelError, match="update: expected fields of Body, found 'mas'; did you mean 'mass'"):
            copying({"mas": 3})
    assert rod.copy(update={"mass": 3.0}).mass == 3.0


def test_a_copy_is_resolved_anew():
    model = mm.Model(**BASE)
    assert model.resolved() is model.resolved()
    heavy = model.bodies["rod"].model_copy(update={"mass": 3.0})
    copied = model.model_copy(update={"bodies": model.bodies | {"rod": heavy}})
    assert (model.resolved().bodies["rod"].mass, copied.resolved().bodies["rod"].mass) == (1.0, 3.0)
    assert model.with_parameters({"length": 5}).resolved().bodies["rod"].points["tip"] == (0.0, 0.0, -5.0)


def outcome(model):
    """The resolved model, or the message that refuses it."""
    try:
        return model.resolved()
    except ModelError as error:
        return str(error)


TIED = changed(
    parameters={"length": 2, "half": "length/2", "turn": "30 deg", "rate": 3, "unused": 1},
    joints__crank__orientation=[0, 0, "turn"],
    bodies__top__inertia=["half", "half", "half"],
    gravity=[0, 0, "-rate"],
    forces__push={**FORCE, "point": "tip", "vector": [0, "rate * sin(t)", 0]},
    initial__crank={"position": "turn"},
    simulation={"step": "rate/100"},
)


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("unused", 2.0, ["rod", "top", "crank", "hub", "push", "gravity", "initial", "simulation"]),
        ("length", 3.0, ["crank", "hub", "gravity", "initial", "simulation"]),  # the push is at a point of the rod
        ("half", 0.5, ["rod", "crank", "hub", "push", "gravity", "initial", "simulation"]),
        ("turn", 0.1, ["rod", "top", "hub", "push", "gravity", "simulation"]),
        ("rate", 4.0, ["rod", "top", "crank", "hub", "initial"]),
        ("rate", -1.0, None),
        ("length", -1.0, None),
        ("length", "60 deg", None),
        ("turn", "1 deg/s", None),
        ("turn", None, None),
    ],
)
def test_with_other_parameters_parts_that_depend_on_none_are_kept(name, value, kept):
    model = mm.Model(**TIED)
    parameters = {key: given for key, given in {**TIED["parameters"], name: value}.items() if given is not None}
    copied = model.model_copy(update={"parameters": parameters})
    try:
        anew = mm.Model(**{**TIED, "parameters": parameters}).resolved()
    except ModelError as error:
        anew = str(error)
    assert outcome(copied) == anew
    assert outcome(copied.model_copy(update={"parameters": model.parameters})) == model.resolved()
    if kept is None:
        assert isinstance(anew, str)
        return

    def parts(model):
        found = {**model.bodies, **model.joints, **model.forces}
        return found | {"gravity": model.gravity, "initial": model.initial["crank"], "simulation": model.simulation}

    before, after = parts(model.resolved()), parts(copied.resolved())
    assert [key for key in before if before[key] is after[key]] == kept


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.parameters.__setitem__("mass", 5.0),
        lambda model: model.parameters.update(mass=5.0),
        lambda model: model.parameters.__ior__({"mass": 5.0}),
        lambda model: model.bodies.pop("bob"),
        lambda model: model.model_copy(update={"initial": {}}).initial.clear(),
        lambda model: model.bodies["bob"].point_masses.setdefault("m", mm.PointMass(mass=1, position=(0, 0, 0))),
        lambda model: copy.deepcopy(model).joints.popitem(),
    ],
)
def test_entries_do_not_change(change):
    """What is resolved of a model once would not follow."""
    bob = mm.Body(mass="mass", center_of_mass=(0, 0, -1))
    joint = mm.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    model = mm.Model(name="a", parameters={"mass": 1}, bodies={"bob": bob}, joints={"j": joint})
    before = model.model_dump()
    with pytest.raises(ModelError, match=r"^expected a model as it was made, found a change of its entries; make"):
        change(model)
    assert model.model_dump() == before
    assert pickle.loads(pickle.dumps(model)) == copy.copy(model) == model


@pytest.mark.parametrize(
    ("name", "contacts"),
    [
        ("j.displacement.lower", {"j.displacement.lower": mm.DryFriction(joint="j", kinetic=1)}),
        (
            "f.friction",
            {
                "f": mm.PlaneStop(body_a="world", body_b="b", normal=(0, 0, 1), friction=0.4),
                "f.friction": mm.DryFriction(joint="j", kinetic=1),
            },
        ),
        (
            "rope.upper",
            {
                "rope": mm.DistanceStop(body_a="world", body_b="b", upper=1),
                "rope.upper": mm.PlaneStop(body_a="world", body_b="b", normal=(0, 0, 1)),
            },
        ),
    ],
)
def test_contacts_have_names_of_their_own(name, contacts):
    limits = {"displacement": mm.Limits(lower=-1, restitution=0)}
    joint = mm.Prismatic(parent="world", child="b", axis=(1, 0, 0), limits=limits)
    with pytest.raises(ModelError, match=rf"contacts\.{name}: expected a name of its own"):
        mm.Model(name="x", bodies={"b": mm.Body(mass=1)}, joints={"j": joint}, contacts=contacts)


def test_all_wrong_contacts_count_at_once():
    gap = mm.ExpressionStop(gap="x('nothing')")
    contacts = {"wall": gap, "rubbing": mm.DryFriction(joint="j"), "other": gap}
    joint = mm.Prismatic(parent="world", child="b", axis=(1, 0, 0))
    with pytest.raises(ModelError) as caught:
        mm.Model(name="x", bodies={"b": mm.Body(mass=1)}, joints={"j": joint}, contacts=contacts)
    assert str(caught.value).startswith("contacts.wall.gap: ") and str(caught.value).endswith("(and 2 more)")
