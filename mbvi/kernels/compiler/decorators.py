"""How a function becomes machine code.

Here are the decorators of all kernels, the folder where compiled kernels are kept, and compiled functions of a system,
each with an address of its own.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numba import cfunc, config, njit, types
from numba.core.event import register
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps, loads
from numba.np import linalg

from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.kernels.compiler.folder import FOLDER
from mbvi.kernels.compiler.known_numba import IS_KNOWN

if IS_KNOWN:
    from mbvi.kernels.compiler.inside_numba import keep_on_disk
    from mbvi.kernels.compiler.typings import remember_typings
    from mbvi.kernels.compiler.whole_programs import EntryPipeline, InnerPipeline

    remember_typings()


def _load_functions_of_arrays() -> None:
    """Answer numba's question whether scipy has BLAS: it has.

    To look would import scipy.linalg, which takes a tenth of a second.
    """
    if not hasattr(linalg, "ensure_blas"):
        return
    asked, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = asked


_load_functions_of_arrays()
register("numba:compiler_lock", COMPILING)

# Kernels cannot allocate: numba's memory management is switched off in them, which also spares reference counting.
_WITHOUT_ALLOCATION = {"_nrt": False}
# Numba has one folder for all threads: while a kernel is given its own, no other thread may set it.
_FOLDER_IN_USE = RLock()


class _Inner(CPUDispatcher):
    """A kernel that kernels call. When Python calls it, it is compiled once more, as an entry."""

    _options: dict[str, Any]
    called: Any = None  # the entry

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The signature for arguments of these types: an integer that is known is one like any other."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)

    def __call__(self, *arguments: Any) -> Any:
        if self.called is None:
            self.called = called_kernel(self.py_func, **self._options)
        returned = self.called(*arguments)
        COMPILING.raise_error()
        return returned


def _jitted(function: Callable, folder: str, is_inner: bool, **options: Any) -> Any:
    """A compiled function, kept on disk in this folder within that of all kernels."""
    options |= {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True, **_WITHOUT_ALLOCATION}
    with _FOLDER_IN_USE:
        previous, config.CACHE_DIR = config.CACHE_DIR, str(Path(FOLDER, folder))
        try:
            if config.DISABLE_JIT or not IS_KNOWN:
                return njit(cache=True, **options)(function)
            return keep_on_disk(njit(pipeline_class=InnerPipeline if is_inner else EntryPipeline, **options)(function))
        finally:
            config.CACHE_DIR = previous


def _compile(function: Callable, **options: Any) -> Callable:
    compiled = _jitted(function, "", True, no_cpython_wrapper=True, **options)
    if not config.DISABLE_JIT:
        compiled.__class__, compiled._options = _Inner, options
    return compiled


def kernel(function: Callable) -> Callable:
    """Compile a kernel when it is first used and keep it on disk.

    Division by zero gives inf or nan, never an exception.
    """
    return _compile(function, fastmath={"contract"})


def called_kernel(function: Callable, **options: Any) -> Any:
    """A kernel with machine code of its own, for Python."""
    return _jitted(function, "called", False, **options)


def entry_kernel(function: Callable) -> Any:
    """A kernel with machine code of its own, for compiled callers that have its address."""
    return _jitted(function, "entries", False, no_cpython_wrapper=True, fastmath={"contract"})


def solver_kernel(function: Callable) -> Callable:
    """A kernel of linear algebra that only steers an iteration: the compiler may reorder sums, and so use vectors."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def copied_kernel(function: Callable) -> Callable:
    """A kernel that is copied into its callers.

    A call passes every word of all arrays, which takes long where little is done.
    """
    return _compile(function, fastmath={"contract"}, forceinline=True)


def copied_solver_kernel(function: Callable) -> Callable:
    """A kernel of linear algebra that is copied into its callers, see `solver_kernel` and `copied_kernel`."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz"}, forceinline=True)


class CompiledFunction:
    """A function of a system at a fixed address (0 with numba switched off).

    Where it is unpickled, it is compiled anew.
    """

    def __init__(self, signature: Any, function: Callable) -> None:
        self._signature, self._function = signature, function
        self._python = getattr(function, "py_func", function)
        self._compiled = None if config.DISABLE_JIT else cfunc(signature, error_model="numpy")(self._python)
        self.address = 0 if self._compiled is None else self._compiled.address

    def __call__(self, *arguments: Any) -> Any:
        """Call the function itself, as is done where numba is switched off."""
        return self._python(*arguments)

    def __deepcopy__(self, memo: Any) -> "CompiledFunction":
        """The same object, since nothing changes it."""
        return self

    def __reduce__(self) -> Any:
        """The function's source, and the variables that it closes over."""
        return _compiled_again, (self._signature, dumps(self._function))


def _compiled_again(signature: Any, source: bytes) -> CompiledFunction:
    return CompiledFunction(signature, loads(source))


def compiled(signature: Any, function: Callable) -> CompiledFunction:
    """A function of a system, compiled at a fixed address."""
    return CompiledFunction(signature, function)


def protected(function: Callable, *kinds: tuple[types.Type, ...]) -> Callable:
    """A user's function for arguments of these kinds; it cannot be compiled if it writes into a read-only one of them.

    An index beyond an array raises an error. Further arguments have their defaults.
    """
    if not config.DISABLE_JIT:
        defaults = tuple(map(types.Omitted, function.__defaults__ or ()))
        return njit([(*each, *defaults) for each in kinds], error_model="numpy", boundscheck=True)(function)

    def guarded(*arguments):
        return function(*map(_as_kind, arguments, kinds[0]))

    return guarded


def _as_kind(argument: Any, kind: types.Type) -> Any:
    """An argument, or a view of an array that can only be read."""
    if not isinstance(kind, types.Array) or kind.mutable:
        return argument
    view = argument.view()
    view.flags.writeable = False
    return view


def as_force(function: Callable, count: int) -> Callable:
    """A function (t, q, v, values, F) that calls one of (t, q, v, F, *values), with so many values, as a system does.

    It returns 0.0, as functions of a system must; F is nan where the other raises.
    """
    inner = _with_values(function, count)

    def outer(t, q, v, values, F):
        try:
            inner(t, q, v, values, F)
        except Exception:  # none can leave compiled code
            F[:] = np.nan
        return 0.0

    return outer


def _with_values(function: Callable, count: int) -> Callable:
    """A function (t, q, v, values, F) that calls another with (t, q, v, F, *values); each of those within adds one value."""
    jit = (lambda each: each) if config.DISABLE_JIT else njit(error_model="numpy")

    def call(t, q, v, values, F, *found):
        function(t, q, v, F, *found)

    def with_value(inner: Callable, i: int) -> Callable:
        def outer(t, q, v, values, F, *found):
            inner(t, q, v, values, F, *found, values[i])

        return jit(outer)

    inner = jit(call)
    for i in reversed(range(count)):
        inner = with_value(inner, i)
    return inner
