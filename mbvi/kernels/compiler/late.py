"""Kernels that are compiled when a run first needs them: many never do, and compiling takes seconds.

A caller has the address of such a kernel in a field of a Packed object, as it has those of a user's functions. At first
that is the address of a stub, which compiles the kernel, puts its address in the field and calls it. Objects that are
made later have the address of the kernel from the start.
"""

import ctypes
import math
import threading
from collections.abc import Callable
from typing import Any

from numba import types

from mbvi.kernels.compiler.decorators import compiled_on_disk
from mbvi.kernels.compiler.packed import Packed

WORD_SIZE = 8  # bytes


class LateKernel:
    """A kernel (t, *objects, h) of Packed objects that returns a number; its address stands in the last of them.

    Parameters
    ----------
    function : callable
        Its name is that of the field.
    classes : classes of Packed
        The classes of the objects.
    """

    _lock = threading.Lock()

    def __init__(self, function: Callable[..., float], classes: tuple[type[Packed], ...]) -> None:
        self.name = function.__name__
        self._function, self._classes = function, classes
        pointers = [ctypes.c_void_p] * len(classes)
        self._at = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, *pointers, ctypes.c_double)
        self._stub = self._at(self._first_call)
        self._error: BaseException | None = None
        self._compiled: Any = None
        self.address = ctypes.cast(self._stub, ctypes.c_void_p).value

    def __call__(self, *arguments: Any) -> float:
        """Call the function itself, as is done where numba is switched off."""
        return self._function(*arguments)

    def _first_call(self, t: float, *rest: Any) -> float:
        *objects, h = rest
        kinds = [each.kind for each in self._classes]
        try:
            with LateKernel._lock:
                if self._compiled is None:
                    signature = types.float64(types.float64, *kinds, types.float64)
                    self._compiled = compiled_on_disk(signature, self._function)
                    self.address = self._compiled.address
        except BaseException as error:  # interrupts too; none can pass through the caller
            self._error = error
            return math.nan
        _, word = kinds[-1].layout[self.name]
        ctypes.c_int64.from_address(objects[-1] + WORD_SIZE * word).value = self._compiled.address
        return self._at(self._compiled.address)(t, *objects, h)

    def raise_error(self) -> None:
        """Raise the error of compiling, if there was one; called by the Python code that called the kernel's caller."""
        error, self._error = self._error, None
        if error is not None:
            raise error


def late_kernel(*classes: type[Packed]) -> Callable[[Callable[..., float]], LateKernel]:
    """Make a function (t, *objects, h) of objects of these classes a kernel that is compiled late."""
    return lambda function: LateKernel(function, classes)
