"""What the user describes: elements, expressions, model files, shapes and the graph of bodies and joints."""

from mbvi.model import constraints, contacts, forces, joints, sensors, shapes
from mbvi.model.attach import attach
from mbvi.model.bodies import Body, Frame, PointMass
from mbvi.model.constraints import *
from mbvi.model.contacts import *
from mbvi.model.description import Initial, Simulation
from mbvi.model.expressions import evaluate, postfix
from mbvi.model.fields import Table
from mbvi.model.file import from_yaml, load, save, schema, to_yaml
from mbvi.model.forces import *
from mbvi.model.graph import describe_tree, is_cut, plan
from mbvi.model.inputs import read_inputs
from mbvi.model.joints import *
from mbvi.model.limits import Limits
from mbvi.model.mass_properties import MassProperties, mass_properties
from mbvi.model.model import Model
from mbvi.model.sensors import *
from mbvi.model.shapes import *

__all__ = [
    "Body",
    "Frame",
    "Initial",
    "Limits",
    "MassProperties",
    "Model",
    "PointMass",
    "Simulation",
    "Table",
    "attach",
    "describe_tree",
    "evaluate",
    "from_yaml",
    "is_cut",
    "load",
    "mass_properties",
    "plan",
    "postfix",
    "read_inputs",
    "save",
    "schema",
    "to_yaml",
    *constraints.__all__,
    *contacts.__all__,
    *forces.__all__,
    *joints.__all__,
    *sensors.__all__,
    *shapes.__all__,
]
