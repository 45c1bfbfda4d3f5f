"""Many arrays that travel through kernels as one pointer.

>>> import numpy as np
>>> from numba import njit
>>> class Points(Packed):
...     pass
>>> points = Points(count=2, q=np.zeros(2), v=np.array([1.0, 3.0]))
>>> @njit
... def move(points, h):
...     for a in range(points.count):
...         points.q[a] += h * points.v[a]
>>> move(points, 0.5)
>>> points.q
array([0.5, 1.5])
>>> len(points.words)  # the number, and the address and the length of either array
5

A `Packed` object shows its fields as attributes, in Python and in kernels alike. Kernels receive the address of a table
of words (data pointer and shape of each array, value of each number), so that a call costs one machine word and not
several hundred, and compiling its callers takes seconds and not a minute. Fields are fixed when the object is made; the
arrays' contents may change.

A class with a `width` shows its arrays (…, width) as arrays of as many lanes (`lanes`): a kernel that takes its arrays
from such an object works on four or eight numbers at once as it stands.
"""

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, typeof, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.np.arrayobj import make_array, populate_array

from mbvi.kernels.compiler.lanes import WIDTH, LanesArray, lanes, lanes_from, wide_lanes

CACHE_LINE = 64  # bytes


class Packed:
    """Fields given by name: float64 or int64 arrays, integers, compiled functions, other packed objects.

    Arrays are copied into `memory`, one behind the other, C-contiguous and each from the start of a cache line. An
    array that is given read-only stays so: a constant, which no kernel writes to.

    Raises
    ------
    TypeError
        If another object of the class has other fields, or of other types: kernels are compiled for one layout of a class.
    """

    kind: "PackedType | None" = None  # of all objects of a class
    width = 0  # lanes of all arrays; 0: arrays of numbers

    def __init__(self, **fields: Any) -> None:
        words: list[int] = []
        layout: list[tuple[str, types.Type, int]] = []
        arrays = [value for value in fields.values() if isinstance(value, np.ndarray)]
        self.memory = memory = np.empty(sum(map(_room, arrays)) + CACHE_LINE, np.uint8)
        start = memory.ctypes.data
        first = -start % CACHE_LINE
        for name, value in sorted(fields.items()):
            if isinstance(value, np.ndarray):
                field = np.ndarray(value.shape, value.dtype, memory, first)
                field[...] = value
                layout.append((name, _array_type(value.dtype.char, value.ndim, self.width), len(words)))
                words += [start + first, *value.shape]
                first += _room(value)
                field.flags.writeable = value.flags.writeable
                if self.width and config.DISABLE_JIT:
                    field = lanes(field) if self.width == WIDTH else wide_lanes(field)
            elif isinstance(value, Packed):
                field = value
                layout.append((name, value._numba_type_, len(words)))
                words.append(value.address)
            else:
                field = value
                layout.append((name, types.int64, len(words)))
                words.append(int(getattr(value, "address", 0) if callable(value) else value))
            setattr(self, name, field)
        self.words = np.array(words, dtype=np.int64)
        self.address = self.words.ctypes.data
        own = type(self)
        if own.kind is None:
            own.kind = PackedType(own.__name__, tuple(layout))
        elif own.kind.fields != tuple(layout):
            raise TypeError(f"{own.__name__}: expected the fields of {own.kind}, found {_as_text(tuple(layout))}")
        self._numba_type_ = own.kind  # numba looks for it there

    def __reduce__(self) -> Any:
        """The fields: addresses are others in another process."""
        return type(self)._of, ({name: getattr(self, name) for name in self._numba_type_.layout},)

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> "Packed":
        return cls(**fields)


def read_only(**fields: Any) -> dict[str, Any]:
    """Fields whose arrays are constants."""
    return {name: _constant(value) if isinstance(value, np.ndarray) else value for name, value in fields.items()}


def _constant(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def _room(array: np.ndarray) -> int:
    """Bytes of an array, to the end of its last cache line."""
    return -(-array.nbytes // CACHE_LINE) * CACHE_LINE


@cache
def _array_type(dtype: str, ndim: int, width: int) -> types.Type:
    """The type of a C-contiguous array of numbers, or of `width` lanes."""
    return LanesArray(ndim - 1, width) if width else typeof(np.zeros((1,) * ndim, dtype))


class PackedType(types.Type):
    """Type of a Packed object: its class and its layout, (name, type, first word) of each field."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type, int], ...]) -> None:
        self.fields = fields
        self.layout = {field: (kind, word) for field, kind, word in fields}
        super().__init__(name=f"{name}({_as_text(fields)})")


def _as_text(fields: tuple[tuple[str, types.Type, int], ...]) -> str:
    """Fields as a text."""
    return ", ".join(f"{name}: {kind}" for name, kind, _ in fields)


@register_model(PackedType)
class _PackedModel(models.OpaqueModel):
    """A pointer."""


@unbox(PackedType)
def _unbox_packed(kind: PackedType, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    pointer = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(pointer)


@infer_getattr
class _PackedFields(AttributeTemplate):
    key = PackedType

    def generic_resolve(self, kind: PackedType, name: str) -> Any:
        return kind.layout[name][0] if name in kind.layout else None


@lower_getattr_generic(PackedType)
def _load_field(context: Any, builder: Any, kind: PackedType, value: Any, name: str) -> Any:
    """Load a field: a number, or an array without an owner (its Python object outlives every kernel)."""
    field, first = kind.layout[name]
    word = ir.IntType(64)
    table = builder.bitcast(value, word.as_pointer())

    def load(index: int) -> Any:
        return builder.load(builder.gep(table, [ir.Constant(word, index)]))

    def load_constant(index: int) -> Any:
        loaded = load(index)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(field, PackedType):
        return builder.inttoptr(load_constant(first), context.get_value_type(field))
    if isinstance(field, LanesArray):
        return lanes_from(context, builder, field, load_constant(first), load_constant(first + field.ndim))
    if not isinstance(field, types.Array):
        return load(first)  # the address of a function changes when it is compiled
    size = 8
    shape = [load_constant(first + 1 + axis) for axis in range(field.ndim)]
    strides = [ir.Constant(word, size)]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    array = make_array(field)(context, builder)
    data = builder.inttoptr(load_constant(first), context.get_data_type(field.dtype).as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=ir.Constant(word, size), meminfo=None)
    return array._getvalue()


@intrinsic
def _call_address(typing_context, address, t, arrays):
    """Call the compiled function at an address with (t, *arrays)."""

    def generate(context, builder, signature, values):
        kinds = (types.float64, *arrays.types)
        items = [values[1], *(builder.extract_value(values[2], index) for index in range(len(arrays.types)))]
        function = ir.FunctionType(ir.DoubleType(), [context.get_value_type(kind) for kind in kinds])
        return builder.call(builder.inttoptr(values[0], function.as_pointer()), items)

    return types.float64(address, t, arrays), generate


def _call_python(function: Any, t: float, arrays: tuple) -> float:
    return function(t, *arrays)


# Call a function field of a Packed object: call(system.potential, t, (q,)); every such function returns a float64.
call = _call_python if config.DISABLE_JIT else _call_address
