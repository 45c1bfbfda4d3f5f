"""The systems that are measured: chains, trees and loops of n bodies, and the problems of the work–precision diagrams."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import mbvi
from mbvi.exact import FreeBody, LagrangeTop
from tests.folders import load


def chain(n: int) -> mbvi.Model:
    """A chain of n rods of 0.2 m and 1 kg about y, released from horizontal."""
    model = load("chain_10")
    rod, hinge = model.bodies["rod1"], model.joints["hinge1"]
    bodies = {f"rod{i}": rod for i in range(1, n + 1)}
    joints = {"hinge1": hinge}
    for i in range(2, n + 1):
        joints[f"hinge{i}"] = model.joints["hinge2"].model_copy(update={"parent": f"rod{i - 1}", "child": f"rod{i}"})
    return mbvi.Model(name=f"chain of {n}", parameters=model.parameters, bodies=bodies, joints=joints)


def hung_chain(n: int, joint: str) -> mbvi.Model:
    """A chain of n links of 0.1 m and 0.1 kg, on revolute, universal or ball joints, released from 1.2 rad to the vertical."""
    return _links(joint, [i - 1 for i in range(n)])


def branches(n: int) -> mbvi.Model:
    """A tree of n links of 0.1 m and 0.1 kg on universal joints, two at the end of each, released from 1.2 rad."""
    order: list[int] = []  # each branch to its end before the next, as MuJoCo counts

    def walk(i: int) -> None:
        if i < n:
            order.append(i)
            walk(2 * i + 1)
            walk(2 * i + 2)

    walk(0)
    return _links("universal", [order.index((i - 1) // 2) if i else -1 for i in order])


def _links(joint: str, parents: list[int]) -> mbvi.Model:
    """Links that hang on each other's ends."""
    link = mbvi.Body(mass=0.1, center_of_mass=(0, 0, -0.05), inertia=(1e-4, 1e-4, 2e-5))
    kind, start = {
        "revolute": ({"type": "revolute", "axis": (0, 1, 0)}, 1.2),
        "universal": ({"type": "universal", "axes": ((0, 1, 0), (1, 0, 0))}, (1.2, 0.3)),
        "ball": ({"type": "ball"}, (np.cos(0.6), 0.8 * np.sin(0.6), 0.6 * np.sin(0.6), 0)),
    }[joint]
    joints = {}
    for i, parent in enumerate(parents):
        above = {"parent": f"link{parent}", "position": (0, 0, -0.1)} if parent >= 0 else {"parent": "world"}
        joints[f"joint{i}"] = kind | above | {"child": f"link{i}"}
    return mbvi.Model(
        name=f"{len(parents)} links",
        bodies={f"link{i}": link for i in range(len(parents))},
        joints=joints,
        initial={"joint0": mbvi.Initial(position=start)},
    )


def four_bars(n: int) -> mbvi.Model:
    """n four-bars side by side (IFToMM benchmark A02): n + 1 cranks that stand on the ground, tied by n couplers."""
    rod = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12))
    axis, upright = (0, 0, 1), (0, 0, np.pi / 2)
    joints = {
        f"A{i}": mbvi.Revolute(parent="world", child=f"crank{i}", axis=axis, position=(i, 0, 0), orientation=upright)
        for i in range(n + 1)
    }
    for i in range(1, n + 1):
        turned = (0, 0, -np.pi / 2)
        joints[f"B{i}"] = mbvi.Revolute(
            parent=f"crank{i - 1}", child=f"coupler{i}", axis=axis, position=(1, 0, 0), orientation=turned
        )
        joints[f"C{i}"] = mbvi.Revolute(
            parent=f"coupler{i}",
            child=f"crank{i}",
            axis=axis,
            position=(1, 0, 0),
            offset=(1, 0, 0),
            orientation=upright,
        )
    names = [f"crank{i}" for i in range(n + 1)] + [f"coupler{i}" for i in range(1, n + 1)]
    initial = {f"A{i}": mbvi.Initial(velocity=-1) for i in range(n + 1)}
    initial |= {f"B{i}": mbvi.Initial(velocity=1) for i in range(1, n + 1)}
    return mbvi.Model(
        name=f"{n} four-bars", gravity=(0, -9.81, 0), bodies=dict.fromkeys(names, rod), joints=joints, initial=initial
    )


class Problem(NamedTuple):
    """A model, the time over which its motion is compared [s], the formulations that are run, its closed form, if any, and the
    same system with a quaternion joint, if that is run besides.
    """

    name: str
    model: mbvi.Model
    duration: float
    formulations: tuple[str, ...] = ("tree",)
    exact: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    quaternion: mbvi.Model | None = None


def lagrange_top_quaternion() -> mbvi.Model:
    """The motion of the model lagrange_top on a ball joint, whose start is turned by 60° about x."""
    model, tilt = load("lagrange_top"), np.pi / 3
    angular_velocity = (0, 9.2 * np.sin(tilt), 252 + 9.2 * np.cos(tilt))
    return mbvi.Model(
        name="Lagrange top on a ball joint",
        gravity=model.gravity,
        parameters=model.parameters,
        bodies=model.bodies,
        joints={"contact": mbvi.Ball(parent="world", child="top")},
        initial={
            "contact": mbvi.Initial(position=(np.cos(tilt / 2), np.sin(tilt / 2), 0, 0), velocity=angular_velocity)
        },
    )


def problems() -> list[Problem]:
    """The problems of the work–precision diagrams."""
    top = LagrangeTop(0.002329969592394382, 0.000125, 0.1 * 9.81 * 0.15, (0.0, np.pi / 3, 0.0), (9.2, 0.0, 252.0))
    return [
        Problem("double pendulum", load("double_pendulum"), 10.0),
        Problem("top", load("lagrange_top"), 10 * top.period, exact=top, quaternion=lagrange_top_quaternion()),
        Problem("double spherical pendulum", load("double_spherical_pendulum"), 10.0, ("tree", "embedding")),
        Problem("free rigid body", load("free_rigid_body"), 30.0, exact=FreeBody((5.0, 10.0, 13.0), (0.01, 2.0, 0.0))),
        Problem("chain of 5", chain(5), 1.0),
        Problem("chain of 10", chain(10), 1.0),
        Problem("four-bar", load("four_bar"), 2.0),
    ]
