"""Systems given by their Lagrangian L = 1/2 vᵀ M(q) v + A(q)·v − V(q): as SymPy expressions, or as functions that numba compiles,
which have no A.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.compiler import decorators
from mbvi.kernels.mechanics.complex_step import compile_functions
from mbvi.model.arguments import checked_number, checked_vector
from mbvi.model.expressions import nearest, show, wrong
from mbvi.system.elimination import dense, elimination
from mbvi.system.own_functions import (
    CONSTRAINTS,
    FORCE,
    MASS_MATRIX,
    MISSING,
    POTENTIAL,
    VELOCITY_CONSTRAINTS,
    OwnForce,
    OwnValues,
    check_call,
    check_returns_number,
    checked_function,
    compile_own,
    parameters_of,
    read_only,
    returned_kinds,
)
from mbvi.system.redundancy import count_redundant_anywhere
from mbvi.system.scales import set_scales
from mbvi.system.system import System

Array = np.ndarray
MOST_CONSTRAINTS = 10_000
USUAL = frozenset("sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log".split())


def from_sympy(
    coordinates: Sequence[Any],
    mass_matrix: Any,
    potential: Any,
    *,
    velocities: Sequence[Any] = (),
    time: Any = None,
    constraints: Sequence[Any] = (),
    velocity_constraints: Sequence[Any] = (),
    forces: Sequence[Any] = (),
    dissipation: Any = 0,
    parameters: Mapping[Any, float] | None = None,
    initial_q: ArrayLike | None = None,
    initial_v: ArrayLike | None = None,
    name: str = "lagrangian",
) -> System:
    """A system from SymPy expressions; all derivatives are exact.

    Parameters
    ----------
    coordinates : sequence of n symbols
    mass_matrix : n × n matrix of expressions in the coordinates
        Symmetric.
    potential : expression
        V(q), or V(t, q); or V(t, q) − A(t, q)·v, linear in the velocities, as that of a charge in a magnetic field. Then the
        momentum is p = M v + A, and the energy 1/2 vᵀ M v + V.
    velocities : sequence of n symbols, optional
        Needed where `potential`, `forces`, `dissipation` or `velocity_constraints` use them.
    time : symbol, optional
    constraints : sequence of k expressions, optional
        g(q) or g(t, q), zero on the constraints; some may follow from others.
    velocity_constraints : sequence of r expressions, optional
        A(t, q) v − a(t, q), linear in the velocities, zero on the constraints, as those of rolling.
    forces : sequence of n expressions, optional
        Generalized forces F(t, q, v).
    dissipation : expression
        Rayleigh's function R(t, q, v), whose forces −∂R/∂v are added to `forces`.
    parameters : mapping of symbol or name to number, optional
        Values put in for the remaining symbols.
    initial_q, initial_v : (n,), optional
        Zero if left out.
    name : str

    Raises
    ------
    ModelError
        If something is neither expression nor number, sizes do not fit, the matrix is not symmetric, or a symbol has no value.

    Examples
    --------
    >>> import sympy
    >>> q, m = sympy.symbols("q m")
    >>> system = from_sympy([q], [[m]], -m * sympy.cos(q), parameters={m: 2.0})
    >>> system.energy([0.0], [3.0])
    7.0
    """
    import sympy

    q = checked_symbols(coordinates, "coordinates")
    n = len(q)
    v = checked_symbols(velocities, "velocities") or [sympy.Dummy(f"v{i}") for i in range(n)]
    t = sympy.Dummy("t") if time is None else time
    if {*q} & {*v}:
        raise ModelError(f"velocities: {wrong('symbols that are no coordinates', show(velocities))}")
    if not isinstance(t, sympy.Symbol) or t in (*q, *v):
        raise ModelError(f"time: {wrong('a symbol that is no coordinate', show(time))}")
    values = checked_values({} if parameters is None else parameters, {*q, *v, t})
    try:
        expressions("mass_matrix", np.array(mass_matrix, dtype=object).flat)
        M = with_values(sympy.Matrix(mass_matrix), values)
        U = with_values(sympy.Matrix(expressions("potential", [potential])), values)[0]
        g = with_values(sympy.Matrix(expressions("constraints", constraints)), values)
        w = with_values(sympy.Matrix(expressions("velocity_constraints", velocity_constraints)), values)
        F = with_values(sympy.Matrix(expressions("forces", forces) or [0] * n), values)
        R = with_values(sympy.Matrix(expressions("dissipation", [dissipation])), values)[0]
    except (TypeError, ValueError, NotImplementedError, sympy.SympifyError) as error:
        raise ModelError(
            f"{name}: expected a square matrix, an expression and lists of expressions, found {_first_line(error)}"
        ) from None
    _check_sympy(q, v, t, M, U, g, w, F, R)
    V, A = _potentials(U, v)
    F -= sympy.Matrix([R.diff(x) for x in v])
    speed = sympy.Matrix(v)
    p = M * speed + A
    L = (speed.T * M * speed)[0] / 2 + (speed.T * A)[0] - V
    f = sympy.Matrix([L.diff(x) for x in q]) + F
    lam = [sympy.Dummy(f"lam{i}") for i in range(len(g) + len(w))]
    names = {"q": q, "v": v, "lam": lam}
    try:
        functions = _sympy_functions(t, names, p, f, V, A, g, w)
    except Exception as error:  # SymPy's printer and numba each have their own
        raise ModelError(
            f"{name}: expected expressions of elementary functions that are smooth, found one that cannot be compiled: "
            f"{', '.join(_unusual_functions(M, U, g, w, F)) or _first_line(error)}"
        ) from error
    is_held = any(x.subs(dict.fromkeys(v, 0)) for x in w)  # a is not 0
    is_conservative = not any(F) and not is_held and not (M.has(t) or U.has(t) or g.has(t) or w.has(t))

    start: dict[str, Any] = {"initial_q": initial_q, "initial_v": initial_v, "name": name}
    held: dict[str, Any] = {"constraints": list(g), "velocity_constraints": list(w)}
    unforced = partial(from_sympy, q, M, U, velocities=v, time=t, **held, **start)
    names_of_q = [str(x) for x in q]
    _check_names("coordinates", names_of_q)
    arrays = _arrays(n, len(g) + len(w), len(w), **functions)
    return _system(name, arrays, names_of_q, initial_q, initial_v, is_conservative, unforced if any(F) else None)


def _potentials(U: Any, v: list) -> tuple[Any, Any]:
    """V and A of a potential V − A·v."""
    import sympy

    A = sympy.Matrix([-sympy.expand(U).diff(x) for x in v])
    if A.has(*v):
        A = A.applyfunc(sympy.simplify)
    if A.has(*v):
        raise ModelError(
            "potential: expected one that is at most linear in the velocities, found another; what is quadratic belongs to "
            "mass_matrix"
        )
    return U.subs(dict.fromkeys(v, 0)), A


def _sympy_functions(t: Any, names: dict, p: Any, f: Any, V: Any, A: Any, g: Any, w: Any) -> dict[str, Any]:
    """The compiled functions of a system; w are the constraints on velocities."""
    import sympy

    q, v, lam, speed = names["q"], names["v"], names["lam"], sympy.Matrix(names["v"])
    second = {"Lvv": p.jacobian(v), "Lvq": p.jacobian(q), "Kqv": f.jacobian(v), "Kqq": f.jacobian(q)}
    functions = {
        "gradient": _function(layout.GRADIENT, t, names, "qv", {"p": p, "f": f}),
        "hessian": _function(layout.HESSIAN, t, names, "qv", second),
        "potential": _function(layout.POTENTIAL, t, names, "q", {}, V),
    }
    if any(A):
        functions["vector_potential"] = _function(layout.VECTOR_POTENTIAL, t, names, "q", {"A": A})
    G, g_t, g_tt = sympy.zeros(0, len(q)), sympy.zeros(0, 1), sympy.zeros(0, 1)
    if len(g):
        G, g_t = g.jacobian(q), g.diff(t)
        g_tt = 2 * g_t.jacobian(q) * speed + g_t.diff(t)
    if len(w):
        of_v, rest = w.jacobian(v), w.subs(dict.fromkeys(v, 0))
        G, g_t = G.col_join(of_v), g_t.col_join(rest)
        g_tt = g_tt.col_join(of_v.diff(t) * speed + rest.jacobian(q) * speed + rest.diff(t))
    if len(G):
        first = {"g": g.col_join(sympy.zeros(len(w), 1)) if len(g) else sympy.zeros(len(w), 1), "G": G, "g_t": g_t}
        functions["constraint"] = _function(layout.CONSTRAINT, t, names, "q", first)
        curvature = {"+out": (G.T * sympy.Matrix(lam)).jacobian(q)}
        functions["curvature"] = _function(layout.CURVATURE, t, names, ("q", "lam"), curvature)
    if p.has(t) or any(g_tt):
        rates = {"p_t": p.diff(t), "g_tt": g_tt}
        functions["time_rates"] = _function(layout.TIME_RATES, t, names, "qv", rates)
    return functions


def checked_symbols(symbols: Any, what: str) -> list:
    """The symbols, if they are different ones of SymPy."""
    import sympy

    found = (
        list(symbols) if isinstance(symbols, Sequence | sympy.MatrixBase) and not isinstance(symbols, str) else [None]
    )
    if not all(isinstance(each, sympy.Symbol) for each in found) or len(set(found)) != len(found):
        raise ModelError(f"{what}: expected a list of different SymPy symbols, found {symbols!r}")
    return found


def checked_values(parameters: Mapping[Any, float], used: set) -> dict:
    """Values of symbols, or of their names, if they are finite numbers, and none of a symbol that is used otherwise."""
    import sympy

    if not isinstance(parameters, Mapping):
        raise ModelError(f"parameters: {wrong('a mapping of symbols to numbers', show(parameters))}")
    taken = used | {each.name for each in used if not isinstance(each, sympy.Dummy)}
    for key, value in parameters.items():
        is_number = isinstance(value, int | float | np.number | sympy.Number) and not isinstance(value, bool)
        if not is_number or not np.isfinite(float(value)) or key in taken or not isinstance(key, str | sympy.Symbol):
            raise ModelError(
                f"parameters: expected a finite number for a symbol that is no coordinate, found {value!r} for {key}"
            )
    return dict(parameters)


def with_values(matrix: Any, values: Mapping[Any, float]) -> Any:
    """A matrix with values put in for symbols, which `values` has by themselves or by their names."""
    found = {each: values.get(each, values.get(each.name)) for each in matrix.free_symbols}
    return matrix.subs({symbol: value for symbol, value in found.items() if value is not None})


def expressions(what: str, values: Any) -> list:
    """The values, if all are SymPy expressions or real numbers; of text, SymPy would execute what stands in it."""
    import sympy

    if not isinstance(values, Sequence | np.ndarray | np.flatiter | sympy.MatrixBase) or isinstance(
        values, str | bytes
    ):
        raise TypeError(f"{show(values)} for {what}")
    found = list(values)
    for each in found:
        is_number = isinstance(each, Real) and not isinstance(each, bool)
        if not is_number and (not isinstance(each, sympy.Expr) or each.is_Matrix):
            raise TypeError(f"{show(each)} in {what}; give SymPy expressions and numbers")
    return found


def _check_sympy(q: list, v: list, t: Any, M: Any, U: Any, g: Any, w: Any, F: Any, R: Any) -> None:
    n = len(q)
    if n == 0:
        raise ModelError("coordinates: expected at least one symbol, found none")
    if M.shape != (n, n):
        raise ModelError(f"mass_matrix: expected {n} × {n} expressions, found {M.shape[0]} × {M.shape[1]}")
    if not (M - M.T).applyfunc(lambda x: x.simplify()).is_zero_matrix:
        raise ModelError("mass_matrix: expected a symmetric matrix, found one that is not")
    if len(v) != n:
        raise ModelError(f"velocities: expected {n} symbols, found {len(v)}")
    if len(F) != n:
        raise ModelError(f"forces: expected {n} expressions, found {len(F)}")
    known = {
        "mass_matrix": (M, {*q, t}),
        "potential": (U, {*q, *v, t}),
        "constraints": (g, {*q, t}),
        "velocity_constraints": (w, {*q, *v, t}),
        "forces": (F, {*q, *v, t}),
        "dissipation": (R, {*q, *v, t}),
    }
    for what, (expression, symbols) in known.items():
        unknown = sorted(str(symbol) for symbol in expression.free_symbols - symbols)
        if unknown:
            raise ModelError(
                f"{what}: expected a value for every symbol, found none for {unknown[0]}; add it to parameters"
                + (", or to velocities if it is one" if symbols.issuperset(v) else "")
            )
    if len(w) and w.jacobian(v).has(*v):
        raise ModelError(
            "velocity_constraints: expected expressions that are linear in the velocities, found one that is not; multiply it out"
        )


def _unusual_functions(*expressions: Any) -> list[str]:
    """Names of functions in expressions that are not among the usual ones, all of which are smooth."""
    import sympy
    from sympy.core.function import Application

    found = {each.func.__name__ for each in sympy.Tuple(*expressions).atoms(Application)}
    return sorted(found - USUAL)


def _function(signature: Any, t: Any, names: dict, inputs: Sequence[str], outputs: dict, result: Any = None) -> Any:
    """Compile expressions into a function (t, *inputs, *outputs) that writes its outputs ("+out": adds to out)."""
    import sympy
    from sympy.printing.pycode import PythonCodePrinter

    class Printer(PythonCodePrinter):
        """Python code with numbers to the last bit, of which SymPy prints 15 digits, and with quotients, which are infinite at a
        pole, for powers below 0, which are an exception there.
        """

        def _print_Float(self, number: Any) -> str:
            return repr(float(number))

        def _print_Integer(self, number: Any) -> str:
            return str(number) if abs(number) < 2**63 else repr(float(number))  # numba has integers of 64 bits

        def _print_Pow(self, power: Any, rational: bool = False) -> str:
            if power.exp.is_Integer and power.exp < 0:
                return f"(1.0/({self._print(power.base**-power.exp)}))"
            return super()._print_Pow(power, rational)

    code = Printer({"fully_qualified_modules": True}).doprint

    inputs = list(inputs)
    flat = [item for matrix in outputs.values() for item in matrix] + ([] if result is None else [result])
    shared, reduced = sympy.cse(flat, symbols=sympy.numbered_symbols("x_"))
    local = {symbol: sympy.Symbol(f"{name}_{i}") for name in inputs for i, symbol in enumerate(names[name])}
    local[t] = sympy.Symbol("t")
    lines = [f"def function(t, {', '.join([*inputs, *(key.lstrip('+') for key in outputs)])}):"]
    lines += [f"    {name}_{i} = {name}[{i}]" for name in inputs for i in range(len(names[name]))]
    lines += [f"    {symbol} = {code(expression.xreplace(local))}" for symbol, expression in shared]
    items = iter(reduced)
    for key, matrix in outputs.items():
        operator = "+=" if key[0] == "+" else "="
        for i in range(len(matrix)):
            lines.append(f"    {key.lstrip('+')}[{i}] {operator} {code(next(items).xreplace(local))}")
    lines.append(f"    return float({'0.0' if result is None else code(next(items).xreplace(local))})")
    space: dict[str, Any] = {"math": __import__("math")}
    exec("\n".join(lines), space)  # the text is printed from the expression trees above, never read from a file
    return decorators.compiled(signature, space["function"])


def from_functions(
    coordinate_names: Sequence[str],
    mass_matrix: Callable,
    potential: Callable,
    *,
    constraints: Callable | None = None,
    constraint_count: int = 0,
    velocity_constraints: Callable | None = None,
    velocity_constraint_count: int = 0,
    force: Callable | None = None,
    parameters: Mapping[str, float] | None = None,
    initial_q: ArrayLike | None = None,
    initial_v: ArrayLike | None = None,
    name: str = "lagrangian",
) -> System:
    """A system from functions that numba can compile; first derivatives are exact, by complex steps.

    Parameters
    ----------
    coordinate_names : sequence of n str
    mass_matrix : callable
        ``mass_matrix(q, M)`` writes M(q) into M (n, n). It is called with real and with complex arrays: use operators
        and functions of numpy that continue analytically, not abs, max or comparisons.
    potential : callable
        ``potential(q)`` returns V(q), under the same rule [J].
    constraints : callable, optional
        ``constraints(q, g)`` writes g(q) into g (k,), under the same rule; some may follow from others.
    constraint_count : int
        The number k of constraints.
    velocity_constraints : callable, optional
        ``velocity_constraints(q, A)`` writes A(q) into A (r, n), which is 0 before, under the same rule: A v = 0, as of rolling.
    velocity_constraint_count : int
        The number r of such constraints.
    force : callable, optional
        ``force(t, q, v, F)`` adds generalized forces to F (n,). Where one of the functions raises an error, the step fails.
        What it takes behind F are its parameters.
    parameters : mapping of str to float, optional
        Values of the parameters of `force`, which `System.with_parameters` changes.
    initial_q, initial_v : (n,), optional
        Zero if left out.
    name : str

    Raises
    ------
    ModelError
        If a function cannot be compiled, reads or writes beyond its arrays, leaves a constraint unwritten, or returns what it
        should write, if the potential is no number, or if a derivative by complex steps differs from the difference quotient.

    Notes
    -----
    Second derivatives are differences of the exact first ones. Those of the Lagrangian only steer Newton's method; those of the
    constraints are also in accelerations and multipliers, which keep some ten digits where coordinates are of the size of 1 cm.

    Examples
    --------
    >>> import numpy as np
    >>> def mass(q, M):
    ...     M[0, 0] = 2.0
    >>> def height(q):
    ...     return -2.0 * np.cos(q[0])
    >>> system = from_functions(["angle"], mass, height)
    >>> system.energy([0.0], [3.0])
    7.0
    """
    _check_names("coordinate_names", coordinate_names)
    n = len(coordinate_names)
    _check_count("constraint", constraints, constraint_count)
    _check_count("velocity_constraint", velocity_constraints, velocity_constraint_count)
    counts = constraint_count, velocity_constraint_count
    _check_title(name)
    for what, given in (("initial_q", initial_q), ("initial_v", initial_v)):
        if given is not None:
            checked_vector(given, what, coordinate_names)
    own = {
        "mass_matrix": checked_function("mass_matrix", mass_matrix, MASS_MATRIX),
        "potential": checked_function("potential", potential, POTENTIAL),
        "constraints": None if constraints is None else checked_function("constraints", constraints, CONSTRAINTS),
        "velocity_constraints": velocity_constraints
        and checked_function("velocity_constraints", velocity_constraints, VELOCITY_CONSTRAINTS),
    }
    known = _checked_own_parameters(force, {} if parameters is None else parameters)
    _check_sizes(_place(initial_q, n), *counts, own)
    values, functions = OwnValues(own | {"force": force}), _compiled(n, *counts, own)
    sizes = n, sum(counts), velocity_constraint_count
    bare = _system(name, _arrays(*sizes, **functions), coordinate_names, initial_q, initial_v, True)
    bare._own_values = values
    _check_functions(bare)
    if force is None:
        return bare
    own_force = compile_force(force, bare.given_q, bare.given_v, known)
    numbers = np.array([known[name] for name in own_force.names], float)
    arrays = _arrays(*sizes, **functions, force=own_force.function, force_parameters=numbers)
    system = _system(name, arrays, coordinate_names, initial_q, initial_v, is_conservative=False, unforced=bare)
    system._own_values, system._force_names = values, own_force.names
    return system


def _checked_own_parameters(force: Any, parameters: Any) -> dict[str, float]:
    """Values of the parameters of a force, and of nothing else."""
    if not isinstance(parameters, Mapping):
        raise ModelError(f"parameters: {wrong('a mapping of names to numbers', show(parameters))}")
    taken = parameters_of(force, FORCE)
    for name in parameters:
        if name not in taken:
            remedy = nearest(str(name), taken) if taken else "there is no force that takes one behind F"
            raise ModelError(f"parameters: {wrong('a parameter of the force', show(name), remedy)}")
    return {name: checked_number(value, f"parameters.{name}") for name, value in parameters.items()}


def _check_count(what: str, function: Any, count: Any) -> None:
    """The number of constraints that a function writes must be given with it."""
    is_count = isinstance(count, int | np.integer) and 0 <= count <= MOST_CONSTRAINTS
    if not is_count or (function is None) != (count == 0):
        raise ModelError(f"{what}_count: expected the number of constraints that `{what}s` writes, found {count!r}")


def _compiled(n: int, k: int, r: int, own: Mapping[str, Any]) -> dict[str, Any]:
    """The compiled functions of a system of a user's own, checked, with r constraints on velocities besides k others."""
    kinds = {
        "mass_matrix": layout.OWN_MASS_MATRIX,
        "potential": layout.OWN_POTENTIAL,
        "constraints": layout.OWN_CONSTRAINTS,
        "velocity_constraints": layout.OWN_RATES,
    }
    compiled = [own[key] and compile_own(key, own[key], kind) for key, kind in kinds.items()]
    try:
        return compile_functions(n, k, r, *compiled)
    except Exception as error:  # numba raises many
        found = f"one that may return {' or '.join(sorted(returned_kinds(compiled[1])))}"
        remedy = "return one number from wherever it ends"
        raise ModelError(f"potential: {wrong('a function that returns a number', found, remedy)}") from error


def compile_force(force: Any, q: Array, v: Array, known: Mapping[str, Any]) -> OwnForce:
    """A user's force function ``force(t, q, v, F, …)`` as a compiled function of a system with as many coordinates.

    What it takes behind F are parameters, whose values are known, or has default values, which stay.
    """
    names = _checked_names(force, known)
    plain = checked_function("force", force, FORCE, parameters=names)
    parameters = [float(known[name]) for name in names]
    check_call("force", plain, 0.0, read_only(q), read_only(v), np.zeros(len(q)), parameters=parameters)
    compiled = compile_own("force", plain, layout.OWN_FORCE, parameters=len(names))
    return OwnForce(decorators.compiled(layout.FORCE, decorators.as_force(compiled, len(names))), names)


def _checked_names(force: Any, known: Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters of a force, if their values are known and they have no others."""
    taken = parameters_of(force, FORCE)
    for name, default in taken.items():
        if default is MISSING and name not in known:
            remedy = "add it there, or give it a default value, which stays"
            raise ModelError(f"force: {wrong(f'a value of {name!r}, which it takes, in parameters', 'none', remedy)}")
        if default is not MISSING and name in known:
            expected = f"{name} without a default value, since it is a parameter"
            remedy = "leave the default value out, or rename it"
            raise ModelError(f"force: {wrong(expected, f'{name}={show(default)}', remedy)}")
    return tuple(name for name, default in taken.items() if default is MISSING)


def _place(initial_q: Any, n: int) -> Array:
    """The initial coordinates, or zeros; also if they are wrong, which is reported later."""
    try:
        q = np.array(initial_q, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.zeros(n)
    return q if q.shape == (n,) else np.zeros(n)


def _check_sizes(place: Array, k: int, r: int, own: Mapping[str, Any]) -> None:
    """The functions must use as many coordinates as there are, return a number, and write as many constraints."""
    q, n, constraints = read_only(place), len(place), own["constraints"]
    check_call("mass_matrix", own["mass_matrix"], q, np.zeros((n, n)))
    check_returns_number("potential", own["potential"], q)
    if own["velocity_constraints"]:
        check_call("velocity_constraints", own["velocity_constraints"], q, np.zeros((r, n)))
    low, high = np.zeros(k), np.ones(k)
    if constraints and all(check_call("constraints", constraints, q, g) is not MISSING for g in (low, high)):
        left = np.flatnonzero(high > low)  # what was in them before is still there
        if len(left):
            raise ModelError(
                f"constraints: {wrong(f'a function that writes all {k} of g', f'g[{left[0]}] not written')}"
            )


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next(
        (line for line in lines if "rror" in line or "nknown" in line or "ndefined" in line), lines[0] if lines else ""
    )


def _arrays(n: int, k: int, velocity_count: int = 0, **functions: Any) -> layout.System:
    """The arrays of a system of n coordinates and k constraints, of which the last so many are on velocities."""

    def empty(width: int, dtype: Any) -> Array:
        return np.zeros((0, width), dtype)

    entries = [(i, j) for i in range(k) for j in range(n)]
    blocks = elimination([dense(n, k)], [], entries)
    rows = np.zeros((k, 8), np.int64)
    rows[:, layout.CONSTRAINT_KIND] = layout.OWN
    rows[k - velocity_count :, layout.CONSTRAINT_KIND] = layout.OWN_RATE
    rows[:, layout.FIRST_ENTRY], rows[:, layout.ENTRIES] = n * np.arange(k), n
    names = (
        "gradient",
        "hessian",
        "potential",
        "vector_potential",
        "constraint",
        "curvature",
        "force",
        "time_rates",
    )
    fields = {**dict.fromkeys(names, 0), "force_parameters": np.zeros(0)} | functions
    return layout.System(
        n=n,
        k=k,
        is_tree=0,
        is_open=0,
        is_planar=0,
        is_geometric=0,
        gravity=np.zeros(3),
        links=empty(7, np.int64),
        coordinate_links=np.full(n, -1, np.int64),
        armature=np.zeros(0),
        before=np.full(n, -1, np.int64),
        anchored=np.zeros(n, np.int64),
        periodic=np.zeros(n, np.int64),
        geometry=empty(24, float),
        joint_forces=empty(4, np.int64),
        joint_force_data=empty(6, float),
        inputs=np.zeros(0),
        body_forces=empty(6, np.int64),
        body_force_data=empty(17, float),
        bushings=empty(2, np.int64),
        bushing_data=empty(36, float),
        frame_actuators=empty(2, np.int64),
        frame_actuator_data=empty(9, float),
        time_functions=empty(3, np.int64),
        operations=np.zeros(0, np.int64),
        numbers=np.zeros(0),
        constraints=rows,
        constraint_data=np.zeros((k, 13)),
        touches=empty(3, np.int64),
        touch_data=empty(8, float),
        expressions=empty(5, np.int64),
        tendons=empty(7, np.int64),
        tendon_coordinates=np.zeros(0, np.int64),
        variables=empty(4, np.int64),
        variable_points=empty(3, float),
        terms=np.zeros(0, np.int64),
        rates=np.arange(k - velocity_count, k, dtype=np.int64),
        signs=np.ones(len(entries)),
        **blocks,
        **fields,
    )


def _system(
    name: str,
    arrays: layout.System,
    coordinate_names: Sequence[str],
    q: Any,
    v: Any,
    is_conservative: bool,
    unforced: System | Callable[[], System] | None = None,
) -> System:
    _check_title(name)
    holonomic = arrays.k - len(arrays.rates)
    names = [*(f"g{i}" for i in range(holonomic)), *(f"a{i}" for i in range(len(arrays.rates)))]
    units = [""] * arrays.n
    rest = np.zeros(arrays.n)
    system = System(name, arrays, coordinate_names, units, rest, rest.copy(), is_conservative, names, unforced=unforced)
    if q is not None:
        system.given_q = system._vector(q, "initial_q")
    if v is not None:
        system.given_v = system._vector(v, "initial_v")
    if system.constraint_count:
        set_scales(system)
        count_redundant_anywhere(system)
    return system


def _check_title(name: Any) -> None:
    if not _is_name(name):
        raise ModelError(f"name: {wrong('a name of printable characters', show(name))}")


def _check_names(what: str, names: Any) -> None:
    is_list = isinstance(names, Sequence) or (isinstance(names, np.ndarray) and names.ndim == 1)
    if not is_list or isinstance(names, str) or not all(map(_is_name, names)) or not 0 < len(names) == len(set(names)):
        raise ModelError(f"{what}: {wrong('a list of names, all different and of printable characters', show(names))}")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _check_functions(system: System) -> None:
    """Compare the exact derivatives with difference quotients at a place near the initial one; M must be symmetric."""
    n = system.dimension
    random = np.random.default_rng(0)
    q = system.given_q + 0.1 * random.standard_normal(n)
    v = random.standard_normal(n)
    M = system.mass_matrix(q)
    if not np.allclose(M, M.T, rtol=1e-10, atol=0.0):
        raise ModelError("mass_matrix: expected a symmetric matrix, found one that is not")

    def differences(function: Callable) -> Array:
        h = 1e-5
        return np.array([(function(q + h * e) - function(q - h * e)) / (2 * h) for e in np.eye(n)])

    _compare(
        system,
        "mass_matrix, potential",
        "∂L/∂",
        system.gradient(q, v)[1][:, None],
        differences(lambda x: system.lagrangian(x, v))[:, None],
    )
    if system.constraint_count > len(system.arrays.rates):
        G = system._position_constraints(q, 0.0)[1]
        _compare(system, "constraints", "∂g/∂", G.T, differences(system.constraint))


def _compare(system: System, where: str, what: str, exact: Array, quotient: Array) -> None:
    """Rows of exact derivatives, one for each coordinate, against difference quotients."""
    error = np.abs(exact - quotient).max(axis=1)
    worst = int(np.argmax(error))
    if not error[worst] <= 1e-4 * (1.0 + np.abs(quotient).max()):
        i = int(np.argmax(np.abs(exact[worst] - quotient[worst])))
        raise ModelError(
            f"{where}: expected functions that continue analytically, found {what}{system.coordinate_names[worst]} = "
            f"{exact[worst, i]:.6g} by a complex step and {quotient[worst, i]:.6g} by differences; avoid abs, max, "
            "comparisons and .real"
        )
