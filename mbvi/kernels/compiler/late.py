"""Kernels that are compiled when they are first called: many never are, and compiling takes seconds.

>>> import numpy as np
>>> from numba import njit, types
>>> @late_kernel(returns=types.float64)
... def mean(x):
...     total = 0.0
...     for each in x:
...         total += each
...     return total / len(x)
>>> @njit
... def centre(x):  # compiled without `mean`
...     x -= mean(x)
>>> x = np.array([1.0, 3.0])
>>> centre(x)
>>> x
array([-1.,  1.])

Callers load the address of such a kernel from a word of memory that they all share, and know by its name. At first it holds
the address of a stub, which compiles the kernel, puts its address there, and calls it. So a late kernel is compiled once, and
not once more with each caller.

A processor that cannot call the host, such as a GPU, needs direct calls: with `LateKernel.is_direct` set before callers are
compiled, these contain late kernels as they do any other.
"""

import ctypes
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import llvmlite.binding as llvm
from llvmlite import ir
from numba import config, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, signature
from numba.extending import lower_builtin

from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.kernels.compiler.decorators import called_kernel, entry_kernel, kernel
from mbvi.kernels.compiler.known_numba import IS_KNOWN

if IS_KNOWN:
    from mbvi.kernels.compiler.whole_programs import call_native


class LateKernel:
    """A kernel that is compiled when compiled code first calls it.

    Numba's own lock guards it: with another, two threads could wait for each other.

    Parameters
    ----------
    function : callable
        A function of arrays, numbers and Packed objects.
    returns : numba type
        What it returns: a number, or none.
    """

    is_direct: ClassVar[bool] = not IS_KNOWN
    _all: ClassVar[dict[tuple[str, str], "LateKernel"]] = {}

    def __init__(self, function: Callable, returns: types.Type) -> None:
        self.__name__, self.__doc__, self.__module__ = function.__qualname__, function.__doc__, function.__module__
        self.py_func, self.returns = function, returns
        self._all[self.__module__, self.__name__] = self
        self.entry, self._inner = entry_kernel(function), kernel(function)
        self._words: dict[tuple[types.Type, ...], _Word] = {}
        self._called: Any = None
        self._type = self._announce()

    def __call__(self, *arguments: Any) -> Any:
        """Call it from Python, as compiled code does: by an entry that does nothing else."""
        if self.is_direct:
            return self._inner(*arguments)
        if self._called is None:
            self._called = called_kernel(self._caller())
        returned = self._called(*arguments)
        COMPILING.raise_error()
        return returned

    def _caller(self) -> Callable:
        late = self

        def called(*arguments: Any) -> Any:
            return late(*arguments)

        return called

    def __reduce__(self) -> Any:
        """Its name: where it is unpickled, it is that of its module."""
        return _found, (self.__module__, self.__name__)

    @property
    def _numba_type_(self) -> types.Type:
        """How callers see it: as a kernel that they contain, or as one that is called through its word."""
        return self._inner._numba_type_ if self.is_direct else self._type

    def _announce(self) -> types.Type:
        """Say to numba which type a call returns, and how it is generated."""

        class Template(AbstractTemplate):
            key = self

            def generic(template, arguments, keywords):  # noqa: N805
                return signature(self.returns, *map(types.unliteral, arguments))

        @lower_builtin(self, types.VarArg(types.Any))
        def generate(context, builder, signature, arguments):
            word = self.word(signature.args)
            context.active_code_library._reload_init.add(Needed(self.__module__, self.__name__, signature.args))
            kind = context.call_conv.get_function_type(signature.return_type, signature.args)
            place = builder.module.globals.get(word.name) or ir.GlobalVariable(
                builder.module, kind.as_pointer(), word.name
            )
            place.linkage = "external"
            return call_native(context, builder, builder.load(place), signature.return_type, signature.args, arguments)

        return types.Function(Template)

    @classmethod
    def compile_known(cls) -> None:
        """Compile late kernels of this package that compiled code may call, and those that they may call."""
        own = [each for (module, _), each in cls._all.items() if module.startswith("mbvi.")]
        while waiting := [word for each in own for word in each._words.values() if not word.is_compiled]:
            for word in waiting:
                word.compile()

    def word(self, arguments: tuple[types.Type, ...]) -> "_Word":
        """The word that holds the address of the kernel for arguments of these types."""
        with global_compiler_lock:
            if arguments not in self._words:
                self._words[arguments] = _Word(self, arguments)
            return self._words[arguments]

    def compiled(self, arguments: tuple[types.Type, ...]) -> int:
        """Compile it for arguments of these types; its address."""
        self.entry.compile(self.returns(*arguments))
        found = self.entry.overloads[arguments]
        return found.library.get_pointer_to_function(found.fndesc.llvm_func_name)


class _Word:
    """The address of a late kernel for arguments of given types, at a place that compiled code knows by name."""

    def __init__(self, late: LateKernel, arguments: tuple[types.Type, ...]) -> None:
        self._late, self._arguments = late, arguments
        digest = hashlib.sha256(str(arguments).encode()).hexdigest()[:16]
        self.name = f"mbvi.late.{late.__module__}.{late.__name__}.{digest}"
        kind = cpu_target.target_context.call_conv.get_function_type(late.returns, arguments)
        self._at = ctypes.CFUNCTYPE(ctypes.c_int32, *map(_as_ctypes, kind.args))
        self._stub = self._at(self._first_call)
        self._address = ctypes.c_void_p(ctypes.cast(self._stub, ctypes.c_void_p).value)
        llvm.add_symbol(self.name, ctypes.addressof(self._address))
        self.is_compiled = False

    def compile(self) -> int:
        """Compile the kernel, if it is not compiled, and put its address here."""
        with global_compiler_lock:
            if not self.is_compiled:
                self._address.value = self._late.compiled(self._arguments)
                self.is_compiled = True
            return int(self._address.value or 0)

    def _first_call(self, *words: Any) -> int:
        try:
            address = self.compile()
        except BaseException as error:  # interrupts too; none can pass through the caller
            COMPILING.errors.append(error)
            if self._late.returns in _FAILED:
                kind, value = _FAILED[self._late.returns]
                kind.from_address(words[0]).value = value
            return 0
        return self._at(address)(*words)


# What a kernel that cannot be compiled returns.
_FAILED = {
    types.float64: (ctypes.c_double, math.nan),
    types.int64: (ctypes.c_int64, -1),
    types.boolean: (ctypes.c_bool, False),
}
_CTYPES = {"double": ctypes.c_double, "i64": ctypes.c_int64, "i32": ctypes.c_int32, "i8": ctypes.c_int8}


def _as_ctypes(kind: ir.Type) -> Any:
    return ctypes.c_void_p if isinstance(kind, ir.PointerType) else _CTYPES[str(kind)]


@dataclass(frozen=True)
class Needed:
    """A late kernel that code on disk calls; called where such code is loaded, so that it finds the kernel's word."""

    module: str
    name: str
    arguments: tuple[types.Type, ...]

    def __call__(self) -> None:
        """Make the word.

        Raises
        ------
        LookupError
            If there is no such kernel.
        """
        _found(self.module, self.name).word(self.arguments)


def _found(module: str, name: str) -> LateKernel:
    import_module(module)
    return LateKernel._all[module, name]


def late_kernel(returns: types.Type = types.none) -> Callable[[Callable], Any]:
    """Make a function a kernel that is compiled late."""
    return (lambda function: function) if config.DISABLE_JIT else lambda function: LateKernel(function, returns)
