"""The result of a run: states at times, everything that was run, and what follows from them; and its file.

A file is HDF5, as netCDF-4 has it: the datasets t, q, v, p, energies, momenta and constraint residual hang on the
dimension scales t, coordinate and momentum, with units; the model is a text in it, the scheme its numbers. The first
rows of t, q and p are the initial state. So the file alone can be read by other tools, and run again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import mbvi
from mbvi.analysis.symmetry import Invariant, find_invariants
from mbvi.errors import ModelError
from mbvi.model import Mesh, Model, from_yaml, to_yaml
from mbvi.model.expressions import wrong
from mbvi.schemes.linear import STEPS
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.system.assemble import assemble
from mbvi.system.quadratic import quadratic_lagrangian
from mbvi.system.system import System, html_table

if TYPE_CHECKING:
    import h5py

Array = np.ndarray
FORMAT = "mbvi trajectory 1"
CHUNK_ROWS = 4096


@dataclass(frozen=True)
class Statistics:
    """What a run cost.

    Attributes
    ----------
    steps : int
    seconds : float
        Wall time in the kernels [s].
    iterations : int
        Newton or simplified iterations in all; a composition counts those of all its substeps.
    most_iterations : int
        The most that one substep took.
    mass_factorizations, newton_factorizations : int
        How often the mass matrix and the whole Jacobian were factored.
    """

    steps: int
    seconds: float
    iterations: int
    most_iterations: int
    mass_factorizations: int
    newton_factorizations: int


@dataclass(frozen=True, eq=False)
class Stored:
    """What a file holds besides t, q and p, and what need not be computed again.

    Attributes
    ----------
    v : ndarray (N + 1, n)
    kinetic_energy, potential_energy, constraint_residual : ndarray (N + 1,)
    momenta : dict of str to ndarray (N + 1,)
    """

    v: Array
    kinetic_energy: Array
    potential_energy: Array
    constraint_residual: Array
    momenta: dict[str, Array]


@dataclass(frozen=True, eq=False)
class Nameplate:
    """What a file tells of a system that it cannot rebuild: enough for labels. Its functions raise a ModelError.

    Attributes
    ----------
    name : str
    coordinate_names, coordinate_units : tuple of str
    degrees_of_freedom, constraint_count : int
    is_conservative : bool
    """

    name: str
    coordinate_names: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    degrees_of_freedom: int
    constraint_count: int
    is_conservative: bool

    def __repr__(self) -> str:
        """What it is, as messages say it."""
        return f"the name {self.name!r} of a system that its file cannot hold"

    def __getattr__(self, key: str) -> Any:
        """No function of the system is there."""
        if key.startswith("_"):
            raise AttributeError(key)
        raise ModelError(
            f"{key}: expected a system, found only the name {self.name!r}: the trajectory's file cannot hold a system "
            "of functions or symbols; build the system and pass it: mbvi.read(path, system=system)"
        )


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States of a system at times.

    Attributes
    ----------
    t : ndarray (N + 1,)
        Times [s].
    q, v, p : ndarray (N + 1, n)
        Coordinates, velocities and momenta, in the order of ``system.coordinate_names``.
    system : System
        A `Nameplate` if it was read from a file that cannot hold the system.
    scheme : Tableau or Method
    step : float
        Step size [s].
    every : int
        Every so-manyth state is stored.
    statistics : Statistics
    stored : Stored or None
        What was read from a file.
    """

    system: System
    scheme: Tableau | Method
    step: float
    every: int
    t: Array
    q: Array
    p: Array
    statistics: Statistics
    stored: Stored | None = None
    step_sizes: Array | None = None

    def __repr__(self) -> str:
        """What was run."""
        mean = "" if self.step_sizes is None else "mean "
        return (
            f"<Trajectory of {self.system.name!r}: {len(self.t)} states from t = {self.t[0]:g} s to {self.t[-1]:g} s, "
            f"{self.scheme.name}, {mean}step {self.step:g} s>"
        )

    def __len__(self) -> int:
        """Number of stored states."""
        return len(self.t)

    @cached_property
    def v(self) -> Array:
        """Velocities (N + 1, n): M⁻¹ p, on the constraints."""
        return self.stored.v if self.stored else self.system.velocities(self.t, self.q, self.p)

    @cached_property
    def _energies(self) -> tuple[Array, Array]:
        if self.stored:
            return self.stored.kinetic_energy, self.stored.potential_energy
        return self.system.energies(self.t, self.q, self.v)

    def energy(self) -> Array:
        """Kinetic and potential energy (N + 1,) [J]."""
        return self._energies[0] + self._energies[1]

    def kinetic_energy(self) -> Array:
        """Kinetic energy (N + 1,) [J]."""
        return self._energies[0]

    def potential_energy(self) -> Array:
        """Potential energy (N + 1,) [J]."""
        return self._energies[1]

    @cached_property
    def invariants(self) -> tuple[Invariant, ...]:
        """The momenta that the system's linear symmetries conserve."""
        return find_invariants(self.system)

    def momenta(self) -> dict[str, Array]:
        """Every conserved momentum (N + 1,) by name [kg m²/s or kg m/s]."""
        if self.stored:
            return dict(self.stored.momenta)
        return {invariant.name: invariant.value(self.q, self.p) for invariant in self.invariants}

    def quadratic_form(self) -> Array:
        """The quadratic form φ(p, q) (N + 1,) [J s] that the scheme conserves instead of the energy E, on a quadratic Lagrangian.

        φ = ½ pᵀξ p + ½ qᵀζ q, and about h E/2; see `mbvi.schemes.linear`.

        Raises
        ------
        ModelError
            If the scheme has none, or the Lagrangian is not quadratic.

        Source: Rojas-Quintero, Dubois & Cabrera-Díaz 2024, equation 42.
        """
        if self.scheme.name not in STEPS:
            raise ModelError(f"quadratic_form: expected a run of {', '.join(STEPS)}, found one of {self.scheme.name}")
        return STEPS[self.scheme.name](*quadratic_lagrangian(self.system), self.step).form(self.q, self.p)

    def constraint_residual(self) -> Array:
        """Largest |g| at every state, (N + 1,)."""
        if self.stored:
            return self.stored.constraint_residual
        return self.system.constraint_residuals(self.t, self.q)

    @cached_property
    def multipliers(self) -> Array:
        """Lagrange multipliers λ (N + 1, k) of the constraints, by the equations of motion at every state.

        In the order of ``system.constraint_names``; where constraints are redundant, those of least norm. Units: N for what holds
        points, N m for what holds directions; those of a user's constraints are the user's.
        """
        return self.system.accelerations_and_multipliers(self.t, self.q, self.v)[1]

    def reaction(self, name: str) -> tuple[Array, Array]:
        """The force and torque by which a joint that is cut acts on its child, or a constraint on its body_b.

        Parameters
        ----------
        name : str
            Name of the joint or of the constraint.

        Returns
        -------
        force : ndarray (N + 1, 3)
            Along the world's axes [N].
        torque : ndarray (N + 1, 3)
            About the joint's place on the parent, or about the point of body_b, along the world's axes [N m]. With a joint whose
            coordinates have springs, dampers, forces or couplings, these are contained.

        Raises
        ------
        ModelError
            If there is no such joint or constraint, or it is none between bodies.
        """
        return self.system.reaction(name, self.t, self.q, self.multipliers)

    def pose(self, body: str) -> tuple[Array, Array]:
        """Places and rotations of a body.

        Parameters
        ----------
        body : str
            Name of a body of the model, or "world".

        Returns
        -------
        positions : ndarray (N + 1, 3)
            Origin of the body's frame, in the world [m].
        rotations : ndarray (N + 1, 3, 3)
            Rotation matrices, body to world.

        Raises
        ------
        ModelError
            If there is no such body.
        """
        return self.system.poses(body, self.q)

    def plot(self, *what: str, names: Sequence[str] | None = None, section: str | None = None) -> Any:
        """Draw quantities, or an overview: a matplotlib.figure.Figure, see `mbvi.plot`."""
        return mbvi.plot(self, *what, names=names, section=section)

    def _repr_html_(self) -> str:
        """A table of the run and, if matplotlib is there, curves of coordinates and energies: for notebooks."""
        rows = [
            ("scheme", f"{self.scheme.name}, step {self.step:g} s"),
            ("states", f"{len(self)} from t = {self.t[0]:g} s to {self.t[-1]:g} s"),
            ("energy", f"{self.energy()[0]:.6g} J at the start, {self.energy()[-1]:.6g} J at the end"),
        ]
        if self.system.constraint_count:
            rows.append(("constraints", f"largest residual {self.constraint_residual().max():.1e}"))
        picture = ""
        with contextlib.suppress(ModelError):
            picture = getattr(self.plot("coordinates", "energy"), "_repr_svg_", str)()
        return html_table(self.system.name, rows) + picture

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write a file that `read` turns into an equal trajectory, at once or not at all.

        Parameters
        ----------
        path : str or path
            The file; the usual ending is .h5.
        force : bool
            Whether an existing file is overwritten.

        Raises
        ------
        ModelError
            If the file exists, or cannot be written.
        """
        import h5py

        path = check_output(path, force)
        part = _part(path)
        try:
            with h5py.File(part, "w") as file:
                _fill(file, self)
            os.replace(part, path.resolve())
        except (OSError, RuntimeError) as error:
            raise ModelError(f"{path}: {wrong('a file that can be written', _reason(error))}") from None
        finally:
            part.unlink(missing_ok=True)


def check_output(path: str | os.PathLike[str], force: bool = False) -> Path:
    """A path that can be written, tried out, so that one knows before a long run.

    Raises
    ------
    ModelError
        If there is such a file and `force` is not set, or its folder is missing or cannot be written.
    """
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise ModelError(f"{path}: {wrong('a file', 'a folder' if path.is_dir() else 'a device')}")
        if path.exists() and not force:
            remedy = "choose another name, or overwrite it by force=True (--force)"
            raise ModelError(f"{path}: {wrong('a new file', 'one that exists', remedy)}")
        if not path.resolve().parent.is_dir():
            found = f"no folder {str(path.parent)!r}"
            raise ModelError(f"{path}: {wrong('a file in a folder', found, 'make it first')}")
        _part(path).touch()
        _part(path).unlink()
    except OSError as error:
        raise ModelError(f"{path}: {wrong('a file that can be written', _reason(error))}") from None
    return path


def read(path: str | os.PathLike[str], system: System | None = None) -> Trajectory:
    """Read a trajectory's file.

    Parameters
    ----------
    path : str or path
        A file that `Trajectory.save` or `mbvi run` wrote.
    system : System, optional
        The system, which is needed for poses if it was not made from a model, or had a force of your own.

    Raises
    ------
    ModelError
        If the file is missing, damaged, of another kind, or of another system or model.

    Examples
    --------
    >>> import tempfile
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> trajectory = mbvi.simulate(model, "simpson", step=0.01, duration=1.0, initial_q=[0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trajectory.save(folder + "/pendulum.h5")
    ...     read(folder + "/pendulum.h5")
    <Trajectory of 'pendulum': 101 states from t = 0 s to 1 s, simpson, step 0.01 s>
    """
    import h5py

    path = Path(path)
    if not path.is_file():
        found = "a folder" if path.is_dir() else "no such file"
        raise ModelError(f"{path}: {wrong('a trajectory file', found, 'check the path')}")
    try:
        with h5py.File(path, "r") as file:
            found = str(file.attrs.get("format", "an HDF5 file of another program"))
            if found != FORMAT:
                raise ModelError(f"{path}: {wrong(f'a file in the format {FORMAT!r}', found)}")
            return _trajectory(file, system, str(path))
    except ModelError:
        raise
    except (OSError, RuntimeError, KeyError, TypeError, ValueError, OverflowError, MemoryError) as error:
        raise ModelError(f"{path}: {wrong('a trajectory file', _damage(error))}") from None


# ---------------------------------------------------------------------------------------------- writing


def _part(path: Path) -> Path:
    """Where a file is written before it gets its name."""
    return path.resolve().with_name(f".{path.name}.{os.getpid()}.part")


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number).lower() if number else " ".join(str(error).split())


def _fill(file: h5py.File, trajectory: Trajectory) -> None:
    """Write everything into an empty file."""
    system = trajectory.system
    stored = trajectory.stored or _computed(trajectory)
    file.attrs["format"] = FORMAT
    file.attrs["mbvi_version"] = mbvi.__version__
    file.attrs["name"] = system.name
    file.attrs["degrees_of_freedom"] = _degrees_of_freedom(trajectory)
    for key in ("constraint_count", "is_conservative"):
        file.attrs[key] = int(getattr(system, key))  # netCDF has no booleans
    file.attrs["step"], file.attrs["every"] = trajectory.step, trajectory.every
    file.attrs["start_time"] = trajectory.t[0]
    file.attrs["scheme"] = trajectory.scheme.name
    file.attrs["scheme_numbers"] = json.dumps(asdict(trajectory.scheme))
    file.attrs["statistics"] = json.dumps(asdict(trajectory.statistics))
    _write_model(file, system)
    _scale(file, "t", trajectory.t, "s", "time")
    if trajectory.step_sizes is not None:
        _scale(file, "step_sizes", trajectory.step_sizes, "s", "sizes of all steps")
    _scale(file, "coordinate", system.coordinate_names, "", "names of the coordinates")
    _write(file, "coordinate_unit", system.coordinate_units, "", "units of the coordinates", "coordinate")
    _write(file, "q", trajectory.q, "see coordinate_unit", "coordinates", "t", "coordinate")
    _write(file, "v", stored.v, "coordinate_unit/s", "rates of the coordinates", "t", "coordinate")
    _write(file, "p", trajectory.p, "J s/coordinate_unit", "momenta of the coordinates", "t", "coordinate")
    energy = stored.kinetic_energy + stored.potential_energy
    _write(file, "energy", energy, "J", "kinetic and potential energy", "t")
    _write(file, "kinetic_energy", stored.kinetic_energy, "J", "kinetic energy", "t")
    _write(file, "potential_energy", stored.potential_energy, "J", "potential energy", "t")
    _write(file, "constraint_residual", stored.constraint_residual, "", "largest constraint |g|", "t")
    if stored.momenta:
        _scale(file, "momentum", tuple(stored.momenta), "", "names of the conserved momenta")
        momenta = np.stack(list(stored.momenta.values()), axis=1)
        _write(file, "momenta", momenta, "kg m2/s or kg m/s", "conserved momenta", "t", "momentum")


def _degrees_of_freedom(trajectory: Trajectory) -> int:
    """Those of the system or, if its own start cannot be used, at the first state of the run."""
    system = trajectory.system
    try:
        return system.degrees_of_freedom
    except ModelError:
        G = system.constraint_jacobian(trajectory.q[0], trajectory.t[0])
        return system.dimension - int(np.linalg.matrix_rank(G))


def _write_model(file: h5py.File, system: System) -> None:
    """The model as a dataset, since attributes hold at most 64 KiB; none if it is not all that the system is."""
    if isinstance(system, Nameplate) or system.model is None or system.arrays.force:
        return
    file["model"] = to_yaml(system.model)
    has_mesh = any(isinstance(shape, Mesh) for body in system.model.bodies.values() for shape in body.shapes)
    if has_mesh:
        file["model"].attrs["folder"] = str((system.model.folder or Path()).resolve())


def _computed(trajectory: Trajectory) -> Stored:
    """What is stored besides t, q and p.

    Nothing that cannot be computed, as velocities in a singular position, keeps a run from being saved: it is then not
    a number, or missing.
    """
    v = np.full_like(trajectory.q, np.nan)
    kinetic = potential = np.full(len(trajectory), np.nan)
    momenta: dict[str, Array] = {}
    with contextlib.suppress(ModelError):
        v, (kinetic, potential) = trajectory.v, trajectory._energies
    with contextlib.suppress(ModelError, np.linalg.LinAlgError):
        momenta = trajectory.momenta()
    return Stored(v, kinetic, potential, trajectory.constraint_residual(), momenta)


def _write(file: h5py.File, key: str, values: Any, unit: str, text: str, *scales: str) -> None:
    if isinstance(values, tuple):
        values = np.array(values, dtype=object)
        data = file.create_dataset(key, data=values, dtype=_text_type())
    else:
        rows = min(CHUNK_ROWS, len(values))
        data = file.create_dataset(key, data=values, chunks=(rows, *values.shape[1:]))
    data.attrs["long_name"] = text
    if unit:
        data.attrs["units"] = unit
    for axis, scale in enumerate(scales):
        data.dims[axis].attach_scale(file[scale])


def _scale(file: h5py.File, key: str, values: Any, unit: str, text: str) -> None:
    _write(file, key, values, unit, text)
    file[key].make_scale(key)


def _text_type() -> Any:
    import h5py

    return h5py.string_dtype()


# ---------------------------------------------------------------------------------------------- reading


def _trajectory(file: h5py.File, system: System | None, source: str) -> Trajectory:
    numbers: dict[str, Any] = json.loads(file.attrs["scheme_numbers"])
    fields: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in numbers.items()}
    momenta = file["momenta"][()].T if "momenta" in file else []
    names = file["momentum"].asstr()[()] if "momenta" in file else []
    return Trajectory(
        system=_system(file, system, source),
        scheme=Tableau(**fields) if "nodes" in fields else Method(**fields),
        step=float(file.attrs["step"]),
        every=int(file.attrs["every"]),
        t=file["t"][()],
        q=file["q"][()],
        p=file["p"][()],
        statistics=Statistics(**json.loads(file.attrs["statistics"])),
        stored=Stored(
            v=file["v"][()],
            kinetic_energy=file["kinetic_energy"][()],
            potential_energy=file["potential_energy"][()],
            constraint_residual=file["constraint_residual"][()],
            momenta=dict(zip(map(str, names), momenta, strict=True)),
        ),
        step_sizes=file["step_sizes"][()] if "step_sizes" in file else None,
    )


def _system(file: h5py.File, system: System | None, source: str) -> System:
    """The given system, or that of the model, or else its nameplate."""
    plate = Nameplate(
        name=str(file.attrs["name"]),
        coordinate_names=tuple(file["coordinate"].asstr()[()]),
        coordinate_units=tuple(file["coordinate_unit"].asstr()[()]),
        degrees_of_freedom=int(file.attrs["degrees_of_freedom"]),
        constraint_count=int(file.attrs["constraint_count"]),
        is_conservative=bool(file.attrs["is_conservative"]),
    )
    if system is None and "model" in file:
        system = assemble(_model(file, source))
    if system is None:
        return cast(System, plate)
    if system.coordinate_names != plate.coordinate_names:
        expected, found = (", ".join(each.coordinate_names) for each in (plate, system))
        raise ModelError(f"{source}: system: {wrong(f'the coordinates {expected}', found)}")
    _check_model(file, system, source)
    return system


def _check_model(file: h5py.File, system: System, source: str) -> None:
    """A given system's model is that of the file, if both have one; parameters may have become numbers."""
    if isinstance(system, Nameplate) or system.model is None or "model" not in file:
        return
    if to_yaml(system.model) == file["model"].asstr()[()]:
        return
    expected, found = _model(file, source).resolved(), system.model.resolved()
    different = [key for key in Model.model_fields if getattr(expected, key) != getattr(found, key)]
    if different:
        expectation, remedy = f"the file's model {expected.name!r}", "leave system out to take that of the file"
        found_text = f"{found.name!r} with other {', '.join(different)}"
        raise ModelError(f"{source}: system: {wrong(expectation, found_text, remedy)}")


def _model(file: h5py.File, source: str) -> Model:
    data = file["model"]
    return from_yaml(data.asstr()[()], source=f"{source}: model", folder=data.attrs.get("folder"))


def _damage(error: Exception) -> str:
    """What is wrong with a file that could not be read, from HDF5's words."""
    text = " ".join(str(error).split())
    if "signature not found" in text:
        return "a file that is not HDF5"
    if "truncated" in text:
        return "a truncated one; copy it again"
    return f"a damaged one ({text})"
