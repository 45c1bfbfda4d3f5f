"""Environments of Gymnasium, one by one and many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError, StepError
from mbvi.gym.task import Task
from mbvi.model import Model
from mbvi.model.arguments import checked_count
from mbvi.model.expressions import show, wrong
from mbvi.simulator import Simulator
from mbvi.system.system import System

try:
    from gymnasium import Env
    from gymnasium.spaces import Box
    from gymnasium.utils.seeding import np_random
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise ModelError("mbvi.gym: expected gymnasium, found none; install it with: pip install 'mbvi[gym]'") from None

Array = np.ndarray
Step = tuple[Array, float, bool, bool, dict[str, Any]]
Steps = tuple[Array, Array, Array, Array, dict[str, Any]]
Reward = str | Callable[[float, Array, Array, Array], float]
End = str | Callable[[float, Array, Array], float]
Observations = Sequence[str] | Callable[[float, Array, Array], ArrayLike]
Limits = Sequence[str] | Mapping[str, Sequence[float]]


class Environment(Env):
    """A model as an environment of Gymnasium.

    Expressions are those of `Trajectory.evaluate`, with ``q('JOINT')``, ``v('JOINT')``, ``x('BODY')`` and the parameters of
    the model.

    Parameters
    ----------
    model : Model or System
        With actuators.
    reward : str or callable
        The reward of a period: an expression, or a function (t, q, v, u) that returns a number, at its end; u (actions,)
        are the inputs that acted.
    until : str or callable, optional
        What ends the task: an expression, or a function (t, q, v), that is greater than 0, or True, at the end of a period.
    actions : sequence of str, or mapping of str to pair, optional
        The actuators whose inputs an action sets, with the lowest and the highest input; by default all whose inputs are
        numbers. Motors have their effort as limits; others need them. An action beyond is taken as the limit.
    observations : sequence of str, or callable, optional
        What is observed: expressions, or a function (t, q, v) that returns an array (k,); by default q and v.
    starts : mapping of str to pair, optional
        Ranges of initial values, as ``q.JOINT.COORDINATE`` and ``v.JOINT.COORDINATE``, from which `reset` takes one at
        random. The start is moved onto the constraints as by `simulate`.
    period : float or str, optional
        Time from one action to the next, a multiple of the step [s]; by default the step. Inputs are the same within it.
    duration : float or str, optional
        Time after which an episode is truncated [s].
    scheme, step, formulation, initial_q, initial_v, start_time, every
        The arguments of `Simulator` with these names.

    Attributes
    ----------
    simulator : Simulator
        The simulator that runs: `simulator.trajectory` is the episode.

    Raises
    ------
    ModelError
        If an argument cannot be used.

    Examples
    --------
    >>> import mbvi
    >>> cart, pole = mbvi.Body(mass=1), mbvi.Body(mass=0.1, center_of_mass=(0, 0, 0.5))
    >>> track = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))
    >>> hinge = mbvi.Revolute(parent="cart", child="pole", axis=(0, 1, 0))
    >>> model = mbvi.Model(
    ...     name="cart-pole",
    ...     bodies={"cart": cart, "pole": pole},
    ...     joints={"track": track, "hinge": hinge},
    ...     forces={"motor": mbvi.Motor(joint="track", effort=10)},
    ... )
    >>> environment = Environment(model, reward="cos(q('hinge'))", until="abs(q('hinge')) - 12*deg", step=0.02)
    >>> environment.reset(seed=1)[0].tolist()
    [0.0, 0.0, 0.0, 0.0]
    >>> environment.action_space.high
    array([10.])
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        model: Model | System,
        reward: Reward,
        *,
        until: End | None = None,
        actions: Limits | None = None,
        observations: Observations | None = None,
        starts: Mapping[str, Sequence[float]] | None = None,
        period: float | str | None = None,
        duration: float | str | None = None,
        **options: Any,
    ) -> None:
        self._task = Task(
            model,
            reward,
            until=until,
            actions=actions,
            observations=observations,
            starts=starts,
            period=period,
            duration=duration,
            **options,
        )
        self.simulator = self._task.simulator()
        self.action_space, self.observation_space = _spaces(self._task)

    def reset(self, *, seed: int | None = None, options: Mapping[str, float] | None = None) -> tuple[Array, dict]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            The seed of the random starts from now on.
        options : mapping of str to float, optional
            Initial values to start from, of those that have ranges.

        Returns
        -------
        observation : ndarray (k,)
        info : dict
            Empty.

        Raises
        ------
        ModelError
            If there is no such start.
        """
        super().reset(seed=None if seed is None else checked_count(seed, "seed", 0))
        self._task.begin(self.simulator, self.np_random, options)
        return self._task.observe(self._task.states([self.simulator]))[0], {}

    def step(self, action: ArrayLike) -> Step:
        """Go on by a period.

        Parameters
        ----------
        action : array_like (actions,)
            The inputs.

        Returns
        -------
        observation : ndarray (k,)
        reward : float
        terminated : bool
            Whether the task has ended, by `until`.
        truncated : bool
            Whether the time is over, by `duration`.
        info : dict
            Empty.

        Raises
        ------
        ModelError
            If the action cannot be used.
        StepError
            If a step does not converge.
        """
        inputs = self._task.inputs(action)
        self._task.go_on(self.simulator, inputs)
        states = self._task.states([self.simulator])
        rewards, ended, late = self._task.judge([self.simulator], states, inputs[None])
        return self._task.observe(states)[0], float(rewards[0]), bool(ended[0]), bool(late[0]), {}


class VectorEnvironment(VectorEnv):
    """Many episodes of a model at once, as one environment of Gymnasium.

    What is observed and rewarded is computed for all together. An episode that has ended begins anew in the next step, whose
    action and reward then mean nothing (Gymnasium calls this the mode NEXT_STEP).

    Parameters
    ----------
    count : int
        How many.
    model, reward, **options
        The arguments of `Environment` with these names.

    Attributes
    ----------
    simulators : tuple of Simulator

    Raises
    ------
    ModelError
        If an argument cannot be used.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, count: int, model: Model | System, reward: Reward, **options: Any) -> None:
        self.num_envs = checked_count(count, "count", 1)
        self._task = Task(model, reward, **options)
        self.simulators: tuple[Simulator, ...] = tuple(self._task.simulator() for _ in range(self.num_envs))
        self.single_action_space, self.single_observation_space = _spaces(self._task)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._random = [np_random(None)[0] for _ in self.simulators]
        self._is_over = np.zeros(self.num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, float] | None = None
    ) -> tuple[Array, dict]:
        """Begin all episodes.

        Parameters
        ----------
        seed : int or sequence of int, optional
            The seeds of the random starts from now on; a number is that of the first, and grows by 1 from one to the next.
        options : mapping of str to float, optional
            Initial values to start from, of those that have ranges.

        Returns
        -------
        observations : ndarray (count, k)
        info : dict
            Empty.
        """
        for i, each in enumerate(_seeds(seed, self.num_envs)):
            if each is not None:
                self._random[i] = np_random(each)[0]
            self._task.begin(self.simulators[i], self._random[i], options)
        self._is_over[:] = False
        return self._task.observe(self._task.states(self.simulators)), {}

    def step(self, actions: ArrayLike) -> Steps:
        """Go on by a period.

        Parameters
        ----------
        actions : array_like (count, actions)
            The inputs.

        Returns
        -------
        observations : ndarray (count, k)
        rewards, terminated, truncated : ndarray (count,)
        info : dict
            Empty.

        Raises
        ------
        ModelError
            If the actions cannot be used.
        StepError
            If a step does not converge, of the simulator that it names; those before it have gone on.
        """
        inputs = self._task.inputs(actions, self.num_envs)
        for i, simulator in enumerate(self.simulators):
            if self._is_over[i]:
                self._task.begin(simulator, self._random[i], None)
            else:
                try:
                    self._task.go_on(simulator, inputs[i])
                except StepError as error:
                    raise StepError(f"simulators[{i}]: {error}", error.trajectory) from error.__cause__
        states = self._task.states(self.simulators)
        rewards, ended, late = self._task.judge(self.simulators, states, inputs)
        began = self._is_over
        rewards, ended, late = np.where(began, 0.0, rewards), ended & ~began, late & ~began
        self._is_over = ended | late
        return self._task.observe(states), rewards, ended, late, {}


def _spaces(task: Task) -> tuple[Box, Box]:
    """The spaces of an action and of an observation."""
    return Box(task.low, task.high, dtype=np.float64), Box(-np.inf, np.inf, (task.size,), np.float64)


def _seeds(given: Any, count: int) -> list[int | None]:
    """A seed for each of so many."""
    if given is None:
        return [None] * count
    if isinstance(given, int | np.integer):
        first = checked_count(given, "seed", 0)
        return [first + i for i in range(count)]
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(given) != count:
        raise ModelError(f"seed: {wrong(f'a whole number, or {count} of them, one for each', show(given))}")
    return [None if each is None else checked_count(each, f"seed[{i}]", 0) for i, each in enumerate(given)]
