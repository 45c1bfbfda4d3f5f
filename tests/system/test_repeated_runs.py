"""Runs of one system do not depend on those before, nor on those beside: large loops that start in a singular configuration."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mbvi
from mbvi.system.projection import LARGE


def ladder(count):
    """Two chains of rods with rungs between them on hinges about y, all in line along x at the start."""
    rod = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    bodies, joints = {}, {}

    def hinge(parent, child, x, offset=0.0):
        joints[f"{parent} {child}"] = mbvi.Revolute(
            parent=parent, child=child, axis=(0, 1, 0), position=(x, 0, 0), offset=(offset, 0, 0)
        )

    for i in range(count):
        bodies[f"b{i}"] = rod
        hinge(f"b{i - 2}" if i > 1 else "world", f"b{i}", min(i, 1))
        if i % 2:
            bodies[f"rung{i}"] = rod
            hinge(f"b{i - 1}", f"rung{i}", 0.5)
            hinge(f"rung{i}", f"b{i}", 1.0, 0.5)
    return mbvi.Model(name="ladder", bodies=bodies, joints=joints)


@pytest.fixture(scope="module")
def system():
    found = mbvi.assemble(ladder(28), "embedding")
    assert found.dimension + found.constraint_count > LARGE
    return found


def places(system):
    return mbvi.simulate(system, "midpoint", step=1e-2, duration=0.1).q


def test_the_same_run_again(system):
    first = places(system)
    for _ in range(2):
        np.testing.assert_array_equal(places(system), first)


def test_runs_in_several_threads(system):
    first = places(system)
    with ThreadPoolExecutor(3) as threads:
        for found in threads.map(places, [system] * 6):
            np.testing.assert_array_equal(found, first)


def test_reactions_asked_for_again():
    """Of the joints of a tree, by the embedding, where more rows than coordinates once were counted as independent."""
    trajectory = mbvi.simulate(ladder(28), "midpoint", step=1e-3, duration=5e-3)
    force, torque = trajectory.reaction("b0 b2")
    for _ in range(2):
        again = trajectory.reaction("b0 b2")
        np.testing.assert_array_equal(again[0], force)
        np.testing.assert_array_equal(again[1], torque)
    assert np.abs(force).max() > 0.1
