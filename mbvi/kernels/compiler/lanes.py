"""Four numbers at once, or eight: kernels on lanes evaluate a formula at as many points in the time of one.

>>> import numpy as np
>>> from numba import njit
>>> @njit
... def fill_energy(T, m, v):  # of numbers
...     T[0] = 0.5 * m * (v[0] * v[0] + v[1] * v[1])
>>> @njit
... def fill_energies(T, m, v):  # the same at four points: v[0] is a vector of four numbers
...     fill_energy(lanes(T), m, lanes(v))
>>> T, v = np.zeros((1, 4)), np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]])
>>> fill_energies(T[0], 2.0, v)
>>> T
array([[ 1.,  5.,  9., 17.]])

A kernel that reads and writes plain numbers works on lanes as it stands: `lanes(a)` shows an array (…, 4) of float64 as
an array (…) whose elements are vectors of four, which a processor adds and multiplies in one instruction. Of an array
of one axis, element k is the four numbers from 4 k on; of two axes of lanes, one index gives a row. `wide_lanes(a)`
does the same with vectors of eight, for which some processors take two instructions. `lanes_at` and `put_lanes` read
and write the four numbers from any place on. Numbers and lanes mix; there are no comparisons. `total`, `larger` and
`widest` take a number as one lane. `prefetch` asks the memory for lanes that will soon be read.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

WIDTH, WIDE = 4, 8
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_BYTES = 8


class Lanes(types.Type):
    """A vector of four float64, or of eight."""

    def __init__(self, width: int) -> None:
        self.width, self.vector = width, ir.VectorType(ir.DoubleType(), width)
        super().__init__(name=f"{width} lanes")

    def unify(self, typingctx: Any, other: Any) -> Any:
        """A variable that is a number on one path and lanes on another holds lanes."""
        return self if isinstance(other, types.Float | types.Integer) else None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """A number stands for as many equal ones."""
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None


class LanesArray(types.Type):
    """An array of lanes, C-contiguous."""

    def __init__(self, ndim: int, width: int = WIDTH) -> None:
        self.ndim, self.element = ndim, Lanes(width)
        super().__init__(name=f"array({ndim}d) of {width} lanes")


_lanes = Lanes(WIDTH)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.vector)


@register_model(LanesArray)
class _LanesArrayModel(models.StructModel):
    """A pointer, and the number of lanes in a row."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("data", types.CPointer(types.float64)), ("columns", types.intp)])


def _generate_view(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    source = context.make_array(signature.args[0])(context, builder, values[0])
    view = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    view.data = source.data
    view.columns = cgutils.unpack_tuple(builder, source.shape)[-2:][0]
    return view._getvalue()


@intrinsic
def _view(typing_context, array):
    return LanesArray(max(array.ndim - 1, 1))(array), _generate_view


@intrinsic
def _wide_view(typing_context, array):
    return LanesArray(max(array.ndim - 1, 1), WIDE)(array), _generate_view


@intrinsic
def _width_of(typing_context, array):
    def generate(context, builder, signature, values):
        return ir.Constant(ir.IntType(64), signature.args[0].element.width)

    return types.int64(array), generate


def lanes_from(context: Any, builder: Any, kind: LanesArray, address: Any, columns: Any) -> Any:
    """An array of lanes at an address, which is a number or a pointer, with so many lanes in a row."""
    view = cgutils.create_struct_proxy(kind)(context, builder)
    pointer = ir.DoubleType().as_pointer()
    view.data = (
        builder.inttoptr(address, pointer) if address.type == ir.IntType(64) else builder.bitcast(address, pointer)
    )
    view.columns = columns
    return view._getvalue()


@intrinsic
def _lanes_at(typing_context, array, first):
    def generate(context, builder, signature, values):
        return builder.load(_place_of_four(context, builder, signature, values), align=_BYTES)

    return _lanes(array, first), generate


@intrinsic
def _put_lanes(typing_context, array, first, x):
    def generate(context, builder, signature, values):
        builder.store(values[2], _place_of_four(context, builder, signature, values), align=_BYTES)
        return context.get_dummy_value()

    return types.none(array, first, _lanes), generate


def _place_of_four(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Pointer to the four numbers from a place on, in an array of one axis."""
    source = context.make_array(signature.args[0])(context, builder, values[0])
    first = context.cast(builder, values[1], signature.args[1], types.intp)
    return builder.bitcast(builder.gep(source.data, [first]), _VECTOR.as_pointer())


@intrinsic
def _total(typing_context, x):
    def generate(context, builder, signature, values):
        if not isinstance(signature.args[0], Lanes):
            return values[0]
        x, width = values[0], signature.args[0].width
        while width > 2:  # add the second half to the first
            width //= 2
            x = builder.fadd(*_halves(builder, x, width))
        return builder.fadd(*(builder.extract_element(x, ir.Constant(ir.IntType(32), lane)) for lane in range(2)))

    return types.float64(x), generate


@intrinsic
def _of_four(typing_context, a, b, c, d):
    def generate(context, builder, signature, values):
        x = ir.Constant(_VECTOR, ir.Undefined)
        for lane, value in enumerate(values):
            x = builder.insert_element(x, value, ir.Constant(ir.IntType(32), lane))
        return x

    return _lanes(*[types.float64] * WIDTH), generate


@intrinsic
def _first_halves(typing_context, x, y):
    def generate(context, builder, signature, values):
        places = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0, 1, WIDTH, WIDTH + 1])
        return builder.shuffle_vector(values[0], values[1], places)

    return _lanes(_lanes, _lanes), generate


@intrinsic
def _larger(typing_context, size, x):
    def generate(context, builder, signature, values):
        size, x = values
        kind = signature.args[1]
        name = f"llvm.fabs.v{kind.width}f64" if isinstance(kind, Lanes) else "llvm.fabs.f64"
        magnitude = builder.module.declare_intrinsic(name, fnty=ir.FunctionType(x.type, [x.type]))
        absolute = builder.call(magnitude, [x])
        return builder.select(builder.fcmp_ordered(">", absolute, size), absolute, size)

    return x(x, x), generate


@intrinsic
def _widest(typing_context, x):
    def generate(context, builder, signature, values):
        if not isinstance(signature.args[0], Lanes):
            return values[0]
        x, width = values[0], signature.args[0].width
        while width > 1:
            width //= 2
            one, other = _halves(builder, x, width)
            x = builder.select(builder.fcmp_ordered(">", one, other), one, other)
        return builder.extract_element(x, ir.Constant(ir.IntType(32), 0))

    return types.float64(x), generate


@intrinsic
def _part(typing_context, x, lane):
    def generate(context, builder, signature, values):
        if not isinstance(signature.args[0], Lanes):
            return values[0]
        index = context.cast(builder, values[1], signature.args[1], types.int32)
        return builder.extract_element(values[0], index)

    return types.float64(x, lane), generate


@intrinsic
def _prefetch(typing_context, array, index):
    def generate(context, builder, signature, values):
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = _place(context, builder, signature.args[0], values[0], signature.args[1], values[1])
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        read, keep, data = flag(0), flag(3), flag(1)
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(function, [builder.bitcast(place, byte), read, keep, data])
        return context.get_dummy_value()

    return types.none(array, index), generate


def _halves(builder: Any, x: Any, width: int) -> list:
    """The first and the last `width` of twice as many lanes."""
    return [
        builder.shuffle_vector(x, x, ir.Constant(ir.VectorType(ir.IntType(32), width), list(half)))
        for half in (range(width), range(width, 2 * width))
    ]


class _InterpretedLanes:
    """An array of lanes where nothing is compiled."""

    def __init__(self, array: np.ndarray, width: int = WIDTH) -> None:
        self._array = array.reshape(-1, width) if array.ndim <= 2 else array
        self.width = width

    def __getitem__(self, index: Any) -> Any:
        found = self._array[index]
        return found.copy() if found.ndim == 1 else _InterpretedLanes(found, self.width)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = value


# lanes(a)            an array of float64, (…, 4) of two or three axes or (4 m,), C-contiguous, as an array of lanes
# wide_lanes(a)       the same array as one of vectors of eight
# width_of(a)         how many lanes an element of an array of lanes has
# lanes_at(a, k)      the four numbers a[k : k + 4] of an array of one axis
# put_lanes(a, k, x)  write these four
# total(x)            the sum of the lanes: the second half is added to the first, until one is left
# first_halves(x, y)  x0, x1, y0, y1
# larger(size, x)     in every lane the larger of size and |x|
# widest(x)           the largest lane
# part(x, lane)       one lane; of a number, the number itself
# of_four(a, b, c, d) lanes of four numbers
# prefetch(array, k)  ask for element k of an array of lanes
if config.DISABLE_JIT:
    lanes, total, widest = _InterpretedLanes, np.sum, np.max

    def wide_lanes(array: np.ndarray) -> _InterpretedLanes:
        """An array as one of vectors of eight lanes."""
        return _InterpretedLanes(array, WIDE)

    def width_of(array: _InterpretedLanes) -> int:
        """The number of lanes."""
        return array.width

    def lanes_at(array: np.ndarray, first: int) -> np.ndarray:
        """The four numbers from a place on."""
        return array[first : first + WIDTH].copy()

    def put_lanes(array: np.ndarray, first: int, x: Any) -> None:
        """Write the four numbers from a place on."""
        array[first : first + WIDTH] = x

    def part(x: Any, lane: int) -> Any:
        """One lane."""
        return x[lane] if np.ndim(x) else x

    def of_four(a: float, b: float, c: float, d: float) -> np.ndarray:
        """Lanes of four numbers."""
        return np.array([a, b, c, d])

    def first_halves(x: Any, y: Any) -> np.ndarray:
        """The first two lanes of each."""
        return np.array([x[0], x[1], y[0], y[1]])

    def larger(size: Any, x: Any) -> Any:
        """The larger of size and |x| in every lane."""
        return np.maximum(size, np.abs(x))

    def prefetch(array: Any, index: int) -> None:
        """Do nothing."""
else:
    lanes, lanes_at, put_lanes, part, prefetch = _view, _lanes_at, _put_lanes, _part, _prefetch
    total, larger, widest, first_halves, of_four = _total, _larger, _widest, _first_halves, _of_four
    wide_lanes, width_of = _wide_view, _width_of


def _place(context: Any, builder: Any, kind: Any, array: Any, index_kind: Any, index: Any) -> Any:
    """Pointer to the lanes at an index, which is an integer or two."""
    view = cgutils.create_struct_proxy(kind)(context, builder, array)
    if kind.ndim == 1:
        number = context.cast(builder, index, index_kind, types.intp)
    else:
        row, column = cgutils.unpack_tuple(builder, index)
        row = context.cast(builder, row, index_kind[0], types.intp)
        column = context.cast(builder, column, index_kind[1], types.intp)
        number = builder.add(builder.mul(row, view.columns), column)
    pointer = builder.gep(view.data, [builder.mul(number, ir.Constant(number.type, kind.element.width))])
    return builder.bitcast(pointer, kind.element.vector.as_pointer())


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        array, index = args
        if not isinstance(array, LanesArray):
            return None
        is_row = array.ndim == 2 and isinstance(index, types.Integer)
        return signature(LanesArray(1, array.element.width) if is_row else array.element, array, index)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        array, index, _ = args
        return signature(types.none, array, index, array.element) if isinstance(array, LanesArray) else None


@lower_builtin(operator.getitem, LanesArray, types.Any)
def _load(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    kind, at = signature.args
    if isinstance(signature.return_type, LanesArray):
        columns = cgutils.create_struct_proxy(kind)(context, builder, values[0]).columns
        row = context.cast(builder, values[1], at, types.intp)
        place = _place(context, builder, signature.return_type, values[0], types.intp, builder.mul(row, columns))
        return lanes_from(context, builder, signature.return_type, place, columns)
    return builder.load(_place(context, builder, kind, values[0], at, values[1]), align=_BYTES)


@lower_builtin(operator.setitem, LanesArray, types.Any, Lanes)
def _store(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    place = _place(context, builder, signature.args[0], values[0], signature.args[1], values[1])
    builder.store(values[2], place, align=_BYTES)
    return context.get_dummy_value()


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
def _spread(context: Any, builder: Any, kind: Any, to: Any, value: Any) -> Any:
    """The same number in all lanes."""
    value = context.cast(builder, value, kind, types.float64)
    nothing = ir.Constant(to.vector, ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), to.width), [0] * to.width))


def _register(operation: Any, instruction: str) -> None:
    """Teach the compiler an operation on lanes, or on lanes and a number."""

    @infer_global(operation)
    class _Operation(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            kind = next((each for each in args if isinstance(each, Lanes)), None)
            return None if kind is None else signature(kind, *[kind] * len(args))

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return getattr(builder, instruction)(*values)

    lower_builtin(operation, *[Lanes] * (1 if operation is operator.neg else 2))(generate)


for _operation, _instruction in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"), (operator.isub, "fsub"), (operator.imul, "fmul"), (operator.itruediv, "fdiv"),
    (operator.neg, "fneg"),
):  # fmt: skip
    _register(_operation, _instruction)
