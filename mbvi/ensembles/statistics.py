"""Means, covariances and quantiles of members while these run, in memory that grows with the logarithm of their number alone.

What is summed up without being stored is in a file beside that of the ensemble until all members are done, with the members
that it is of. An ensemble that is resumed goes on from there: members that ended later run again, since nothing is left of them.

Moments of a chunk are added to those before as of two samples (Chan, Golub & LeVeque 1979). Quantiles come from levels of sorted
values: a level that is full gives every other of them to the next, where each stands for twice as many (Manku, Rajagopalan &
Lindsay 1998). With levels of s values, the rank of a quantile of n members is wrong by at most n log2(n/s) / 2s.
"""

from __future__ import annotations

import math
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.ensembles.store import DONE, NOT_RUN, ROOM_REMEDY, Ended, InFile, InMemory, Variable
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.results.output import replace_file, reported

Array = np.ndarray
LEVEL = 512  # values of a level
PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.95)
OTHER = "other_coordinate"
SECONDS, SHARE = (
    1.0,
    20,
)  # between statistics that are kept while members run, at least; and so many times what finding them takes


class Moments:
    """Mean and covariance of vectors in several streams.

    Parameters
    ----------
    streams, size : int
        Number of streams, and of components of every vector.
    """

    def __init__(self, streams: int, size: int) -> None:
        self.count, self.mean = 0, np.zeros((streams, size))
        self._spread = np.zeros((streams, size, size))

    def add(self, values: Array) -> None:
        """Add values (k, streams, size)."""
        count = len(values)
        if not count:
            return
        mean, total = values.mean(axis=0), self.count + count
        off, shift = values - mean, mean - self.mean
        self._spread += np.einsum("ksi,ksj->sij", off, off)
        self._spread += np.einsum("si,sj->sij", shift, shift) * (self.count * count / total)
        self.mean += shift * (count / total)
        self.count = total

    def covariance(self) -> Array:
        """Covariance of the members, divided by their number less 1 (streams, size, size); of fewer than two not a number."""
        if self.count < 2:
            return np.full_like(self._spread, np.nan)
        return self._spread / (self.count - 1)

    def state(self) -> dict[str, Array]:
        """All that there is, by names."""
        return {"count": np.array(self.count), "mean": self.mean, "spread": self._spread}

    def go_on(self, state: Mapping[str, Array]) -> None:
        """Go on from a state."""
        self.count, self.mean, self._spread = int(state["count"]), state["mean"], state["spread"]


class Quantiles:
    """Quantiles of several streams of numbers.

    Parameters
    ----------
    streams : int
    """

    def __init__(self, streams: int) -> None:
        self._levels = [np.empty((0, streams))]
        self._skips = [0]

    def add(self, values: Array) -> None:
        """Add values (k, streams)."""
        self._push(0, values)

    def _push(self, level: int, values: Array) -> None:
        """Add values to a level, and where it is full give every other one to the next."""
        if level == len(self._levels):
            self._levels.append(np.empty((0, values.shape[1])))
            self._skips.append(0)
        together = np.concatenate([self._levels[level], values])
        count = len(together) - len(together) % 2 if len(together) >= LEVEL else 0
        self._levels[level] = together[count:].copy()
        if count:
            ordered = np.sort(together[:count], axis=0)
            skip, self._skips[level] = self._skips[level], 1 - self._skips[level]
            self._push(level + 1, ordered[skip::2])

    def at(self, probabilities: Sequence[float]) -> Array:
        """The least values to which at least these parts of all belong (probabilities, streams); not numbers where none are."""
        values = np.concatenate(self._levels)
        if not len(values):
            return np.full((len(probabilities), values.shape[1]), np.nan)
        weights = np.repeat(2.0 ** np.arange(len(self._levels)), [len(each) for each in self._levels])
        order = np.argsort(values, axis=0)
        reached = np.cumsum(weights[order], axis=0)
        parts = [(reached < p * weights.sum() * (1 - 1e-12)).sum(axis=0) for p in probabilities]
        return np.stack([np.take_along_axis(values, order[part, range(values.shape[1])][None], 0)[0] for part in parts])

    def state(self) -> dict[str, Array]:
        """All that there is, by names."""
        return {"skips": np.array(self._skips)} | {f"level{i}": each for i, each in enumerate(self._levels)}

    def go_on(self, state: Mapping[str, Array]) -> None:
        """Go on from a state."""
        self._skips = state["skips"].tolist()
        self._levels = [state[f"level{i}"] for i in range(len(self._skips))]


class Statistics:
    """The statistics of some variables of all members that are done.

    Parameters
    ----------
    variables : dict of str to Variable
    """

    def __init__(self, variables: Mapping[str, Variable]) -> None:
        self._variables = dict(variables)
        streams = {name: math.prod(_split(each)[0]) for name, each in variables.items()}
        sizes = {name: math.prod(_split(each)[1]) for name, each in variables.items()}
        self._moments = {name: Moments(streams[name], sizes[name]) for name in variables}
        self._quantiles = {name: Quantiles(streams[name] * sizes[name]) for name in variables}

    def add(self, ended: Ended) -> None:
        """Add members that have ended."""
        is_done = ended.status == DONE
        for name, moments in self._moments.items():
            values = ended.values[name][is_done].reshape(-1, *moments.mean.shape)
            moments.add(values)
            self._quantiles[name].add(values.reshape(len(values), moments.mean.size))

    def found(self) -> dict[str, Array]:
        """All statistics, by the names of `summaries`."""
        values: dict[str, Array] = {}
        for name, moments in self._moments.items():
            mean, spread, quantiles = _names(name, self._variables[name])
            values |= {mean: moments.mean if moments.count else np.full_like(moments.mean, np.nan)}
            values |= {spread: moments.covariance(), quantiles: self._quantiles[name].at(PROBABILITIES)}
        return {name: values[name].reshape(each.shape) for name, each in summaries(self._variables).items()}

    def _parts(self) -> Iterator[tuple[str, Moments | Quantiles]]:
        """All that is summed up, by names."""
        for name in self._variables:
            yield f"{name}/moments", self._moments[name]
            yield f"{name}/quantiles", self._quantiles[name]

    def write(self, path: Path, counted: Array) -> None:
        """Write all of it to a file, and of which members it is (members,).

        Raises
        ------
        ModelError
            If there is no room.
        """
        arrays: dict[str, Any] = {
            f"{part}/{key}": value for part, each in self._parts() for key, value in each.state().items()
        }

        def write(part: Path) -> None:
            with reported(path, "room on the disk", ROOM_REMEDY), part.open("wb") as file:
                np.savez(file, counted=counted, **arrays)

        replace_file(path, write)

    def read(self, path: Path, is_done: Array) -> Array:
        """Go on from a file; of which members it is (members,).

        Raises
        ------
        ModelError
            If there is none, or it is not of members that are done (members,).
        """
        found = "another file"
        try:
            with np.load(path) as file:
                arrays = {key: file[key] for key in file.files}
            counted: Array = arrays["counted"]
            if counted.shape == is_done.shape and not (counted & ~is_done).any():
                for part, each in self._parts():
                    each.go_on(
                        {key[len(part) + 1 :]: value for key, value in arrays.items() if key.startswith(f"{part}/")}
                    )
                return counted
        except FileNotFoundError:
            found = "no such file"
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
            pass
        remedy = "begin anew without resume and with force (--force), and store what is summed up"
        raise ModelError(f"{path}: {wrong('that from which statistics go on', found, remedy)}")


class SummedUp:
    """A context that takes what members leave behind: it keeps that, and their statistics, from time to time and at the end.

    Parameters
    ----------
    kept : InMemory or InFile
    variables : dict of str to Variable
        The variables of which there are statistics.

    Raises
    ------
    ModelError
        If an ensemble is resumed of which there is nothing from which statistics could go on.
    """

    def __init__(self, kept: InMemory | InFile, variables: Mapping[str, Variable]) -> None:
        self._kept, self._statistics = kept, Statistics(variables)
        self._next, self._is_new = time.monotonic() + SECONDS, True
        self._counted = np.zeros_like(kept.is_done)
        self._file = kept.beside(".statistics") if isinstance(kept, InFile) and not kept.has(variables) else None
        if variables and isinstance(kept, InFile) and kept.is_done.any():
            self._go_on(kept, variables)
        elif self._file is not None:
            self._statistics.write(self._file, self._counted)

    def _go_on(self, kept: InFile, variables: Mapping[str, Variable]) -> None:
        """Take up the members that are done."""
        self._is_new = False
        if self._file is None:
            for ended in kept.done(variables):
                self._statistics.add(ended)
        elif not kept.is_done.all() or self._file.exists():
            self._counted = self._statistics.read(self._file, kept.is_done)
            kept.forget(kept.is_done & ~self._counted)

    def __enter__(self) -> Callable[[Ended], None]:
        return self._put

    def _put(self, ended: Ended) -> None:
        self._kept.put(ended)
        self._statistics.add(ended)
        self._counted[ended.numbers], self._is_new = ended.status != NOT_RUN, True
        if time.monotonic() > self._next:
            self._keep()

    def _keep(self) -> None:
        """Keep what is known, so seldom that to find it takes a twentieth of the time."""
        began = time.monotonic()
        self._kept.summarize(self._statistics.found())
        if self._file is not None:
            self._statistics.write(self._file, self._counted)
        self._next = time.monotonic() + max(SECONDS, SHARE * (time.monotonic() - began))

    def __exit__(self, *error: object) -> None:
        if self._is_new:
            self._keep()
        if self._file is not None and self._kept.is_done.all():
            self._file.unlink(missing_ok=True)


def summaries(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """The variables of all statistics of some variables, with all their dimensions."""
    return {name: summary for key, each in variables.items() for name, summary in _summaries(key, each)}


def _summaries(name: str, of: Variable) -> Iterator[tuple[str, Variable]]:
    """Mean, covariance or variance, and quantiles of a variable."""
    mean, spread, quantiles = _names(name, of)
    own, vector = _split(of)
    square = (f"({of.units})^2" if of.units else "") if not vector else "products of the units of two coordinates"
    others = (*of.dimensions, OTHER) if vector else of.dimensions
    yield mean, Variable(of.dimensions, of.shape, of.units, f"mean of {name} over the members that are done")
    text = "covariance" if vector else "variance"
    yield spread, Variable(others, (*own, *vector, *vector), square, f"{text} of {name} over the members that are done")
    shape = (len(PROBABILITIES), *of.shape)
    yield quantiles, Variable(("quantile", *of.dimensions), shape, of.units, f"quantiles of {name} over the same")


def _names(name: str, of: Variable) -> tuple[str, str, str]:
    """The names of mean, covariance or variance, and quantiles of a variable."""
    return f"{name}_mean", f"{name}_{'covariance' if _split(of)[1] else 'variance'}", f"{name}_quantiles"


def _split(of: Variable) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lengths of the dimensions of a variable: of times, and of the components of a vector."""
    is_vector = "coordinate" in of.dimensions
    return (of.shape[:-1], of.shape[-1:]) if is_vector else (of.shape, ())
