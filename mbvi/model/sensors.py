"""Sensors: what is measured of a state, by name, with noise, and at a period of its own.

What a sensor measures depends on the state and the time alone. Sample j is that at the time j T, for a period T, and its noise
depends on the seed, the name of the sensor and j. So a run that is repeated, or resumed, has the same noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from mbvi.model.base import Element
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import CoordinateRef, JointRef, Kind, OptionalScalar, Scalar
from mbvi.recording import plain

__all__ = [
    "Accelerometer",
    "Encoder",
    "ExpressionSensor",
    "ForceSensor",
    "Gyroscope",
    "PositionSensor",
    "TorqueSensor",
]
LARGEST_SEED = 2**32


class Sensing(Element):
    """The common part of sensors.

    Parameters
    ----------
    noise : number
        Standard deviation of the noise, of each component; it is normal, and white.
    seed : number
        A whole number of at least 0, from which the noise follows.
    period : number
        Time from one sample to the next [s]; by default that of the stored states, or the step where a controller asks.
    """

    type: str
    noise: Scalar = 0.0
    seed: Scalar = 0.0
    period: OptionalScalar = None

    def problems(self) -> Iterator[Problem]:
        """Noise less than 0, a seed that is none, and a period that is no time."""
        noise, seed = plain(self.noise), plain(self.seed)
        if noise < 0:
            yield Problem(("noise",), wrong("a number of at least 0", show(noise), "change its sign"))
        if not (0 <= seed < LARGEST_SEED and seed == round(seed)):
            yield Problem(("seed",), wrong("a whole number of at least 0", show(seed), "write for example 1"))
        if self.period is not None and not plain(self.period) > 0:
            remedy = "write for example 0.01 [s], or leave it out"
            yield Problem(("period",), wrong("a time greater than 0", show(self.period), remedy))


class Encoder(Sensing):
    """The coordinate of a joint.

    Parameters
    ----------
    joint : str
        The joint.
    coordinate : str
        Short name of the coordinate, as angle; may be left out where the joint has only one.
    noise : number
        Standard deviation of the noise, which is normal and white [rad or m].
    """

    type: Literal["encoder"] = "encoder"
    joint: JointRef
    coordinate: CoordinateRef = None
    noise: Annotated[Scalar, Kind("numbers", unit="coordinate")] = 0.0


class OnFrame(Sensing):
    """The common part of sensors that are fixed to a frame.

    Parameters
    ----------
    frame : str
        A body, or a frame of it as BODY.FRAME.
    """

    frame: str


class Gyroscope(OnFrame):
    """The angular velocity of a frame, along its own axes.

    Parameters
    ----------
    noise : number
        Standard deviation of the noise of each component, which is normal and white [rad/s].
    """

    type: Literal["gyroscope"] = "gyroscope"
    noise: Annotated[Scalar, Kind("numbers", unit="rad/s")] = 0.0


class Accelerometer(OnFrame):
    """The specific force at the origin of a frame, its acceleration less that of gravity, a − g, along its own axes.

    Parameters
    ----------
    noise : number
        Standard deviation of the noise of each component, which is normal and white [m/s²].
    """

    type: Literal["accelerometer"] = "accelerometer"


class PositionSensor(OnFrame):
    """The place of the origin of a frame in the world.

    Parameters
    ----------
    noise : number
        Standard deviation of the noise of each component, which is normal and white [m].
    """

    type: Literal["position_sensor"] = "position_sensor"


class InJoint(Sensing):
    """The common part of sensors within a joint.

    Parameters
    ----------
    joint : str
        A joint that is not free.
    """

    joint: JointRef


class ForceSensor(InJoint):
    """The force by which a joint acts on its child, along the axes of the child's frame.

    Parameters
    ----------
    noise : number
        Standard deviation of the noise of each component, which is normal and white [N].
    """

    type: Literal["force_sensor"] = "force_sensor"


class TorqueSensor(InJoint):
    """The torque by which a joint acts on its child, about its place on the parent, along the axes of the child's frame.

    Drives and springs on its coordinates are contained.

    Parameters
    ----------
    noise : number
        Standard deviation of the noise of each component, which is normal and white [N m].
    """

    type: Literal["torque_sensor"] = "torque_sensor"


class ExpressionSensor(Sensing):
    """An expression of coordinates, rates, places and the time.

    Parameters
    ----------
    expression : str
        With the parameters of the model, and ``q('JOINT')``, ``v('JOINT', 'x')``, ``x('BODY')``, ``y('BODY.FRAME')``, z and t.
    """

    type: Literal["expression_sensor"] = "expression_sensor"
    expression: str


AnySensor = Annotated[
    Encoder | Gyroscope | Accelerometer | PositionSensor | ForceSensor | TorqueSensor | ExpressionSensor,
    Field(discriminator="type"),
]
