"""Orders measured: how the error of several schemes falls with the step, on a spherical pendulum with a spinning bob.

The error is that of the coordinates after a second, against a much finer run. The order is the slope between two steps.
"""

import numpy as np

import mbvi

SCHEMES = ("midpoint", "simpson", "suzuki4", "gauss3", "lobatto5")
STEPS = (0.04, 0.02, 0.01)


def spherical_pendulum() -> mbvi.Model:
    """A small wheel that spins about a rod, on a ball joint with Euler angles."""
    return mbvi.Model(
        name="spherical pendulum",
        bodies={"wheel": mbvi.Body(mass=1, center_of_mass=(0, 0, -0.5), inertia=(0.01, 0.01, 0.02))},
        joints={"pivot": mbvi.Ball(parent="world", child="wheel", coordinates="xyz")},
        initial={"pivot": mbvi.Initial(position=("40 deg", 0.3, 0), velocity=(0.5, 1, 20))},
    )


def main() -> dict[str, np.ndarray]:
    """For every scheme the errors at the steps [rad]."""
    system = mbvi.assemble(spherical_pendulum())
    exact = mbvi.simulate(system, "gauss8", step=0.005, duration=1.0).q[-1]
    return {
        name: np.array([np.abs(mbvi.simulate(system, name, step=h, duration=1.0).q[-1] - exact).max() for h in STEPS])
        for name in SCHEMES
    }


if __name__ == "__main__":
    print("scheme    ", *(f"h = {h:<6g}" for h in STEPS), "order")
    for name, errors in main().items():
        print(f"{name:10}", *(f"{error:<10.1e}" for error in errors), f"{np.log2(errors[0] / errors[1]):.2f}")
