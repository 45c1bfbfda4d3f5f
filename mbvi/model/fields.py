"""Kinds of fields: what an element's field accepts, as a validator and as JSON Schema, and how it becomes numbers.

Every number may be an expression ("pi/3", "60 deg", names of parameters), so validators pass text on; `resolve` turns
it into numbers, as the Kind in a field's annotation says.
"""

from __future__ import annotations

import functools
import math
import numbers
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, PlainValidator, ValidationError, WithJsonSchema

from mbvi.errors import ModelError
from mbvi.model.base import Element, problems_of, refusal
from mbvi.model.expressions import Problem, as_number, check_parameter_name, show, wrong
from mbvi.model.graph import WORLD


@dataclass(frozen=True)
class Kind:
    """How a field becomes numbers.

    It holds `numbers`, a `direction`, a `place`, a function of `time` or `times` several, the `name` of a body or
    joint, or a `coordinate`. `of` is, for a place, the field that names the body it lies on; for a coordinate, the
    field that names its joint; for a name, the mapping of the Model that has it.
    """

    name: Literal["numbers", "direction", "place", "time", "times", "name", "coordinate"]
    of: str = ""
    or_world: bool = False


@functools.cache
def kinds(element: type[Element]) -> dict[str, Kind | None]:
    """The fields of an element, each with its kind, or None for text and for other elements."""
    return {
        key: next((item for item in field.metadata if isinstance(item, Kind)), None)
        for key, field in element.model_fields.items()
    }


# ------------------------------------------------------------------------------------- JSON Schemas


def _list_schema(items: dict[str, Any], *sizes: int) -> dict[str, Any]:
    """Lists with one of these sizes (any, if none is given)."""
    limits = {"minItems": min(sizes), "maxItems": max(sizes)} if sizes else {}
    return {"type": "array", "items": items, **limits}


def _any_schema(*options: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": list(options)})


_NULL_SCHEMA = {"type": "null"}
_NUMBER_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}
_VECTOR_SCHEMA = _list_schema(_NUMBER_SCHEMA, 3)
_TABLE_SCHEMA = {
    "type": "object",
    "description": "Values [their unit] at increasing times [s], interpolated smoothly.",
    "properties": {
        key: {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 2, "description": text}
        for key, text in (("times", "Strictly increasing times [s]."), ("values", "The value at each time."))
    },
    "required": ["times", "values"],
    "additionalProperties": False,
}
_TIME_SCHEMA = {"anyOf": [_NUMBER_SCHEMA, _TABLE_SCHEMA]}

SHARED_SCHEMAS: dict[str, dict[str, Any]] = {
    "Number": _NUMBER_SCHEMA,
    "Vector": _VECTOR_SCHEMA,
    "Table": _TABLE_SCHEMA,
    "TimeFunction": _TIME_SCHEMA,
}
"""JSON Schemas of kinds of fields that many elements have."""

# ------------------------------------------------------------------------------------------ numbers


def _scalar(value: Any, *at: int) -> float | str:
    if isinstance(value, str) and value.strip():
        number = as_number(value.strip())
        return value.strip() if number is None else _scalar(number, *at)
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise refusal(wrong("a number or an expression", show(value)), *at)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise refusal(wrong("a finite number", show(value)), *at)
    return number


def _items(value: Any) -> list[Any] | None:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return list(value) if isinstance(value, list | tuple) else None


def _tuples(item: Callable[..., Any], expected: str, *sizes: int) -> Callable[[Any], tuple[Any, ...]]:
    """A validator of tuples of such items with one of these sizes (any, if none is given)."""

    def validate(value: Any) -> tuple[Any, ...]:
        items = _items(value)
        if items is None or (sizes and len(items) not in sizes):
            raise refusal(wrong(expected, show(value)))
        return tuple(item(part, i) for i, part in enumerate(items))

    return validate
