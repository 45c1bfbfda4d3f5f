"""A cart learns to balance a pole, by a random search: numpy alone, within a minute.

    python examples/learn_cart_pole.py

The force on the cart is linear in the place, the angle and their rates. Each round tries changes of the weights, all from
several starts, and keeps the best. The reward is 1 less what the pole leans and the cart is off, until either is too large.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mbvi
from mbvi.gym import VectorEnvironment

Array = np.ndarray
MODEL = mbvi.Model(
    name="cart-pole",
    bodies={
        "cart": mbvi.Body(shapes=(mbvi.Box(size=(0.4, 0.2, 0.15), mass=1),)),
        "pole": mbvi.Body(shapes=(mbvi.Capsule(radius=0.02, length=1, position=(0, 0, 0.5), mass=0.1),)),
    },
    joints={
        "track": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0)),
        "hinge": mbvi.Revolute(parent="cart", child="pole", axis=(0, 1, 0)),
    },
    forces={"motor": mbvi.Motor(joint="track", effort=10)},
)
STARTS = {
    "q.track.displacement": (-0.1, 0.1),
    "q.hinge.angle": (-0.1, 0.1),
    "v.track.displacement": (-0.1, 0.1),
    "v.hinge.angle": (-0.1, 0.1),
}
SIZES = np.array([1.0, 10.0, 1.0, 3.0])
"""How large changes of the weights are, for displacement, angle and their rates."""


def environment(count: int, duration: float) -> VectorEnvironment:
    """So many cart-poles, to be balanced for so long."""
    return VectorEnvironment(
        count,
        MODEL,
        reward="1 - (q('hinge')/(12*deg))**2/2 - (q('track')/2.4)**2/2",
        until="max(abs(q('hinge')) - 12*deg, abs(q('track')) - 2.4)",
        starts=STARTS,
        duration=duration,
        scheme="midpoint",
        step=0.02,
        every=0,
    )


def play(carts: VectorEnvironment, weights: Array, seed: int) -> Array:
    """The sums of rewards of episodes of the policies with these weights, (count, 4), or (4,) for one that all have."""
    observations, _ = carts.reset(seed=seed)
    total, is_on = np.zeros(carts.num_envs), np.ones(carts.num_envs, bool)
    while is_on.any():
        forces = np.sum(weights * observations, axis=-1, keepdims=True)
        observations, rewards, ended, late, _ = carts.step(forces)
        total += np.where(is_on, rewards, 0.0)
        is_on &= ~(ended | late)
    return total


def learn(rounds: int, seed: int = 0, tries: int = 8, starts: int = 3) -> tuple[Array, list[float]]:
    """The weights that were found, and the mean sum of rewards after every round."""
    random = np.random.default_rng(seed)
    carts = environment(tries * starts, duration=4.0)
    weights, history = np.zeros(4), []
    for number in range(rounds):
        changes = random.normal(size=(tries, 4)) * SIZES
        changes[0] = 0.0  # what there is
        sums = play(carts, np.repeat(weights + changes, starts, axis=0), seed=number)
        means = sums.reshape(tries, starts).mean(axis=1)
        weights = weights + changes[means.argmax()]
        history.append(float(means.max()))
    return weights, history


def main(rounds: int = 20, seconds: float = 20.0) -> dict[str, Any]:
    """Learn, and balance from fresh starts."""
    weights, history = learn(rounds)
    carts = environment(10, seconds)
    return {"weights": weights, "history": history, "balanced": play(carts, weights, seed=1000) / (seconds / 0.02)}


if __name__ == "__main__":
    found = main()
    print("sums of rewards, of 200 at most:", np.round(found["history"][::5], 1))
    print("weights of x, angle, and their rates:", np.round(found["weights"], 2))
    print(f"mean reward from ten fresh starts, 20 s each: {found['balanced'].mean():.3f} (1 is perfect)")
