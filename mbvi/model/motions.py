"""Elementary motions. A joint is a sequence of them, each in the frame that those before it have moved.

turn       rotation by an angle about an axis
slide      translation by a displacement along an axis
screw      rotation about an axis with a translation along it in proportion
quaternion any rotation, by a unit quaternion
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
EULER_ANGLES = ("phi", "theta", "psi")


class ElementaryMotion(NamedTuple):
    """One elementary motion.

    kind       turn, slide, screw or quaternion
    names      short names of its coordinates: one, or the four of a quaternion
    axis       (3,)  direction in the joint frame, a unit vector once the model is in numbers; of a quaternion none
    pitch      translation along the axis per coordinate [m/rad], 1 of a slide
    """

    kind: Literal["turn", "slide", "screw", "quaternion"]
    names: tuple[str, ...]
    axis: Any = Z
    pitch: Any = 0.0

    @property
    def unit(self) -> str:
        """Unit of its coordinates; "-" for the components of a quaternion."""
        return {"turn": "rad", "slide": "m", "screw": "rad", "quaternion": "-"}[self.kind]

    @property
    def freedoms(self) -> int:
        """The number of independent ways in which it moves."""
        return 3 if self.kind == "quaternion" else 1


def turn(name: str, axis: Any) -> ElementaryMotion:
    """Rotation about an axis by an angle of that name."""
    return ElementaryMotion("turn", (name,), axis)


def slide(name: str, axis: Any) -> ElementaryMotion:
    """Translation along an axis by a displacement of that name."""
    return ElementaryMotion("slide", (name,), axis, 1.0)


def screw(name: str, axis: Any, pitch: Any) -> ElementaryMotion:
    """Rotation about an axis by an angle of that name, and translation along it by the pitch times the angle."""
    return ElementaryMotion("screw", (name,), axis, pitch)


def rotation(coordinates: str) -> list[ElementaryMotion]:
    """Any rotation: by a unit quaternion, or by three angles about axes such as zxz of the frame already turned."""
    if coordinates == "quaternion":
        return [ElementaryMotion("quaternion", ("qw", "qx", "qy", "qz"))]
    axes = {"x": X, "y": Y, "z": Z}
    return [turn(name, axes[letter]) for name, letter in zip(EULER_ANGLES, coordinates, strict=True)]
