"""What the user describes: elements, expressions, model files, shapes and the graph of bodies and joints."""

from mbvi.model.bodies import Body, Box, Capsule, Cone, Cylinder, Mesh, PointMass, Sphere
from mbvi.model.constraints import (
    CoincidentFrames,
    CoincidentPoints,
    Coupling,
    Distance,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PrescribedCoordinate,
    PrescribedPoint,
)
from mbvi.model.description import Initial, Simulation
from mbvi.model.expressions import evaluate, postfix
from mbvi.model.fields import Table
from mbvi.model.file import from_yaml, load, save, schema, to_yaml
from mbvi.model.forces import Damper, Force, JointDamper, JointForce, JointSpring, Spring, Torque
from mbvi.model.graph import describe_tree, is_cut, plan
from mbvi.model.joints import Ball, Cylindrical, Free, Joint, Planar, Prismatic, Revolute, Screw, Universal, Weld
from mbvi.model.mass_properties import MassProperties, mass_properties
from mbvi.model.model import Model

__all__ = [
    "Ball",
    "Body",
    "Box",
    "Capsule",
    "CoincidentFrames",
    "CoincidentPoints",
    "Cone",
    "Coupling",
    "Cylinder",
    "Cylindrical",
    "Damper",
    "Distance",
    "Force",
    "Free",
    "Initial",
    "Joint",
    "JointDamper",
    "JointForce",
    "JointSpring",
    "MassProperties",
    "Mesh",
    "Model",
    "Planar",
    "PointMass",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PrescribedCoordinate",
    "PrescribedPoint",
    "Prismatic",
    "Revolute",
    "Screw",
    "Simulation",
    "Sphere",
    "Spring",
    "Table",
    "Torque",
    "Universal",
    "Weld",
    "describe_tree",
    "evaluate",
    "from_yaml",
    "is_cut",
    "load",
    "mass_properties",
    "plan",
    "postfix",
    "save",
    "schema",
    "to_yaml",
]
