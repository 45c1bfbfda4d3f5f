"""Which values the members of an ensemble have: lists, which are crossed, and samples of distributions.

A sample is a set of points in the unit cube, one edge for each distribution, whose quantile function makes values of it:

    random            independent points
    latin_hypercube   every edge in as many equal parts as there are members, with one point in each (McKay et al. 1979)
    sobol             a scrambled sequence of low discrepancy (Sobol 1967, Owen 1998), of 2^k points
    saltelli          points of two such sequences, and all of one with one coordinate of the other, for Sobol indices
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from mbvi.ensembles.members import check_count
from mbvi.ensembles.sensitivity import DIMENSION, saltelli
from mbvi.ensembles.variation import check_text
from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.model.base import Element, refusal
from mbvi.model.expressions import evaluate, show, wrong
from mbvi.model.fields import Scalar, Scalars
from mbvi.model.file import load_element
from mbvi.model.model import Model

Array = np.ndarray
MOST = 1 << 32  # of members and seeds
EDGE = 2.0**-53  # from the ends of the unit interval, where quantiles may be infinite


def _count(value: Any) -> int:
    """A whole number, also as files have it."""
    number = as_floats(value) if not isinstance(value, bool) else None
    if number is None or number.ndim or not (0 <= number < MOST and float(number).is_integer()):
        raise refusal(wrong(f"a whole number from 0 to {MOST - 1}", show(value)))
    return int(number)


Count = Annotated[int, PlainValidator(_count), WithJsonSchema({"type": "integer", "minimum": 0})]


class Distribution(Element):
    """What has a quantile function."""

    positive: ClassVar[tuple[str, ...]] = ()
    increasing: ClassVar[tuple[str, ...]] = ()

    def quantile(self, u: Array) -> Array:
        """Values (members,) below which lie parts u of all."""
        raise NotImplementedError


class Uniform(Distribution):
    """Every value between two is as likely.

    Parameters
    ----------
    low, high : number
    """

    type: Literal["uniform"] = "uniform"
    low: Scalar
    high: Scalar
    increasing: ClassVar[tuple[str, ...]] = ("low", "high")

    def quantile(self, u: Array) -> Array:
        """Values (members,) below which lie parts u of all."""
        return float(self.low) + u * (float(self.high) - float(self.low))


class Normal(Distribution):
    """The normal distribution.

    Parameters
    ----------
    mean : number
    deviation : number
        The standard deviation, greater than 0.
    """

    type: Literal["normal"] = "normal"
    mean: Scalar
    deviation: Scalar
    positive: ClassVar[tuple[str, ...]] = ("deviation",)

    def quantile(self, u: Array) -> Array:
        """Values (members,) below which lie parts u of all."""
        return float(self.mean) + float(self.deviation) * _normal(u)


class LogNormal(Distribution):
    """The logarithm has a normal distribution, so that no value is negative.

    Parameters
    ----------
    median : number
        Greater than 0.
    deviation : number
        The standard deviation of the logarithm, greater than 0: 0.1 is about a tenth of the value.
    """

    type: Literal["lognormal"] = "lognormal"
    median: Scalar
    deviation: Scalar
    positive: ClassVar[tuple[str, ...]] = ("median", "deviation")

    def quantile(self, u: Array) -> Array:
        """Values (members,) below which lie parts u of all."""
        return float(self.median) * np.exp(float(self.deviation) * _normal(u))


class Triangular(Distribution):
    """Between two values, and most likely near a third.

    Parameters
    ----------
    low, mode, high : number
    """

    type: Literal["triangular"] = "triangular"
    low: Scalar
    mode: Scalar
    high: Scalar
    increasing: ClassVar[tuple[str, ...]] = ("low", "mode", "high")

    def quantile(self, u: Array) -> Array:
        """Values (members,) below which lie parts u of all."""
        low, mode, high = float(self.low), float(self.mode), float(self.high)
        rising = low + np.sqrt(u * (high - low) * (mode - low))
        return np.where(u * (high - low) < mode - low, rising, high - np.sqrt((1 - u) * (high - low) * (high - mode)))


class Values(Element):
    """A list of values, each of which is combined with all else.

    Parameters
    ----------
    values : list
    """

    type: Literal["values"] = "values"
    values: Scalars


def _entry(given: Any) -> Any:
    """What varies, of which a list is a short form."""
    return {"type": "values", "values": given} if isinstance(given, list | tuple | np.ndarray) else given


AnyEntry = Annotated[
    Uniform | Normal | LogNormal | Triangular | Values, Field(discriminator="type"), BeforeValidator(_entry)
]


class SamplingPlan(Element):
    """What varies in an ensemble, in a file or in Python: `ensemble` takes it as what it is over.

    Parameters
    ----------
    over : mapping
        By the names of `ensemble`: distributions, of which there are samples, all along the dimension ``member``; or lists of
        numbers, each of which is combined with all else.
    members : int
        Size of the sample; with saltelli that of each of its parts, of which there are two more than distributions.
    method : str
        random, latin_hypercube, sobol or saltelli.
    seed : int
        The seed of the sample: the same seed gives the same sample.

    Examples
    --------
    >>> plan = SamplingPlan(over={"mass": Uniform(low=1, high=2)}, members=4, method="latin_hypercube")
    >>> dimension, values = plan.values()["mass"]
    >>> dimension, sorted(int(4 * (value - 1)) for value in values)
    ('member', [0, 1, 2, 3])
    """

    over: dict[str, AnyEntry]
    members: Count = 1
    method: Literal["random", "latin_hypercube", "sobol", "saltelli"] = "sobol"
    seed: Count = 0

    def values(self, model: Model | None = None) -> dict[str, Any]:
        """The values of parameters in every member, in the form in which `ensemble` takes them.

        Parameters
        ----------
        model : Model, optional
            The model whose parameters expressions use.

        Raises
        ------
        ModelError
            If a number is wrong, or the method does not allow so many members.
        """
        resolved = {name: _resolved(name, each, model) for name, each in self.over.items()}
        distributions = {name: each for name, each in resolved.items() if isinstance(each, Distribution)}
        points = self._points(len(distributions)) if distributions else np.empty((0, 0))
        columns = iter(np.clip(points, EDGE, 1 - EDGE).T)
        return {
            name: (DIMENSION, each.quantile(next(columns))) if isinstance(each, Distribution) else list(each)
            for name, each in resolved.items()
        }

    def _points(self, edges: int) -> Array:
        """Points of the unit cube (members, edges)."""
        count, seed = self.members, self.seed
        if count < 1:
            raise ModelError(f"plan: members: expected a whole number of at least 1, found {count}")
        check_count((edges + 2) * count if self.method == "saltelli" else count, edges)
        if self.method in ("sobol", "saltelli") and count & (count - 1):
            power = 1 << count.bit_length()
            remedy = f"write {power // 2} or {power}"
            raise ModelError(f"plan: members: {wrong(f'a power of 2 for {self.method}', show(count), remedy)}")
        if self.method == "random":
            return np.random.default_rng(seed).random((count, edges))
        if self.method == "saltelli":
            return saltelli(edges, count, seed)
        qmc = import_module("scipy.stats.qmc")
        kind = qmc.Sobol if self.method == "sobol" else qmc.LatinHypercube
        return kind(edges, seed=np.random.default_rng(seed)).random(count)


def load_plan(path: str | os.PathLike[str]) -> SamplingPlan:
    """Read a sampling plan from a YAML file, which has the fields of `SamplingPlan`.

    Raises
    ------
    ModelError
        If anything is wrong; the message begins with file and line.
    """
    return load_element(path, SamplingPlan, "a sampling plan")


def _normal(u: Array) -> Array:
    """Quantiles of the normal distribution of mean 0 and deviation 1."""
    return import_module("scipy.special").ndtri(u)


def _resolved(name: str, given: Distribution | Values, model: Model | None) -> Any:
    """A distribution or a list in numbers."""
    where = f"plan: over.{name}"
    if not isinstance(given, Distribution):
        return [_number(f"{where}: {i}", name, each, model) for i, each in enumerate(given.values)]
    keys = [key for key in type(given).model_fields if key != "type"]
    found = {key: _number(f"{where}.{key}", name, getattr(given, key), model) for key in keys}
    for key in given.positive:
        if not found[key] > 0:
            raise ModelError(f"{where}.{key}: expected a number greater than 0, found {found[key]:g}")
    ordered = [found[key] for key in given.increasing]
    if ordered and not (sorted(ordered) == ordered and ordered[0] < ordered[-1]):
        raise ModelError(f"{where}: expected increasing numbers {', '.join(given.increasing)}, found {show(ordered)}")
    return given.replaced(found)


def _number(where: str, name: str, value: float | str, model: Model | None) -> float:
    """The value of an expression of a unit that what varies may have."""
    if not isinstance(value, str):
        return value
    try:
        number = float(evaluate(value, model.resolved().parameters if model else {}))  # type: ignore[arg-type]
        if model is not None:
            check_text(model, name, value)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from None
    return number


def values_of(over: Mapping[str, Any] | SamplingPlan, model: Any) -> Any:
    """What varies, of a plan or as it is."""
    described = model if isinstance(model, Model) else getattr(model, "model", None)
    return over.values(described) if isinstance(over, SamplingPlan) else over
