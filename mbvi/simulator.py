"""A run that goes on step by step, from a loop of your own.

The steps are those of `simulate`, by the same stepper, so that the states are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError, StepError
from mbvi.floats import as_floats
from mbvi.kernels.layout import OK
from mbvi.model.arguments import check_flag, check_kind, checked_count, is_number
from mbvi.model.description import MAX_STEPS
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.model import Model
from mbvi.results.measurements import SAME
from mbvi.results.phases import RunStates, measured_in
from mbvi.results.samples import Samples, with_samples
from mbvi.results.trajectory import Statistics, Trajectory, seen_trajectory
from mbvi.run_arguments import (
    as_system,
    check_driven,
    check_functions,
    check_resolution,
    checked_time,
    chosen_scheme,
    chosen_step,
    counted_steps,
    positive_time,
)
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.schemes.tableau import Tableau
from mbvi.steppers import stepper_of
from mbvi.steppers.audit import Audit
from mbvi.steppers.carried import counts_of, take_back, to_bytes
from mbvi.steppers.run import Run
from mbvi.system.controllers import refuse_controllers
from mbvi.system.copies import as_run
from mbvi.system.feedback import Feedback, check_values, split_inputs, with_feedback, with_functions, without_feedback
from mbvi.system.held import free_joints, held_coordinates, with_held_joints
from mbvi.system.initial import Start, find_start
from mbvi.system.inputs import ToldInputs, with_inputs, with_own_inputs
from mbvi.system.sensors import SystemSensor, system_sensors
from mbvi.system.system import System

Array = np.ndarray
SHORTEST = 1e-20  # step [s]: what is divided by its square is far from an overflow
BLOCK = 4096  # steps between two looks of `run` at what was done
FIRST_ROOM = 1024  # stored states for which there is room at first
LOOP = "simulator"
"""The name of the samples of inputs that it was given itself."""
OF_STEPPER = ("_all_inputs", "_carried", "_ends", "_flat", "_inputs", "_one", "_piece", "_sensors", "_stepper")
"""Attributes that are made again in a copy, since they belong to what does the steps."""
OF_STATE = ("inputs", "locked", "parameters", "start", "state", "stepper", "steps", "times", "words")
"""What a saved state has."""


class Simulator:
    """A run that goes on by `step` and `run`, and shows where it is.

    Parameters
    ----------
    model : Model or System
    scheme, step, formulation, initial_q, initial_v, start_time, project
        The arguments of `simulate` with these names.
    every : int
        Number of steps per stored state of `trajectory`; 0 stores none.
    inputs : mapping, optional
        Inputs of actuators, by their names, instead of the inputs that the model has, as `simulate` takes it: over time, or
        functions of the state. Those that are numbers can be changed by `step` and `run`.

    Attributes
    ----------
    system : System
    scheme : Tableau or Method
    step_size : float
        [s]

    Raises
    ------
    ModelError
        If an argument or the initial state cannot be used, or the scheme does not apply to the system.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> simulator = Simulator(model, "simpson", step=0.01, initial_q=[0.5])
    >>> for _ in range(100):
    ...     simulator.step()
    >>> bool((simulator.q == mbvi.simulate(model, "simpson", step=0.01, duration=1.0, initial_q=[0.5]).q[-1]).all())
    True
    """

    def __init__(
        self,
        model: Model | System,
        scheme: str | Tableau | ButcherTableau | Method | None = None,
        step: float | str | None = None,
        *,
        formulation: str | None = None,
        initial_q: ArrayLike | None = None,
        initial_v: ArrayLike | None = None,
        start_time: float = 0.0,
        project: bool | None = None,
        every: int = 1,
        inputs: Mapping[Any, Any] | None = None,
    ) -> None:
        self._given, self._feedback = _with_given_inputs(as_system(model, formulation), inputs)
        if project is not None:
            check_flag(project, "project")
        self.scheme = chosen_scheme(self._given, scheme)
        self.step_size = chosen_step(self._given, step)
        if self.step_size < SHORTEST:
            raise ModelError(f"step: {wrong(f'at least {SHORTEST:g} s', f'{self.step_size:g}')}")
        self._start_time = checked_time(start_time, "start_time", self._given)
        check_resolution(self._start_time, self.step_size)
        check_functions(self._given, start_time=self._start_time)
        self._project, self._every = project, checked_count(every, "every", 0)
        self._first = initial_q, initial_v
        self._base, self._parameters = self._given, dict[str, float]()
        self._locked: dict[str, Array] = {}
        self.reset()

    def __repr__(self) -> str:
        """What is run, and where it is."""
        return f"<Simulator of {self.system.name!r} at t = {self.t:g} s, {self.scheme.name}, step {self.step_size:g} s>"

    def __copy__(self) -> Simulator:
        """A simulator of its own: one that shared what does the steps would go on with the other's."""
        return deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Everything except what does the steps, which is made again, and what that carries."""
        stepper = self._stepper
        return {key: value for key, value in self.__dict__.items() if key not in OF_STEPPER} | {
            "carried": to_bytes(self._carried),
            "contacts": None if stepper.contacts is None else stepper.contacts.rows(),
            "findings": [] if stepper.audit is None else stepper.audit.findings,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The simulator as it was, with all later states the same to the last bit."""
        made = {key: value for key, value in state.items() if key not in ("carried", "contacts", "findings")}
        self.__dict__.update(made)
        self._inputs, self._all_inputs = ToldInputs(self.system), self.system.arrays.inputs
        self._begin(self._run)
        take_back(self._carried, state["carried"])
        self._states[...] = made.pop("_states")
        self.__dict__.update(made)
        if self._stepper.contacts is not None:
            self._stepper.contacts.take_back(state["contacts"])
        if self._stepper.audit is not None:
            self._stepper.audit.findings = state["findings"]

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Begin anew at the start time, with the inputs of the model, the parameters that were set last, and no joint locked.

        Parameters
        ----------
        q, v : (n,), optional
            Coordinates and velocities; by default those that the simulator was made with. They are moved onto the constraints as
            `simulate` moves them.

        Raises
        ------
        ModelError
            If that cannot be.
        """
        q, v = (first if each is None else each for each, first in zip((q, v), self._first, strict=True))
        self._locked = {}
        self._take(self._given)
        start = find_start(self.system, q, v, self._start_time, self._project)
        check_driven(self.system, start, self._start_time, self.step_size)
        check_values(self.system, self._start_time, start.q, start.v)
        self._begin(self._run_from(start))

    def _take(self, system: System) -> None:
        """Run a system, with inputs of its own."""
        run = as_run(system)
        self.system = with_own_inputs(run if self._feedback is None else with_feedback(run, self._feedback))
        self._inputs = ToldInputs(self.system)
        self._all_inputs = self.system.arrays.inputs
        self._reads_outside = self.system._values_of_run is not None

    def _run_from(self, start: Start) -> Run:
        clock = self.step_size, None, int(MAX_STEPS), 1, self._start_time
        return Run(self.system, self.scheme, *clock, start.q, start.v, start.p, start=start)

    def _begin(self, run: Run) -> None:
        """Begin at the start of a run."""
        self._run, self._stepper, self._steps = run, stepper_of(run), 0
        self._piece = self._stepper.piece
        self._carried = [*counts_of(run.system.arrays), *self._stepper.state]
        self._states = np.empty((2, 2, 1, len(run.q)))  # now and before, or the other way round
        self._turn, self._states[0] = 0, ((run.q,), (run.p,))
        self._seconds, self._failure = 0.0, ""
        # views, since to make one takes a part of a step's time
        self._flat = [each.reshape(-1) for each in self._states]
        self._ends = [(each[:1], each[1:]) for each in self._states]
        self._one = self._stepper.one or self._one_by_piece
        self._piece(0, 0, *self._states[1, :, :0])  # compiles, or loads what was compiled
        self._stored = _Stored(0, self._every, run)
        self._noted = b""  # the inputs that were noted last
        self._sensors: tuple[System, dict[str, SystemSensor]] | None = None
        self._samples_taken: dict[str, tuple[int, Any]] = {}

    def _one_by_piece(self, number: int, out_q: Array, out_p: Array) -> int:
        """Do a step into out_q and out_p (1, 1, n); its status."""
        return self._piece(number, number + 1, out_q[0], out_p[0])[0]

    def set_parameters(self, values: Mapping[str, float]) -> None:
        """Give parameters of the model other values, from now on.

        Time, coordinates and velocities stay, and the momenta follow; where other lengths move the constraints, the state is
        moved onto them as by `reset`. The tables of the system are filled again, without assembling it anew where only numbers
        change, see `System.with_parameters`. Inputs stay, and the stored states begin anew.

        Parameters
        ----------
        values : mapping of str to float
            New values of parameters of the model, angles in rad; others stay as they are.

        Raises
        ------
        ModelError
            If there are no such parameters, or the model or the state cannot have these; then nothing is changed.

        Examples
        --------
        >>> import mbvi
        >>> simulator = Simulator(mbvi.load("models/double_pendulum.yaml"), step=0.01)
        >>> simulator.run(0.5)
        >>> before, momentum = simulator.v, simulator.p
        >>> simulator.set_parameters({"mass": 2.0})
        >>> bool(abs(simulator.v - before).max() < 1e-14), (simulator.p / momentum).round(12).tolist()
        (True, [2.0, 2.0])
        """
        parameters = {**self._parameters, **values} if isinstance(values, Mapping) else values
        system = self._base.with_parameters(parameters)
        self._go_on_with(with_held_joints(system, self._locked), self.q, self.v)
        self._given, self._parameters = system, dict(parameters)

    def lock(self, joint: str) -> Impact:
        """Hold a joint where it is, from now on.

        A joint that moves is stopped by a plastic impact: impulses along the coordinates that are held, and those of all other
        constraints, leave M v⁺ = M v⁻ + Gᵀ λ with G v⁺ + ∂g/∂t = 0. No energy is gained. The stored states begin anew.

        Parameters
        ----------
        joint : str
            A joint that has coordinates in this formulation, and no quaternion.

        Returns
        -------
        Impact
            What it took.

        Raises
        ------
        ModelError
            If there is no such joint, or it is locked.

        Examples
        --------
        >>> import mbvi
        >>> simulator = Simulator(mbvi.load("models/double_pendulum.yaml"), step=0.01, initial_v=[1.0, 2.0])
        >>> impact = simulator.lock("elbow")
        >>> impact.after.round(12).tolist(), bool(impact.energy > 0)
        ([1.797236399137, 0.0], True)
        """
        known = [each for each in free_joints(self._given) if each not in self._locked]
        if not isinstance(joint, str) or joint not in known:
            found = (
                f"{show(joint)}, which is locked" if isinstance(joint, str) and joint in self._locked else show(joint)
            )
            remedy = nearest(str(joint), known) if known else "none is left: of cut joints and quaternions none can"
            raise ModelError(f"joint: {wrong('a joint with coordinates that can be held', found, remedy)}")
        t, q, p, v = self.t, self.q, self.p, self.v
        locked = {**self._locked, joint: held_coordinates(self._given, joint, q)}
        system = with_held_joints(self._given, locked)
        after = system.velocities(np.array([t]), q[None], p[None])[0]
        before = float(self.now.kinetic_energy()[0])
        self._go_on_with(system, q, after)
        self._locked = locked
        return Impact(joint, t, before - float(self.now.kinetic_energy()[0]), p - self.p, v, self.v)

    def unlock(self, joint: str) -> None:
        """Let a locked joint move again, from now on. The stored states begin anew.

        Raises
        ------
        ModelError
            If it is not locked.
        """
        if not isinstance(joint, str) or joint not in self._locked:
            remedy = nearest(str(joint), self._locked) if self._locked else "none is"
            raise ModelError(f"joint: {wrong('a locked joint', show(joint), remedy)}")
        locked = {name: each for name, each in self._locked.items() if name != joint}
        self._go_on_with(with_held_joints(self._given, locked), self.q, self.v)
        self._locked = locked

    @property
    def locked(self) -> tuple[str, ...]:
        """The joints that are locked."""
        return tuple(self._locked)

    def _go_on_with(self, system: System, q: Array, v: Array) -> None:
        """Go on from here with another system and the same inputs; the stored states begin anew.

        If the other system cannot start here, that is an error, and the simulator stays as it was.
        """
        t, before = self.t, (self.system, self._inputs, self._all_inputs)
        inputs = self._all_inputs.copy()
        try:
            self._take(system)
            self._all_inputs[:] = inputs
            check_functions(self.system, start_time=t)
            start = find_start(self.system, q, v, t, self._project)
            check_values(self.system, t, start.q, start.v)
            steps, run = self._steps, replace(self._run_from(start), done=self._steps)
            self._begin(run)
        except ModelError:
            self.system, self._inputs, self._all_inputs = before
            raise
        self._steps = steps
        self._stored = _Stored(steps, self._every, replace(run, start_time=t))

    # -------------------------------------------------------------------------------------------- going on

    @property
    def inputs(self) -> dict[str, float]:
        """The inputs of the actuators, by their names: those that are numbers, see `System.input_names`."""
        return self._inputs.now()

    def step(self, u: ArrayLike | Mapping[str, float] | None = None) -> None:
        """Go on by one step.

        Parameters
        ----------
        u : (m,) or mapping of str to float, optional
            The inputs from now on: all of them, in the order of `inputs`, or some by their names. During a step
            they are the same.

        Raises
        ------
        ModelError
            If an input is unknown, or no finite number; or if what a force of your own reads from outside became something else.
        StepError
            If it does not converge; ``error.trajectory`` holds the stored states. The simulator stays where it is, until `reset`
            or `set_state`.
        """
        if self._failure:
            raise StepError(self._failure, self._kept())
        if self._reads_outside:
            self.system.check_own_values()
        if u is not None:
            self._inputs.set(u)
        if (inputs := self._all_inputs.tobytes()) != self._noted:
            self._note_inputs(inputs)
        first, turn = self._steps, 1 - self._turn
        began = perf_counter()
        status = self._one(first, *self._ends[turn])
        self._seconds += perf_counter() - began
        if status != OK:
            self._fail(first, status)
        self._steps, self._turn = first + 1, turn
        if self._every:
            self._stored.add_one(first + 1, self._flat[turn])
        elif (contacts := self._stepper.contacts) is not None:
            contacts.forget()

    def _note_inputs(self, inputs: bytes) -> None:
        """Note the inputs from now on, all as bytes, which are others than before."""
        self._noted = inputs
        if self._every:
            self._stored.changes.append((self._steps, inputs))

    def run(self, duration: float | str, u: ArrayLike | Mapping[str, float] | None = None) -> None:
        """Go on by the least number of steps that reaches a duration.

        Parameters
        ----------
        duration : float or str
            Length of the simulated time from now on [s].
        u : (m,) or mapping of str to float, optional
            Inputs of all these steps, as those of `step`.

        Raises
        ------
        ModelError
            If it is no time greater than 0, or a function of time has no value within it; or as `step` does.
        StepError
            As `step` does.
        """
        steps, _ = counted_steps(positive_time(duration, "duration", self.system) / self.step_size, 1)
        check_functions(self.system, self.step_size, steps, self.t)
        if self._failure:
            raise StepError(self._failure, self._kept())
        self.system.check_own_values()
        if u is not None:
            self._inputs.set(u)
        if (inputs := self._all_inputs.tobytes()) != self._noted:
            self._note_inputs(inputs)
        last = self._steps + steps
        while self._steps < last:
            self._go_to(min(last, self._steps + BLOCK))

    def _go_to(self, last: int) -> None:
        """Go on until so many steps are done."""
        first = self._steps
        states = np.empty((2, last - first, self.system.dimension))
        began = perf_counter()
        status, done = self._piece(first, last, *states)
        self._seconds += perf_counter() - began
        states = states[:, : done - first]
        if done > first:
            self._states[self._turn] = states[:, -1:]
        self._steps = done
        if self._every:
            self._stored.add(first + 1, *states)
        elif (contacts := self._stepper.contacts) is not None:
            contacts.forget()
        if status != OK:
            self._fail(done, status)

    def _fail(self, step: int, status: int) -> None:
        self._failure = self._stepper.reason(self._run, step, status)
        raise StepError(self._failure, self._kept())

    # -------------------------------------------------------------------------------------- where it is now

    @property
    def steps(self) -> int:
        """Number of steps done since the start."""
        return self._steps

    @property
    def t(self) -> float:
        """Time [s]."""
        return self._start_time + self.step_size * self._steps

    @property
    def q(self) -> Array:
        """Coordinates (n,), an array of their own."""
        return self._states[self._turn, 0, 0].copy()

    @property
    def p(self) -> Array:
        """Momenta (n,), an array of their own."""
        return self._states[self._turn, 1, 0].copy()

    @property
    def v(self) -> Array:
        """Velocities (n,): M⁻¹ p, on the constraints."""
        q, p = self._states[self._turn]
        return self.system.velocities(np.array([self.t]), q, p)[0]

    @property
    def now(self) -> Trajectory:
        """The state now as a trajectory of one state, which everything can be asked that any trajectory can.

        Examples
        --------
        >>> import mbvi
        >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
        >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
        >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
        >>> simulator = Simulator(model, step=0.01)
        >>> force, torque = simulator.now.reaction("pivot")
        >>> force.round(6).tolist()
        [[0.0, 0.0, 9.81]]
        """
        q, p = self._states[self._turn].copy()
        found = seen_trajectory(self._trajectory(with_own_inputs(self.system), np.array([self.t]), q, p, 1))
        contacts = self._stepper.contacts
        return found if contacts is None else replace(found, contact_events=contacts.present(self.t, q[0], p[0]))

    def pose(self, body: str) -> tuple[Array, Array]:
        """The place (3,) [m] and the rotation (3, 3), body to world, of a body or of a frame, as `Trajectory.pose` gives them.

        Raises
        ------
        ModelError
            If there is no such body.
        """
        places, rotations = self.system.poses(body, self._states[self._turn, 0])
        return places[0], rotations[0]

    def measurements(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """The last samples of the sensors of the model, by their names: numbers, or vectors (3,).

        Sensors take their samples as `Trajectory.measurements` says: those without a period one of the state now.

        Parameters
        ----------
        names : sequence of str, optional
            Names of sensors; by default all.

        Raises
        ------
        ModelError
            If there is no such sensor, or a sample was due between the states that are known.

        Examples
        --------
        >>> import mbvi
        >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
        >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
        >>> sensors = {"angle": mbvi.Encoder(joint="pivot", period=0.1)}
        >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, sensors=sensors)
        >>> simulator = Simulator(model, step=0.01, initial_q=[0.5])
        >>> simulator.run(0.05)
        >>> simulator.measurements()
        {'angle': 0.5}
        """
        if self._sensors is None:
            own = with_own_inputs(self.system)
            self._sensors = own, {each.name: each for each in system_sensors(own, None)}
        system, known = self._sensors
        chosen = [each.name for each in system_sensors(system, names)] if names is not None else list(known)
        system.arrays.inputs[:] = self._all_inputs
        return {name: self._sample(known[name]) for name in chosen}

    def _sample(self, sensor: SystemSensor) -> Any:
        """The last sample of a sensor."""
        t, h = self.t, self.step_size
        number = int(sensor.samples(np.array([t]), h)[0])
        first = self._stored.run.start_time
        time = t if sensor.period is None else max(number * sensor.period, first)
        if abs(time - t) <= SAME * h:
            q, p = self._states[self._turn]
            contacts = self._stepper.contacts
            rows, now = None if contacts is None else contacts.present(t, q[0], p[0]), (np.array([t]), q, self.v[None])
            exact = measured_in(RunStates(sensor.system, rows, *now), sensor)
            value = sensor.noisy(np.array([number]), exact)[0]
            self._samples_taken[sensor.name] = number, value if sensor.labels else float(value[0])
        elif self._samples_taken.get(sensor.name, (None,))[0] != number:
            value = self.trajectory().measurements([sensor.name])[sensor.name].values[-1]
            self._samples_taken[sensor.name] = number, value if sensor.labels else float(value)
        return self._samples_taken[sensor.name][1]

    # ----------------------------------------------------------------------------------------- what is kept

    def trajectory(self) -> Trajectory:
        """The stored states, from the start or from the state that was set last; a `Trajectory` of their own.

        Raises
        ------
        ModelError
            If none are stored.
        """
        if not self._every:
            raise ModelError(f"trajectory: {wrong('stored states', 'every = 0', 'make the simulator with every=1')}")
        return self._kept()

    def _kept(self) -> Trajectory:
        """The stored states; with every = 0 that which is now."""
        stored, every = self._stored, max(self._every, 1)
        if not self._every:
            return self.now
        samples = self._samples()
        system = with_own_inputs(self.system)
        system.arrays.inputs[:] = stored.before
        system = with_samples(system, samples)
        run = replace(stored.run, system=system, every=every)
        q, p = stored.rows()
        trajectory = self._trajectory(run.system, run.stored_times(0, stored.count), q, p, every)
        audit = Audit(run)
        audit.join(self._stepper.audit)
        audit.findings = [*audit.findings]
        audit.add(1, *(each[1:] for each in (trajectory.t, trajectory.q, trajectory.p)))
        happened = None if self._stepper.contacts is None else stored.happened(self._stepper.contacts.rows())
        trajectory = replace(trajectory, contact_events=happened, samples=samples)
        return seen_trajectory(replace(trajectory, findings=audit.end(trajectory), start=run.start))

    def _samples(self) -> dict[str, Samples]:
        """The inputs that were given, and when."""
        steps, values = self._stored.inputs()
        if not len(steps):
            return {}
        names, times = self._inputs.names, self._start_time + self.step_size * steps
        values = values[:, [self.system.input_names.index(name) for name in names]]
        return {LOOP: Samples(names, 0.0, 0.0, times, times, values, values)}

    def _trajectory(self, system: System, t: Array, q: Array, p: Array, every: int) -> Trajectory:
        statistics = Statistics(self._steps, self._seconds, *map(int, self._stepper.counted()))
        return Trajectory(system, self.scheme, self.step_size, every, t, q, p, statistics)

    def state(self) -> dict[str, Array]:
        """All that the next steps depend on, as arrays, which `numpy.savez` writes.

        Returns
        -------
        dict of str to ndarray
            What `set_state` takes, of this simulator or of another of the same model, inputs over time and by functions,
            parameters, locked joints, scheme and step.
        """
        run, functions = self._run, () if self._feedback is None else self._feedback.names
        return {
            "inputs": self._all_inputs.copy(),
            "locked": np.concatenate([*self._locked.values(), np.empty(0)]),
            "parameters": np.array([*self._model_parameters().values()], dtype=float),
            "steps": np.array(self._steps),
            "times": np.array([self._start_time, self.step_size]),
            "words": np.array([self.scheme.name, *self.system.coordinate_names, *self._locked, *functions]),
            "start": np.stack([run.q, run.v, run.p]),
            "state": self._states[self._turn, :, 0].copy(),
            "stepper": np.frombuffer(to_bytes(self._carried), np.uint8),
        }

    def _model_parameters(self) -> Mapping[str, Any]:
        system = self.system
        if system.model is None:
            return dict(zip(system.parameter_names, system.arrays.force_parameters.tolist(), strict=True))
        return system.model.resolved().parameters

    def set_state(self, state: Mapping[str, ArrayLike]) -> None:
        """Go on from a state that `state` gave: all later states are the same to the last bit.

        The stored states are kept up to there, if it is one of them; otherwise they begin anew.

        Raises
        ------
        ModelError
            If it is none, or one of another model, parameters, locked joints, scheme, step or start time.
        """
        steps, start, now, inputs, places, content = self._checked(state)
        run, stored, before = self._run, self._stored, self._stepper.contacts
        if not np.array_equal(places, np.concatenate([*self._locked.values(), np.empty(0)])):
            self._hold_at(places)
            run = replace(run, system=self.system)
        if not np.array_equal(start, [run.q, run.v, run.p]):
            q, v, p = start
            run = replace(run, q=q, v=v, p=p, start=None)
        self._begin(run)
        try:
            take_back(self._carried, content)
        except ValueError as error:
            raise ModelError(f"state: {wrong('a state that a simulator gave', str(error))}") from None
        self._steps, self._states[0, :, 0], self._all_inputs[:] = steps, now, inputs
        is_kept, contacts = stored.holds(steps, now), self._stepper.contacts
        if contacts is not None and before is not None:
            before.cut(steps)
            contacts.take_back(before.rows() if is_kept else contacts.present(self.t, *now))
        if is_kept:
            stored.cut(steps)
            self._stored = stored
        else:
            (t, *_), (q, p) = run.clock(steps, steps + 1), now
            v = self.system.velocities(t, q[None], p[None])[0]
            self._stored = _Stored(steps, self._every, replace(run, start_time=float(t[0]), q=q, v=v, p=p, start=None))

    def _hold_at(self, places: Array) -> None:
        """Hold the locked joints at other places."""
        ends = np.cumsum([len(each) for each in self._locked.values()])[:-1]
        self._locked = dict(zip(self._locked, np.split(places, ends), strict=True))
        self._take(with_held_joints(self._given, self._locked))

    def _checked(self, state: Mapping[str, ArrayLike]) -> tuple[int, Array, Array, Array, Array, bytes]:
        """Steps done, start (3, n), state (2, n), inputs, where joints are locked, and what is carried, of a saved state."""
        check_kind(state, Mapping, "state", "take one that Simulator.state gave")
        if sorted(map(str, state)) != list(OF_STATE):
            raise ModelError(f"state: {wrong('a mapping with ' + ', '.join(OF_STATE), show(sorted(map(str, state))))}")
        own = self.state()
        names = ", ".join(self._model_parameters())
        for key, what in (
            ("words", "the scheme, coordinates and locked joints, and the inputs by functions"),
            ("times", "the start time and the step"),
            ("parameters", f"the parameters {names}:"),
        ):
            if not np.array_equal(np.asarray(state[key]), own[key]):
                expected, found = (np.asarray(each[key]).tolist() for each in (own, state))
                raise ModelError(f"state: {wrong(f'{what} {show(expected)}', show(found))}")
        arrays = {key: as_floats(state[key]) for key in ("start", "state", "inputs", "locked")}
        for key, array in arrays.items():
            if array is None or array.shape != own[key].shape or not np.isfinite(array).all():
                expected = f"finite numbers of shape {own[key].shape}"
                raise ModelError(f"state: {key}: {wrong(expected, show(state[key]))}")
        steps, content = np.asarray(state["steps"]), np.asarray(state["stepper"])
        if steps.ndim or not is_number(steps.item()):
            raise ModelError(f"state: steps: {wrong('a whole number', show(state['steps']))}")
        count = checked_count(steps.item(), "state: steps", 0, MAX_STEPS)
        return count, *arrays.values(), content.tobytes()  # type: ignore[return-value]


def _with_given_inputs(system: System, inputs: Any) -> tuple[System, Feedback | None]:
    """The system with inputs over time, and the functions of the state that give others, which it does not have yet."""
    refuse_controllers(inputs)
    over_time, functions = split_inputs(inputs)
    given = without_feedback(system)
    given = given if over_time is None else with_inputs(given, over_time)
    if not functions:
        return given, system._feedback
    feedback: Feedback = with_functions(as_run(given), functions)._feedback
    return with_inputs(given, dict.fromkeys(feedback.names, 0.0)), feedback


class Impact(NamedTuple):
    """What it took to lock a joint.

    joint            str      which one
    t                float    when [s]
    energy           float    kinetic energy that was lost [J]
    momentum         (n,)     momenta that were lost, p⁻ − p⁺ [J s/rad or N s]
    before, after    (n,)     velocities
    """

    joint: str
    t: float
    energy: float
    momentum: Array
    before: Array
    after: Array


class _Stored:
    """The states of every so many steps of a run that begins after `first` steps, in arrays that grow."""

    def __init__(self, first: int, every: int, run: Run) -> None:
        self._first, self._every, self.run = first, every, run
        self._rows = np.empty((FIRST_ROOM if every else 1, 2 * len(run.q)))  # q and p, as a step leaves a state
        self._states[0], self.count = (run.q, run.p), 1
        self.before = run.system.arrays.inputs.copy()
        self.changes: list[tuple[int, bytes]] = []
        """The inputs after so many steps, all as bytes."""

    @property
    def _states(self) -> Array:
        """The rows as states (rows, 2, n)."""
        return self._rows.reshape(len(self._rows), 2, -1)

    def inputs(self) -> tuple[Array, Array]:
        """After how many steps (m,) the inputs were changed, and to what, (m, inputs)."""
        if not self.changes:
            return np.empty(0, int), np.empty((0, 0))
        steps, values = zip(*self.changes, strict=True)
        return np.array(steps, int), np.frombuffer(b"".join(values)).reshape(len(steps), -1)

    def add(self, number: int, q: Array, p: Array) -> None:
        """Keep those of the states (steps, n) after steps `number`, `number` + 1, … that are due."""
        skipped = (self._first - number) % self._every
        count = len(range(skipped, len(q), self._every))
        if not count:
            return
        end = self.count + count
        self._make_room(end)
        self._states[self.count : end, 0] = q[skipped :: self._every]
        self._states[self.count : end, 1] = p[skipped :: self._every]
        self.count = end

    def add_one(self, number: int, state: Array) -> None:
        """Keep the state (2 n,) after step `number`, if it is due."""
        if self._every == 1 or (number - self._first) % self._every == 0:
            count = self.count
            try:
                self._rows[count] = state
            except IndexError:
                self._make_room(count + 1)
                self._rows[count] = state
            self.count = count + 1

    def _make_room(self, count: int) -> None:
        """See that there is room for so many states."""
        if count > len(self._rows):
            longer = np.empty((2 * count, self._rows.shape[1]))
            longer[: self.count] = self._rows[: self.count]
            self._rows = longer

    def rows(self) -> Array:
        """Coordinates and momenta (2, rows, n), a copy."""
        return self._states[: self.count].transpose(1, 0, 2).copy()

    def happened(self, rows: Array) -> Array:
        """What happened to contacts, (m, 7 + 2 n), with numbers of steps from the first stored state on."""
        rows = rows.copy()
        rows[:, 0] -= self._first
        return rows

    def holds(self, steps: int, state: Array) -> bool:
        """Whether a state (2, n) is that after so many steps."""
        row, rest = divmod(steps - self._first, max(self._every, 1))
        return bool(self._every and not rest and 0 <= row < self.count and np.array_equal(self._states[row], state))

    def cut(self, steps: int) -> None:
        """Forget the states after so many steps."""
        self.count = (steps - self._first) // self._every + 1
        self.changes = [each for each in self.changes if each[0] < steps]
