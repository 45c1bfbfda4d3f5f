"""The fields of a model, those for initial values and for what to run among them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StrictBool

import mbvi
from mbvi.errors import ModelError
from mbvi.model.base import Element
from mbvi.model.bodies import Body
from mbvi.model.constraints import AnyConstraint
from mbvi.model.contacts import AnyContact
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import BodyName, Coordinates, Kind, Name, ParameterName, Scalar, Text, Title, Vector
from mbvi.model.forces import AnyForce
from mbvi.model.joints import AnyJoint
from mbvi.model.sensors import AnySensor
from mbvi.schemes.galerkin import TABLEAUX

MAX_STEPS = 1e15


class Initial(Element):
    """Initial coordinates and rates of a joint, in the order of its coordinates; a number will do for one coordinate.

    Parameters
    ----------
    position : number or list
        The coordinates; zero if left out (the identity, for a quaternion). Of a point mass on a free joint x, y and z
        will do [rad, m, -].
    velocity : number or list
        Their rates; zero if left out. For a quaternion, its 4 rates or the 3 components of the angular velocity along
        the axes of the child. Of a point mass on a free joint those of x, y and z will do [rad/s, m/s, 1/s].
    hold : bool
        Whether to keep these coordinates as given when the start is moved onto the constraints.
    """

    position: Annotated[Coordinates, Kind("numbers", unit="position")] = None
    velocity: Annotated[Coordinates, Kind("numbers", unit="velocity")] = None
    hold: StrictBool = False


def count_steps(ratio: float) -> int:
    """The least number of steps, at least one, that reach a duration of `ratio` steps, a whole number but for rounding or not."""
    nearest = round(ratio)
    return max(1, nearest if abs(nearest - ratio) <= 1e-12 * ratio else math.ceil(ratio))


class Simulation(Element):
    """What is run if nothing else is asked for.

    Parameters
    ----------
    scheme : str
        Name of the integration scheme.
    step : number
        Step size [s].
    duration : number
        Length of the simulated time [s].
    project : bool
        Whether a start that violates the constraints is moved onto them; if not, it is an error.
    """

    scheme: str = "simpson"
    step: Scalar = 0.01
    duration: Scalar = 10.0
    project: StrictBool = True

    def problems(self) -> Iterator[Problem]:
        """A scheme that there is, positive times, and not too many steps."""
        if self.scheme not in TABLEAUX:
            try:
                mbvi.catalog.find_scheme(self.scheme)  # imports the compiler, with what runs the other schemes
            except ModelError as error:
                yield Problem(("scheme",), str(error).removeprefix("scheme: "))
        step, duration = float(self.step), float(self.duration)
        for key, value, example in (("step", step, "0.01"), ("duration", duration, "10")):
            if value <= 0:
                yield Problem((key,), wrong("a time greater than 0", show(value), f"write for example {example} [s]"))
        if min(step, duration) > 0 and duration / step > MAX_STEPS:
            found = f"steps of {step:g} s for {duration:g} s"
            yield Problem(("step",), wrong("at most 1e15 steps", found, "a larger step or a shorter duration"))


class Description(Element):
    """The fields of a Model, which says what they are: bodies, joints, forces and constraints, initial values, and what to run.

    What looks at a model, as its graph or its tables, takes a Description, so that Model, which uses it all, stands above.
    """

    name: Title
    description: Text = ""
    formulation: Literal["tree", "embedding"] = "tree"
    parameters: dict[ParameterName, Scalar] = Field(default={})
    gravity: Vector = (0.0, 0.0, -9.81)
    loop_tolerance: Scalar = 1e-6
    bodies: dict[BodyName, Body]
    joints: dict[Name, AnyJoint] = Field(default={})
    forces: dict[Name, AnyForce] = Field(default={})
    constraints: dict[Name, AnyConstraint] = Field(default={})
    contacts: dict[Name, AnyContact] = Field(default={})
    impacts: Literal["rounds", "simultaneous"] = "rounds"
    sensors: dict[Name, AnySensor] = Field(default={})
    initial: dict[str, Initial] = Field(default={})
    simulation: Simulation = Simulation()
