"""Numbers that are no system are refused with a message of one line."""

import numpy as np
import pytest

from mbvi.errors import ModelError
from mbvi.exact import (
    CuspedTop,
    DampedOscillator,
    FreeBody,
    LagrangeTop,
    LinearDoublePendulum,
    Pendulum,
    SphericalPendulum,
)

PENDULUM = {"length": 1.0, "gravity": 9.81, "angle": 1.0}
DOUBLE = {"masses": (1, 1), "lengths": (1, 1), "gravity": 9.81, "angles": (0, 1)}
OSCILLATOR = {"mass": 1.0, "damping": 0.1, "stiffness": 1.0, "position": 1.0}
SPHERICAL = {"length": 1.0, "gravity": 9.81, "angles": (0.0, 1.0)}
TOP = {"inertia": 1.0, "axial_inertia": 1.0, "weight_moment": 1.0, "angles": (0, 1, 0), "rates": (0, 0, 1)}
CUSPED = {"inertia": 1.0, "axial_inertia": 1.0, "weight_moment": 1.0, "angle": 1.0, "spin": 1.0}
BODY = {"inertia": (1, 2, 3), "angular_velocity": (1, 0, 0)}


@pytest.mark.parametrize(
    ("kind", "good", "bad", "message"),
    [
        (Pendulum, PENDULUM, {"length": -1}, "length: expected a finite number above 0, found -1"),
        (Pendulum, PENDULUM, {"gravity": 0.0}, "gravity: expected a finite number above 0, found 0.0"),
        (Pendulum, PENDULUM, {"angle": np.nan}, "angle: expected a finite number, found nan"),
        (Pendulum, PENDULUM, {"rate": "fast"}, "rate: expected a finite number, found 'fast'"),
        (Pendulum, PENDULUM, {"rate": (1, 2)}, "rate: expected a finite number, found (1, 2)"),
        (LinearDoublePendulum, DOUBLE, {"masses": (1, 0)}, "masses: expected 2 finite numbers above 0, found (1, 0)"),
        (LinearDoublePendulum, DOUBLE, {"angles": 1.0}, "angles: expected 2 finite numbers, found 1.0"),
        (DampedOscillator, OSCILLATOR, {"mass": 0}, "mass: expected a finite number above 0, found 0"),
        (
            DampedOscillator,
            OSCILLATOR,
            {"stiffness": -1},
            "stiffness: expected a finite number of at least 0, found -1",
        ),
        (DampedOscillator, OSCILLATOR, {"damping": np.inf}, "damping: expected a finite number, found inf"),
        (SphericalPendulum, SPHERICAL, {"length": 0}, "length: expected a finite number above 0, found 0"),
        (SphericalPendulum, SPHERICAL, {"angles": (1, 0)}, "angles[1]: expected 0 < angle < π, found 0"),
        (LagrangeTop, TOP, {"inertia": -1}, "inertia: expected a finite number above 0, found -1"),
        (LagrangeTop, TOP, {"weight_moment": 0}, "weight_moment: expected a finite number above 0, found 0"),
        (LagrangeTop, TOP, {"rates": (0, 0)}, "rates: expected 3 finite numbers, found (0, 0)"),
        (LagrangeTop, TOP, {"angles": (0, 4.0, 0)}, "angles[1]: expected 0 < theta < π, found 4.0"),
        (CuspedTop, CUSPED, {"angle": 0}, "angle: expected 0 < angle < π, found 0"),
        (CuspedTop, CUSPED, {"spin": None}, "spin: expected a finite number, found None"),
        (FreeBody, BODY, {"inertia": (1, 2, 0)}, "inertia: expected 3 finite numbers above 0, found (1, 2, 0)"),
        (
            FreeBody,
            BODY,
            {"orientation": (0, 0, 0, 0)},
            "orientation: expected a quaternion other than zero, found (0, 0, 0, 0)",
        ),
    ],
)
def test_refused(kind, good, bad, message):
    kind(**good)
    with pytest.raises(ModelError) as caught:
        kind(**good | bad)
    assert str(caught.value) == f"{kind.__name__}: {message}"


@pytest.mark.parametrize("t", [np.nan, [0.0, np.inf], "now"])
def test_times_are_finite(t):
    with pytest.raises(ModelError) as caught:
        Pendulum(**PENDULUM)(t)
    assert str(caught.value) == f"Pendulum: t: expected finite times, found {t!r}"
