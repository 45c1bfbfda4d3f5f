"""Element, the root of all that a model consists of, and pydantic's errors in one line.

Every error begins with the keys that lead to its place, as `joints.crank.axis: …`.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Self, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from mbvi.errors import ModelError
from mbvi.model.arguments import check_flag
from mbvi.model.expressions import Problem, Where, nearest, show, wrong

MAKE_ANOTHER = "make another, as by model.with_parameters(…) or model.model_copy(update=…)"


class Entries(dict[Any, Any]):
    """A mapping of an element, which like all of it does not change: what was resolved of it would be another."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise ModelError(wrong("a model as it was made", "a change of its entries", MAKE_ANOTHER))

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return Entries, (dict(self),)


class Element(BaseModel):
    """The common root of all elements: frozen, without unknown keys, and with one-line errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise ModelError(one_line(problems_of(error, type(self)))) from None

    # Of nested elements with an __init__ of their own pydantic loses the place, so this one is marked as pydantic's.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            super().__setattr__(name, value)
        except ValidationError:
            raise _changed(name) from None

    def __delattr__(self, name: str) -> None:
        try:
            super().__delattr__(name)
        except ValidationError:
            raise _changed(name) from None

    def model_post_init(self, context: Any, /) -> None:
        """Keep mappings from changes."""
        freeze(self)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values of some fields.

        Parameters
        ----------
        update : mapping of str to value, optional
            Values, each of which its field must take; what ties fields to each other is checked where the model is used.
        deep : bool
            Whether what the fields hold is copied too.

        Raises
        ------
        ModelError
            If there is no such field, or a value is none of its field.
        """
        if update is not None and not isinstance(update, Mapping):
            raise ModelError(f"update: {wrong('a mapping of fields to values', show(update))}")
        check_flag(deep, "deep")
        return self.replaced({key: _field_value(type(self), key, value) for key, value in (update or {}).items()}, deep)

    def copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:  # type: ignore[override]
        """A copy as `model_copy` makes it; the method of this name that pydantic has takes fields that there are not."""
        return self.model_copy(update=update, deep=deep)

    def replaced(self, values: Mapping[str, Any], deep: bool = False) -> Self:
        """A copy with other values of some fields, which are not checked, but that there are such fields.

        Raises
        ------
        ModelError
            If there is no such field.
        """
        for key in values:
            _check_field(type(self), key)
        copied = super().model_copy(update=values, deep=deep)
        freeze(copied)
        return copied

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the numbers of this element, which are resolved; places are relative to the element."""
        yield from ()

    def roundings(self) -> Iterator[Problem]:
        """What the canonical form changes in numbers without problems, since they were rounded; places are relative too."""
        yield from ()

    def canonical(self) -> dict[str, Any]:
        """The fields that a resolved element has in another form: unit axes, unit quaternions, inertia matrices."""
        return {}


def _changed(name: str) -> ModelError:
    """What is raised where a field of an element is set or deleted."""
    return ModelError(f"{name}: {wrong('a model as it was made', 'a change of its fields', MAKE_ANOTHER)}")


def freeze(element: Element) -> None:
    """Keep the mappings of an element from changes."""
    for key, value in element.__dict__.items():
        if type(value) is dict:
            element.__dict__[key] = Entries(value)


def _check_field(element: type[Element], key: Any) -> None:
    """Refuse what is no field of an element."""
    if key not in element.model_fields:
        remedy = nearest(str(key), element.model_fields)
        raise ModelError(f"update: {wrong(f'fields of {element.__name__}', show(key), remedy)}")


def _field_value(element: type[Element], key: Any, value: Any) -> Any:
    """A value of a field, as the field has it."""
    _check_field(element, key)
    try:
        return _adapter(element, key).validate_python(value)
    except ValidationError as error:
        raise ModelError(one_line(problems_of(error, element, key))) from None


@functools.cache
def _adapter(element: type[Element], key: str) -> TypeAdapter[Any]:
    """What validates a field alone."""
    field = element.model_fields[key]
    return TypeAdapter(Annotated[field.annotation, field])  # type: ignore[arg-type]


@functools.cache
def documentation(element: type[Element]) -> tuple[str, dict[str, str]]:
    """What an element is, and what its fields are, from its docstring and those of what it has in common with others."""
    documents = [
        _documented(inspect.getdoc(owner) or "") for owner in reversed(element.__mro__) if owner is not Element
    ]
    return documents[-1][0], {key: text for _, texts in documents for key, text in texts.items()}


@functools.cache
def documented_unit(element: type[Element], key: str) -> str:
    """The unit that a field's documentation ends with, as [m]; empty if there is none."""
    found = re.findall(r"\[([^\[\]]*)\]", documentation(element)[1].get(key, ""))
    return found[-1] if found else ""


def _documented(text: str) -> tuple[str, dict[str, str]]:
    """The text above the sections of a numpydoc docstring, and the text on each of its parameters."""
    head, _, tail = text.partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w+\n-+\n", tail)[0]
    found = re.findall(r"^(\w+) : .*\n((?:    .*\n?)+)", section, flags=re.MULTILINE)
    summary = re.split(r"\n\n\w+\n-+\n", head)[0]
    return " ".join(summary.split()), {key: " ".join(lines.split()) for key, lines in found}


def one_line(problems: Sequence[Problem]) -> str:
    """The first problem, and how many more there are."""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


def refusal(text: str, *at: str | int) -> PydanticCustomError:
    """What a validator raises; `at` leads from the validated field to what is wrong in it."""
    return PydanticCustomError("mbvi", "{text}", {"text": text, "at": at})


def validation_error(problems: Sequence[Problem]) -> ValidationError:
    """What a validator of a whole model raises; `problems_of` gives the problems back."""
    details = [InitErrorDetails(type=refusal(text, *where), loc=(), input=None) for where, text in problems]
    return ValidationError.from_exception_data("Model", details)


def problems_of(error: ValidationError, element: type[Element], *keys: str) -> list[Problem]:
    """What pydantic found wrong in an element's data, or in a field of it; unknown keys and types first, since others follow."""
    details = error.errors(include_url=False)
    details.sort(key=lambda detail: detail["type"] not in ("extra_forbidden", "union_tag_invalid"))
    return [_problem({**detail, "loc": (*keys, *detail["loc"])}, element) for detail in details]


def _problem(detail: dict[str, Any], element: type[Element]) -> Problem:
    where, owners = _descend(detail["loc"], element)
    found, context = show(detail["input"]), detail.get("ctx", {})
    match detail["type"]:
        case "mbvi":
            return Problem((*where, *context["at"]), context["text"])
        case "extra_forbidden":
            key, known = str(where[-1]), [name for owner in owners for name in owner.model_fields]
            return Problem(where, wrong("a known key", show(key), nearest(key, known)))
        case "missing":
            return Problem(where, wrong("a value", "nothing", f"add the key {where[-1]!r}"))
        case "union_tag_invalid" | "union_tag_not_found":
            known = [str(owner.model_fields["type"].default) for owner in owners]
            tag = context.get("tag")
            if not tag:
                keys = map(str, detail["input"]) if isinstance(detail["input"], Mapping) else ()
                if close := difflib.get_close_matches("type", keys, n=1):
                    return Problem(where, wrong("the key 'type'", show(close[0]), "did you mean 'type'?"))
                return Problem(
                    (*where, "type"), wrong("a known type", "nothing", f"add the key 'type'; {nearest('', known)}")
                )
            remedy = _where_it_belongs(tag, element) or nearest(tag, known)
            return Problem((*where, "type"), wrong("a known type", show(tag), remedy))
        case "literal_error":
            return Problem(where, wrong(context["expected"], found))
        case "string_type":
            return Problem(where, wrong("text", found))
        case "bool_type":
            return Problem(where, wrong("true or false", found))
        case "tuple_type":
            return Problem(where, wrong("a list", found))
        case "dict_type" | "model_type" | "model_attributes_type":
            return Problem(where, wrong("a mapping of keys to values", found))
    return Problem(where, wrong("a valid value", f"{found} ({detail['msg']})"))


def _where_it_belongs(tag: str, element: type[Element]) -> str:
    """The remedy for a type that stands in the wrong part of an element; nothing if no part has such a type."""
    for key, field in element.model_fields.items():
        typed = (each for each in _elements_in(field.annotation) if "type" in each.model_fields)
        if any(each.model_fields["type"].default == tag for each in typed):
            return f"write it under {key}"
    return ""


def _descend(loc: Sequence[str | int], element: type[Element]) -> tuple[Where, list[type[Element]]]:
    """Where pydantic's loc leads, without the tags of unions, and the elements that may own its last key."""
    owners, skip = [element], 0
    where: list[str | int] = []
    for key in loc:
        if key == "[key]":
            continue
        if skip == 0 and len(owners) > 1:
            owners = [owner for owner in owners if owner.model_fields["type"].default == key]
            continue
        where.append(key)
        if skip:
            skip -= 1
        elif owners and key in owners[0].model_fields:
            annotation = owners[0].model_fields[str(key)].annotation
            owners = _elements_in(annotation)
            skip = 1 if get_origin(annotation) in (dict, tuple) else 0
    return tuple(where), owners


def _elements_in(annotation: Any) -> list[type[Element]]:
    if isinstance(annotation, type) and issubclass(annotation, Element):
        return [annotation]
    return [found for part in get_args(annotation) for found in _elements_in(part)]


def elements_below(element: type[Element]) -> dict[str, type[Element]]:
    """An element and all that its fields may hold, at any depth, by the names of their classes."""
    found = {element.__name__: element}
    for field in element.model_fields.values():
        for part in _elements_in(field.annotation):
            found |= elements_below(part)
    return found
