"""A cart-pole that a sampled linear-quadratic regulator balances, whose inputs act late.

The regulator is found from the linear equations about the upright pole, held between calls, with the delayed input as a further
state, so that it knows of its delay. One that does not lets the pole fall.
"""

import numpy as np
from scipy.linalg import expm, solve_discrete_are

import mbvi

PERIOD, DELAY = 0.1, 0.1
"""From call to call, and from a call until it acts [s]."""
EFFORT = 20.0


def model() -> mbvi.Model:
    """A cart on a track, driven by a motor, and a pole on it."""
    return mbvi.Model(
        name="cart-pole",
        bodies={
            "cart": mbvi.Body(mass=1, shapes=[mbvi.Box(size=(0.3, 0.2, 0.1))]),
            "pole": mbvi.Body(mass=0.2, center_of_mass=(0, 0, 0.5), inertia=(0.02, 0.02, 1e-4)),
        },
        joints={
            "track": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0)),
            "hinge": mbvi.Revolute(parent="cart", child="pole", axis=(0, 1, 0)),
        },
        forces={"motor": mbvi.Motor(joint="track", effort=EFFORT)},
        initial={"hinge": mbvi.Initial(position="15 deg")},
    )


def linear(system: mbvi.System) -> tuple[np.ndarray, np.ndarray]:
    """A (4, 4) and B (4, 1) of x' = A x + B u, x = (q, v), about the upright pole."""
    zero = np.zeros(2)
    M = system.mass_matrix(zero)
    step = 1e-5
    gradient = [(system.gravity(step * e) - system.gravity(-step * e)) / (2 * step) for e in np.eye(2)]
    below = -np.linalg.solve(M, np.transpose(gradient))
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [below, np.zeros((2, 2))]])
    return A, np.concatenate([zero, np.linalg.solve(M, [1.0, 0.0])])[:, None]


def gains(system: mbvi.System, delay_known: bool) -> np.ndarray:
    """Gains (5,) of the state and of the input that was asked for last, which acts until the next does."""
    A, B = linear(system)
    whole = expm(PERIOD * np.block([[A, B], [np.zeros((1, 5))]]))[:4]
    Q, R = np.diag([1.0, 10.0, 0.1, 0.1, 0.0]), np.array([[0.1]])
    if delay_known:
        F, G = np.vstack([whole, np.zeros(5)]), np.array([0.0, 0, 0, 0, 1])[:, None]
    else:
        F, G, Q = whole[:, :4], whole[:, 4:], Q[:4, :4]
    P = solve_discrete_are(F, G, Q, R)
    K = np.linalg.solve(R + G.T @ P @ G, G.T @ P @ F)[0]
    return np.pad(K, (0, 5 - len(K)))


class Regulator:
    """u = −K (x, u before)."""

    inputs = ("motor",)

    def __init__(self, K: np.ndarray) -> None:
        self.K, self.before = K, np.zeros(1)

    def begin(self, system: mbvi.System, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """Begin with nothing asked for."""
        self.before = np.zeros(1)

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The force of the motor (1,) [N]."""
        self.before = np.clip(-self.K @ np.concatenate([q, v, self.before]), -EFFORT, EFFORT).reshape(1)
        return self.before

    def state(self) -> dict[str, np.ndarray]:
        """What was asked for last."""
        return {"before": self.before}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a state."""
        self.before = state["before"]


def main(duration: float = 6.0) -> tuple[mbvi.Trajectory, mbvi.Trajectory]:
    """The run with a regulator that knows its delay, and with one that does not."""
    system = mbvi.assemble(model())
    runs = []
    for delay_known in (True, False):
        law = Regulator(gains(system, delay_known))
        controllers = {"regulator": mbvi.Controller(law, PERIOD, delay=DELAY, limits=EFFORT)}
        runs.append(mbvi.simulate(system, "simpson", step=0.01, duration=duration, controllers=controllers))
    return runs[0], runs[1]


if __name__ == "__main__":
    for name, run in zip(("with", "without"), main(), strict=True):
        print(f"{name} knowledge of the delay: at the end the pole is at {np.degrees(run.q[-1, 1]):.3g}°")
