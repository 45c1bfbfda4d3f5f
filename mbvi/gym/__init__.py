"""Models as environments of Gymnasium, for programs that learn to control them; it needs the extra ``mbvi[gym]``.

>>> from mbvi.gym import Environment
>>> import mbvi
>>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
>>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
>>> motor = mbvi.Motor(joint="pivot", effort=2)
>>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, forces={"motor": motor})
>>> environment = Environment(model, "z('bob')", starts={"q.pivot.angle": (-0.1, 0.1)}, step=0.02, duration=4)
>>> observation, info = environment.reset(seed=1)
>>> observation, reward, terminated, truncated, info = environment.step([1.5])
>>> observation.shape, terminated, truncated
((2,), False, False)
"""

from mbvi.gym.environment import Environment, VectorEnvironment

__all__ = ["Environment", "VectorEnvironment"]
