"""A user's own functions: compiled so that they write into their output alone, with the values that they read from outside.

numba compiles the values of globals and of what a function closes over as constants. So a system remembers them, and refuses to
be used when they have become others.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import linecache
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.compiler import decorators
from mbvi.model.expressions import show, wrong

FORCE, MASS_MATRIX, POTENTIAL, CONSTRAINTS, VELOCITY_CONSTRAINTS = (
    "force(t, q, v, F)",
    "mass_matrix(q, M)",
    "potential(q)",
    "constraints(q, g)",
    "velocity_constraints(q, A)",
)
MISSING = object()
VALUES = (bool, int, float, complex, str, bytes, tuple, np.generic, np.ndarray)
LONGEST = 200  # number of characters of numba's message that are shown
REMEDIES = {  # by words of numba's message
    "<class 'function'>": "decorate that function with @numba.njit",
    "Untyped global name": "take numbers, tuples of them and NumPy arrays from outside",
    "reflected list": "take a tuple or a NumPy array instead",
    "IMPORT_NAME": "import outside of the function",
}
READS, COPY = "a function that leaves q and v as they are", "write into a copy, as x = q.copy()"
READ_ONLY = "read-only"  # in numpy's message about an array that is only to be read
SHAPES = "broadcast|shapes|mismatch"  # in numpy's message about arrays that do not fit


class OwnForce(NamedTuple):
    """A compiled force of the user's own, and the names of its parameters, in its order."""

    function: Any
    names: tuple[str, ...]


def compile_own(
    where: str, function: FunctionType, kinds: Sequence[tuple[Any, ...]], has_output: bool = True, parameters: int = 0
) -> Callable:
    """A user's function, checked and compiled for arguments of these kinds; of several the last is the output, if it has one.

    Behind them it has so many parameters, which are numbers.

    Raises
    ------
    ModelError
        If numba cannot compile it, as where it writes into what it is to read.
    """
    _renew(function, set())
    whole = [(*kind, *[layout.OWN_PARAMETER] * parameters) for kind in kinds]
    try:
        compiled = decorators.protected(function, *whole)
    except Exception as error:  # numba raises many
        raise ModelError(_explained(where, function, whole, error)) from error
    if has_output and returned_kinds(compiled) - {"none"}:
        _check_returned(where, function, len(kinds[0]) - 1)
    return compiled


def returned_kinds(compiled: Any) -> set[str]:
    """What a compiled function may return, as numba calls it; empty where nothing is compiled."""
    return {str(each.return_type) for each in getattr(compiled, "nopython_signatures", ())}


def parameters_of(function: Any, signature: str) -> dict[str, Any]:
    """What a user's function takes beyond a signature, by position: names with defaults, `MISSING` where there is none."""
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        return {}
    defaults = plain.__defaults__ or ()
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    given = [MISSING] * (len(names) - len(defaults)) + list(defaults)
    first = signature.count(",") + 1
    return dict(zip(names[first:], given[first:], strict=True))


def checked_function(
    where: str, function: Any, signature: str, has_output: bool = True, parameters: Sequence[str] = ()
) -> FunctionType:
    """The user's Python function, if it takes what a signature and then parameters name, and does not rebind the output.

    That is the last of the signature, if there are several and the function has one.
    """
    plain = getattr(function, "py_func", function)
    names = signature.partition("(")[2].rstrip(")").split(", ")
    if not isinstance(plain, FunctionType):
        raise ModelError(f"{where}: {wrong('a Python function', show(function), f'write def {signature}: …')}")
    try:
        inspect.signature(plain).bind(*names, *parameters)
    except TypeError:
        found = f"{plain.__name__}{inspect.signature(plain)}"
        raise ModelError(f"{where}: {wrong(f'a function {signature}', found)}") from None
    given = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    if any(name in names and name != names[i] for i, name in enumerate(given[: len(names)])):
        found = f"{plain.__name__}{inspect.signature(plain)}"
        raise ModelError(f"{where}: {wrong(f'a function {signature}', found, 'arguments are passed in this order')}")
    if plain.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        raise ModelError(f"{where}: {wrong(f'a function {signature}', 'one with yield or await, which runs nothing')}")
    if has_output and 1 < len(names) <= plain.__code__.co_argcount:  # else the output is one of *arguments
        _check_output(where, plain, len(names) - 1)
    return plain


def _check_output(where: str, function: FunctionType, index: int) -> None:
    """Refuse a function that binds the name of its output to something else, by which nothing gets out of it."""
    name = function.__code__.co_varnames[index]
    if (line := _rebinding(function.__code__, name)) is not None:
        found = f"the name bound to another value{_at_line(function, line)}, of which nothing comes out"
        remedy = f"write {name}[:] = …, {name}[0] = … or {name} += …"
        raise ModelError(f"{where}: {wrong(f'values written into {name}', found, remedy)}")


def _check_returned(where: str, function: FunctionType, index: int) -> None:
    """Refuse a function with an output that returns something else, of which nothing is used."""
    if not 0 < index < function.__code__.co_argcount:
        return
    name = function.__code__.co_varnames[index]
    if line := next((line for line, value in _returns(function.__code__) if value not in (None, name)), None):
        found = f"a value returned{_at_line(function, line)}, of which nothing is used"
        raise ModelError(f"{where}: {wrong(f'values written into {name}', found, f'write {name}[:] = …')}")


def _returns(code: CodeType) -> Iterator[tuple[int, Any]]:
    """The lines that return something, and the constant or name that each returns; MISSING where it is computed."""
    before = None
    for each in dis.get_instructions(code):
        if each.opname in ("RETURN_VALUE", "RETURN_CONST"):
            source = each if each.opname == "RETURN_CONST" else before
            is_plain = source is not None and re.match("RETURN_CONST|LOAD_(CONST|FAST|DEREF)", source.opname)
            yield _line_of(code, each.offset), source.argval if source is not None and is_plain else MISSING
        before = each


def _line_of(code: CodeType, offset: int) -> int:
    """The line of an instruction; of one that stands for none, the first of the function."""
    return next(line for start, end, line in code.co_lines() if start <= offset < end) or code.co_firstlineno


def _rebinding(code: CodeType, name: str) -> int | None:
    """The first line in which a name is bound to something else; an operation in place, as F += v, binds an array to itself."""
    is_in_place = False
    for each in dis.get_instructions(code):
        stored = each.argval[: each.opname.count("STORE")] if isinstance(each.argval, tuple) else (each.argval,)
        if re.match("(STORE|DELETE)_(FAST|DEREF)", each.opname) and name in stored and not is_in_place:
            return _line_of(code, each.offset)
        is_in_place = each.opname.startswith("INPLACE_") or (each.opname == "BINARY_OP" and each.argrepr.endswith("="))
    return None


def check_call(
    where: str, function: FunctionType, *arguments: Any, has_output: bool = True, parameters: Sequence[float] = ()
) -> Any:
    """What a function returns that is called uncompiled, with read-only arrays for what it is to read; or MISSING.

    It is MISSING where it raises an error, which it need not do at other places. The output is the last of the arguments, behind
    which come the parameters.

    Raises
    ------
    ModelError
        If it reads or writes beyond its arrays, joins arrays that do not fit, writes into what it is to read, or returns a value
        beside its output.
    """
    try:
        with np.errstate(all="ignore"):
            value = function(*arguments, *parameters)
    except (IndexError, ValueError) as error:
        place = _at_line(function, _line_raised(function, error))
        if READ_ONLY in str(error):
            raise ModelError(f"{where}: {wrong(READS, f'one that writes into them{place}', COPY)}") from None
        if isinstance(error, IndexError):
            raise ModelError(f"{where}: {wrong('indices within the arrays', f'{error}{place}')}") from None
        if re.search(SHAPES, str(error)):
            raise ModelError(f"{where}: {wrong('arrays of shapes that fit', f'{error}{place}')}") from None
        return MISSING
    except Exception:
        return MISSING
    if has_output and value is not None and value is not arguments[-1]:
        _check_returned(where, function, len(arguments) - 1)
    return value


def check_returns_number(where: str, function: FunctionType, *arguments: Any) -> None:
    """Call a function as `check_call` does, and refuse one that returns no real number.

    Raises
    ------
    ModelError
        If it returns anything else, or calling it shows that it is wrong.
    """
    value = check_call(where, function, *arguments, has_output=False)
    if value is MISSING or isinstance(value, Real | np.bool_):
        return
    lines = [line for line, returned in _returns(function.__code__) if returned is not None]
    place = _at_line(function, lines[-1] if lines and value is not None else function.__code__.co_firstlineno)
    found = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else show(value)
    remedy = "end it with return …" if value is None else "return one number"
    raise ModelError(f"{where}: {wrong('a function that returns a number', f'{found}{place}', remedy)}")


def read_only(values: Any) -> np.ndarray:
    """A copy of an array that can only be read."""
    array = np.array(values)
    array.flags.writeable = False
    return array


# --------------------------------------------------------------------------------------- what went wrong


def _explained(where: str, function: FunctionType, kinds: Sequence[tuple[Any, ...]], error: Exception) -> str:
    """Why numba does not compile a function: its line, and the one line of what numba says that says something."""
    place = _at_line(function, _line_named(function, error))
    if _compiles(function, [tuple(map(_writable, kind)) for kind in kinds]):
        return f"{where}: {wrong(READS, f'one that writes into them, or may do so for all numba knows,{place}', COPY)}"
    complex_too = " for complex numbers too, and so without comparisons" if len(kinds) > 1 else ""
    essence = _essence(error)
    remedy = next((remedy for text, remedy in REMEDIES.items() if text in essence), "")
    found = f"one that it cannot{place}: {essence}"
    return f"{where}: {wrong(f'a function that numba can compile{complex_too}', found, remedy)}"


def _compiles(function: FunctionType, kinds: Sequence[tuple[Any, ...]]) -> bool:
    try:
        decorators.protected(function, *kinds)
    except Exception:
        return False
    return True


def _writable(kind: Any) -> Any:
    return kind.copy(readonly=False) if hasattr(kind, "ndim") else kind


def _at_line(function: FunctionType, line: int) -> str:
    """A line of the file of a function, and what stands in it."""
    file = function.__code__.co_filename
    text = linecache.getline(file, line).strip()
    return f" in line {line} of {Path(file).name}" + (f", `{text}`" if text else "")


def _line_raised(function: FunctionType, error: Exception) -> int:
    """The last line of the function's file that was on the way to an error that Python raised."""
    frames = traceback.walk_tb(error.__traceback__)
    return [line for frame, line in frames if frame.f_code.co_filename == function.__code__.co_filename][-1]


def _line_named(function: FunctionType, error: Exception) -> int:
    """The first line of the function's file that numba names, where several call each other the innermost; or its own first."""
    name = re.escape(Path(function.__code__.co_filename).name)
    found = re.search(rf'(?:File "[^"\n]*{name}", line |{name} \()(\d+)', str(error))
    first = function.__code__.co_firstlineno
    line = int(found[1]) if found else getattr(getattr(error, "loc", None), "line", first)
    return _line_meant(function, str(error)) or line if line == first else line


def _line_meant(function: FunctionType, text: str) -> int | None:
    """The line of what numba refuses without its place: a name that a module does not have, or a `with`."""
    name = re.search(r"has no attribute '(\w+)'", text)
    for each in dis.get_instructions(function.__code__):
        is_named = name is not None and each.opname in ("LOAD_ATTR", "LOAD_METHOD") and each.argval == name[1]
        is_with = "'with " in text and (each.opname in ("BEFORE_WITH", "SETUP_WITH") or each.argval == "__enter__")
        if is_named or is_with:
            return _line_of(function.__code__, each.offset)
    return None


def _essence(error: Exception) -> str:
    """The most telling line of what numba says: what an implementation refuses, or else the first."""
    lines = [line.strip(" -") for line in str(error).splitlines() if line.strip(" -")]
    refused = [after for line, after in itertools.pairwise(lines) if "raised a specific error" in line]
    inner = [line for line in (*refused, *lines) if "Failed in" not in line and "Resolution failure" not in line]
    text = inner[0] if inner else type(error).__name__
    text = text.partition(" Raised from")[0].rstrip(".")
    if text.endswith("found for signature:"):
        text += next((f" {line[4:]}" for line in lines if line.startswith(">>> ")), "")
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


# ----------------------------------------------------------------------------- what they read from outside


class OwnValues:
    """The values that a user's functions read from outside, as they were when the functions were compiled.

    Parameters
    ----------
    functions : mapping of str to callable
        The functions by the names that messages have for them.
    """

    def __init__(self, functions: Mapping[str, Callable | None]) -> None:
        self.functions = {
            where: getattr(each, "py_func", each) for where, each in functions.items() if each is not None
        }
        self._then = self._now()

    def __deepcopy__(self, memo: Any) -> OwnValues:
        """The same object, since nothing changes it."""
        return self

    def __reduce__(self) -> Any:
        """Nothing: elsewhere, functions are as they were compiled."""
        return OwnValues, ({},)

    def with_those_of(self, other: OwnValues) -> OwnValues:
        """These values and others, each as they were."""
        found = OwnValues({})
        found.functions, found._then = self.functions | other.functions, self._then | other._then
        return found

    def _now(self) -> dict[tuple[str, str], Any]:
        return {(where, name): value for where, each in self.functions.items() for name, value in _read_by(each, set())}

    def check(self) -> None:
        """Refuse to go on with others than those that were compiled."""
        now = self._now()
        for (where, name), value in self._then.items():
            if now.get((where, name), MISSING) != value:
                expected = f"{name}, which the function reads, as it was when the system was made"
                remedy = "make the system again, by assemble or from_functions, or make it a parameter of the function"
                raise ModelError(f"{where}: {wrong(expected, 'another value', remedy)}")


def _read_by(function: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Names and what distinguishes values, of all that a function reads from outside, and those that it calls."""
    plain = getattr(function, "py_func", function)
    if id(plain) in seen or not isinstance(plain, FunctionType):
        return
    seen.add(id(plain))
    yield f"the code of {plain.__name__}", plain.__code__
    yield f"the defaults of {plain.__name__}", _fingerprint(plain.__defaults__)
    for name, value in _outside(plain):
        if hasattr(value, "py_func"):
            yield from _read_by(value, seen)
        else:
            yield name, _fingerprint(value)


def _renew(function: Any, seen: set[int]) -> None:
    """Compile again what a function calls and was compiled before, since values from outside may have changed."""
    for _, value in _outside(getattr(function, "py_func", function)):
        if hasattr(value, "recompile") and id(value) not in seen:
            seen.add(id(value))
            _renew(value, seen)
            if value.overloads and any(isinstance(each, VALUES) for _, each in _outside(value.py_func)):
                value.recompile()


def _outside(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function reads from outside, by its name; but no modules."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for path in _names_read(function.__code__):
        value = _value(path, cells, function.__globals__)
        if value is not MISSING and not isinstance(value, ModuleType):
            yield ".".join(path), value


def _value(path: tuple[str, ...], cells: Mapping[str, Any], space: Mapping[str, Any]) -> Any:
    """What a name stands for, and of a module the attribute behind it."""
    try:
        value = cells[path[0]].cell_contents if path[0] in cells else space[path[0]]
        for name in path[1:]:
            value = getattr(value, name)
    except (KeyError, ValueError, AttributeError):  # of Python itself, not yet there
        return MISSING
    return value


@functools.cache
def _names_read(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """Names from outside that a function's code reads, and those in it, with the attributes behind them."""
    paths: list[tuple[str, ...]] = []
    is_path = False
    for each in dis.get_instructions(code):
        if each.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")):
            paths.append((str(each.argval),))
            is_path = True
        elif is_path and each.opname.startswith(("LOAD_ATTR", "LOAD_METHOD")):
            paths.append((*paths[-1], str(each.argval)))
        elif each.opname != "PRECALL":
            is_path = False
    inner = [path for each in code.co_consts if isinstance(each, CodeType) for path in _names_read(each)]
    return tuple(dict.fromkeys([*paths, *inner]))


def _fingerprint(value: Any) -> Any:
    """What is equal for equal values alone; of what is neither numbers nor text, which object it is."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(_fingerprint, value))
    if isinstance(value, VALUES):
        return type(value).__name__, repr(value)
    return id(value)
