"""Every named scheme: one entry each, with its order and its source."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import EXPLICIT, ButcherTableau
from mbvi.schemes.tableau import Tableau, gauss, lobatto

MARSDEN_WEST = "Marsden & West, Acta Numerica 10 (2001); Ober-Blöbaum & Saake, Adv. Comput. Math. 41 (2015)"
WENDLANDT_MARSDEN = "Wendlandt & Marsden, Physica D 106 (1997)"
SHAKE = "Ryckaert, Ciccotti & Berendsen, J. Comput. Phys. 23 (1977)"
RATTLE = "Andersen, J. Comput. Phys. 52 (1983); Leimkuhler & Skeel, J. Comput. Phys. 112 (1994)"
NEWMARK = "Newmark, J. Eng. Mech. Div. 85 (1959); Kane, Marsden, Ortiz & West, Int. J. Numer. Methods Eng. 49 (2000)"
QUADRATIC = "Rojas-Quintero, Dubois & Cabrera-Díaz, Axioms 13 (2024)"
MUTZE = "Mutze, A simple variational integrator for general holonomic mechanical systems"
KUTTA = "Kutta, Z. Math. Phys. 46 (1901)"
RUNGE = "Runge, Math. Ann. 46 (1895)"
HEUN = "Heun, Z. Math. Phys. 45 (1900)"
MARSDEN_WENDLANDT = "Marsden & Wendlandt, Current and Future Directions in Applied Mathematics (1997)"
SYMPLECTIC_EULER = f"de Vogelaere, University of Notre Dame (1956); {MARSDEN_WENDLANDT}, equations 16 and 51"
LIE_TROTTER = f"Trotter, Proc. Amer. Math. Soc. 10 (1959); {MARSDEN_WENDLANDT}, example 5"
MIDPOINT_RULE = f"Feng, J. Comput. Math. 4 (1986); {MARSDEN_WENDLANDT}, equations 17 and 18"
GONZALEZ = "Gonzalez, J. Nonlinear Sci. 6 (1996); Physica D 132 (1999)"
CHORIN = "Chorin, Hughes, McCracken & Marsden, Commun. Pure Appl. Math. 31 (1978)"
STRANG = "Strang, SIAM J. Numer. Anal. 5 (1968); Touma & Wisdom, Astron. J. 107 (1994)"
WEHAGE_HAUG = "Wehage & Haug, J. Mech. Des. 104 (1982); Marsden & West (2001)"
BLANES_MOAN = "Blanes & Moan, J. Comput. Appl. Math. 142 (2002)"
SIMPSON = "Dubois & Rojas-Quintero, FVCA 10 (2023); Rojas-Quintero, Dubois & Jourdan (2025)"


def _gauss(count: int) -> Tableau:
    nodes, weights = gauss(count)
    points = lobatto(count + 1)[0]
    text = f"polynomials of degree {count} through {count + 1} Lobatto points, Gauss quadrature"
    return Tableau(f"gauss{count}", points, nodes, weights, 2 * count, MARSDEN_WEST, description=text)


def _lobatto(count: int) -> Tableau:
    nodes, weights = lobatto(count)
    text = f"polynomials of degree {count - 1}, Lobatto quadrature on their {count} points"
    return Tableau(f"lobatto{count}", nodes, nodes, weights, 2 * count - 2, MARSDEN_WEST, description=text)


def _one_point(name: str, node: float, source: str, text: str) -> Tableau:
    """Straight segments with the quadrature of one node, at an end of the segment: L_d = h L there."""
    return Tableau(name, (0.0, 1.0), (node,), (1.0,), 1, source, description=f"straight segments, {text}")


def _compose(name: str, base: Tableau, half: tuple[float, ...], order: int, source: str) -> Tableau:
    """Symmetric composition; `half` holds the first substeps without the middle one, which makes the sum 1."""
    fractions = (*half, 1.0 - 2.0 * sum(half), *reversed(half))
    text = f"{len(fractions)} substeps of {base.name}"
    return replace(base, name=name, fractions=fractions, order=order, source=source, description=text)


def _triple_jump(order: int) -> tuple[float, ...]:
    """Yoshida's substep from even `order` to order + 2."""
    return (1.0 / (2.0 - 2.0 ** (1.0 / (order + 1))),)


def _suzuki(order: int) -> tuple[float, ...]:
    """Suzuki's substeps from even `order` to order + 2."""
    return 2 * (1.0 / (4.0 - 4.0 ** (1.0 / (order + 1))),)


YOSHIDA = "Yoshida, Phys. Lett. A 150 (1990)"
SUZUKI = "Suzuki, Phys. Lett. A 146 (1990)"
KAHAN_LI = "Kahan & Li, Math. Comp. 66 (1997)"
SOFRONIOU_SPALETTA = "Sofroniou & Spaletta, Optim. Methods Softw. 20 (2005)"

_YOSHIDA_6 = (0.78451361047755726382, 0.23557321335935813368, -1.17767998417887100695)
_KAHAN_LI_6 = (
    0.39216144400731413927925056, 0.33259913678935943859974864,
    -0.70624617255763935980996482, 0.08221359629355080023149045,
)  # fmt: skip
_KAHAN_LI_8 = (
    0.13020248308889008087881763, 0.56116298177510838456196441, -0.38947496264484728640807860,
    0.15884190655515560089621075, -0.39590389413323757733623154, 0.18453964097831570709183254,
    0.25837438768632204729397911, 0.29501172360931029887096624,
)  # fmt: skip
_SOFRONIOU_SPALETTA_10 = (
    0.07879572252168641926390768, 0.31309610341510852776481247, 0.02791838323507806610952027,
    -0.22959284159390709415121340, 0.13096206107716486317465686, -0.26973340565451071434460973,
    0.07497334315589143566613711, 0.11199342399981020488957508, 0.36613344954622675119314812,
    -0.39910563013603589787862981, 0.10308739852747107731580277, 0.41143087395589023782070412,
    -0.00486636058313526176219566, -0.39203335370863990644808194, 0.05194250296244964703718290,
    0.05066509075992449633587434, 0.04967437063972987905456880,
)  # fmt: skip

# Kicks and free motions in turn, from a kick on, without the two in the middle: methods SRKN₆ᵇ and SRKN₁₄ᵃ.
_BLANES_MOAN_4 = (
    0.0829844064174052, 0.245298957184271, 0.396309801498368, 0.604872665711080, -0.0390563049223486,
)  # fmt: skip
_BLANES_MOAN_6 = (
    0.0, 0.0378593198406116, 0.09171915262446165, 0.102635633102435, 0.183983170005006, -0.0258678882665587,
    -0.05653436583288827, 0.314241403071447, 0.004914688774712854, -0.130144459517415, 0.143761127168358,
    0.106417700369543, 0.328567693746804, -0.00879424312851058,
)  # fmt: skip
# Of 22 kicks, from a kick on: a solution of the conditions of order 8 modulo [V, [V, [V, T]]] = 0, by Newton's method from random
# starts, then moved along the solutions to the least terms of order 9; of those found the best on a fast top.
_SPLITTING_8 = (
    0.035775110108702955, 0.1280358442084696, -0.040731624090646255, -0.1372239722987163, -0.013012514799321497,
    0.0764397382900657, 0.10991762596521218, 0.1226898857810016, 0.1902291423256515, 0.14558998322178712,
    0.30611319387767466, 0.38017097178452874, -0.08146401567915755, -0.4360611379516475, 0.17959060659754236,
    -0.00013632964430816853, -0.17935348177859473, 0.43678200080818225, 0.08095202774309115, -0.39279312888560364,
    -0.173901877122424,
)  # fmt: skip


def _tableaux() -> dict[str, Tableau]:
    midpoint = replace(
        _gauss(1),
        name="midpoint",
        source=WENDLANDT_MARSDEN,
        description="straight segments, midpoint rule (the implicit midpoint variational integrator)",
    )
    simpson = replace(
        _lobatto(3), name="simpson", source=SIMPSON, description="parabolas, Simpson's rule (the same as lobatto3)"
    )
    trapezoidal = replace(
        _lobatto(2),
        name="trapezoidal",
        source="Verlet, Phys. Rev. 159 (1967); Marsden & West (2001)",
        description="straight segments, trapezoidal rule (Störmer–Verlet; the same as lobatto2)",
    )
    positions = "momenta left as position constraints alone give them: the three-term form on Q × Q"
    entries = [
        midpoint,
        simpson,
        trapezoidal,
        replace(
            trapezoidal, name="rattle", source=RATTLE, description="trapezoidal by its name for constrained systems"
        ),
        replace(
            trapezoidal, name="shake", source=SHAKE, description=f"rattle's motion; {positions}", is_projected=False
        ),
        replace(midpoint, name="wendlandt_marsden", description=f"midpoint's motion; {positions}", is_projected=False),
        replace(
            midpoint,
            name="implicit_midpoint",
            source=MIDPOINT_RULE,
            description="midpoint by its name as a rule for Hamilton's equations",
        ),
        _one_point("symplectic_euler", 1.0, SYMPLECTIC_EULER, "L at their ends: a drift, then a kick"),
        _one_point(
            "lie_trotter", 0.0, LIE_TROTTER, "L at their starts: a kick, then a drift (of T(p) + V(q), a splitting)"
        ),
    ]
    entries += [_lobatto(count) for count in range(2, 9)]
    entries += [_gauss(count) for count in range(1, 9)]
    entries += [
        _compose("yoshida4", midpoint, _triple_jump(2), 4, YOSHIDA),
        _compose("suzuki4", midpoint, _suzuki(2), 4, SUZUKI),
        _compose("yoshida6", midpoint, _YOSHIDA_6, 6, YOSHIDA),
        _compose("kahan_li6", midpoint, _KAHAN_LI_6, 6, KAHAN_LI),
        _compose("kahan_li8", midpoint, _KAHAN_LI_8, 8, KAHAN_LI),
        _compose("sofroniou_spaletta10", midpoint, _SOFRONIOU_SPALETTA_10, 10, SOFRONIOU_SPALETTA),
        _compose("simpson_yoshida6", simpson, _triple_jump(4), 6, YOSHIDA),
        _compose("simpson_suzuki6", simpson, _suzuki(4), 6, SUZUKI),
    ]
    return {entry.name: entry for entry in entries}


def _methods() -> dict[str, Method]:
    lagrangians = "for quadratic Lagrangians"
    entries = [
        Method("newmark", 2, NEWMARK, f"midpoint {lagrangians}: matrices built once; stable at every step", "linear"),
        Method(
            "simpson_linear",
            4,
            QUADRATIC,
            f"simpson {lagrangians}: matrices built once, with the internal point; stable for h ω < 2√2",
            "linear",
        ),
        Method(
            "simpson_condensed",
            4,
            QUADRATIC,
            "simpson_linear's motion, the internal point eliminated beforehand",
            "linear",
        ),
        direct_midpoint(),
        _parabolic("parabolic_path", "stationary action of a parabola, with the virtual work of forces"),
        _parabolic("midpoint_variation", "stationary action of a parabola, to which forces contribute their own"),
        _parabolic("three_point", "midpoint_variation's motion, from the place in the middle of the step"),
        _runge_kutta(EXPLICIT["rk4"], KUTTA, "the classical method of four stages"),
        _runge_kutta(
            EXPLICIT["explicit_midpoint"], RUNGE, "half an Euler step, then a step with the rates found there"
        ),
        _runge_kutta(EXPLICIT["heun"], HEUN, "mean of the rates at the start and after an Euler step"),
        Method(
            "energy_momentum",
            2,
            GONZALEZ,
            "discrete gradients: energy, momenta and constraints kept, for constant M; not symplectic",
            "discrete_gradient",
        ),
        chorin(),
        _splitting("splitting", (0.5, 1.0, 0.5), 2, STRANG),
        _splitting("blanes_moan4", _symmetric(_BLANES_MOAN_4), 4, BLANES_MOAN),
        _splitting("blanes_moan6", _symmetric(_BLANES_MOAN_6), 6, BLANES_MOAN),
        _splitting("splitting8", _symmetric(_SPLITTING_8), 8, f"coefficients found here; conditions: {BLANES_MOAN}"),
    ]
    entries += [_independent(count) for count in (4, 6, 8)]
    return {entry.name: entry for entry in entries}


def _independent(count: int) -> Method:
    """Gauss's scheme of so many nodes on the coordinates that loops leave free."""
    text = f"gauss{count} in independent coordinates of loops, without multipliers"
    return Method(f"independent{count}", 2 * count, WEHAGE_HAUG, text, "independent")


def _splitting(name: str, numbers: tuple[float, ...], order: int, source: str) -> Method:
    """Kicks and free motions in turn, from a kick on, as fractions of the step."""
    count = sum(number != 0.0 for number in numbers[::2]) - (
        numbers[0] != 0.0
    )  # the last and the next step's first are one
    text = f"exact free motions between {count} kick{'s' * (count > 1)} a step by the forces; explicit"
    return Method(name, order, source, text, "splitting", numbers=numbers)


def _symmetric(half: tuple[float, ...]) -> tuple[float, ...]:
    """A symmetric splitting, given what is before the last number of its first half: that and the middle make both sums 1."""
    kind = len(half) % 2
    first = (*half, 0.5 - sum(half[kind::2]))
    return (*first, 1.0 - 2.0 * sum(half[1 - kind :: 2]), *reversed(first))


def _runge_kutta(tableau: ButcherTableau, source: str, text: str) -> Method:
    text = f"{text}; explicit, on coordinates and velocities, conserves nothing"
    more: dict[str, Any] = {"is_symmetric": False, "is_variable": True, "numbers": tableau.numbers}
    return Method(tableau.name, tableau.order, source, text, "runge_kutta", **more)


def _own_runge_kutta(tableau: ButcherTableau) -> Method:
    """The method of a tableau of your own.

    Raises
    ------
    ModelError
        If it is no explicit method, or has the name of another scheme.
    """
    method = _runge_kutta(tableau.checked(), "the user's own", "a method of your own")
    if _is_taken(method.name):
        raise ModelError(f"scheme: expected a name of its own, found that of {method.name!r}; choose another")
    return method


def _is_taken(name: str) -> bool:
    """Whether it names a scheme of mbvi, also with constants."""
    return name in SCHEMES or name.partition("(")[0] in FAMILIES


def _parabolic(name: str, text: str) -> Method:
    return Method(name, 2, MUTZE, text, "parabola", is_variable=True)


def direct_midpoint(g: float = 0.0, iterations: int | None = None) -> Method:
    """The direct midpoint method and its family: parabolas with the system's acceleration in the middle of the step.

    On a step h = 2τ from (t, q, v), with the system's acceleration A(t, q, v),

        q' = q + 2τ v + 2τ² a,    v' = v + 2τ a,    a = A(t + τ, q + τ v + g τ² a, v + τ a)

    It is explicit where g = 0 and A does not depend on v.

    Parameters
    ----------
    g : float
        0 is the method of choice, 1 the implicit midpoint rule on coordinates and velocities.
    iterations : int, optional
        How often a ← (a* + a**)/2 is applied, a* being the right side at a and a** that at a*, after the start with
        A(t + τ, q + τ v, v); by default until the equation is solved.

    Raises
    ------
    ModelError
        If g is not between 0 and 1, or iterations no whole number of at least 0.

    Examples
    --------
    >>> direct_midpoint(g=0.6).name
    'direct_midpoint(g=0.6)'

    Source: Mutze, section 6.
    """
    _check_fraction("g", g)
    is_count = False
    if isinstance(iterations, int | np.integer) and not isinstance(iterations, bool):
        is_count = bool(0 <= iterations < 2**31)
    if not (iterations is None or is_count):
        raise ModelError(
            f"iterations: expected a whole number of at least 0, or none to solve the equation, found {iterations!r}"
        )
    given = [f"g={float(g)!r}"] * (g != 0) + [f"iterations={iterations}"] * is_count
    return Method(
        f"direct_midpoint({', '.join(given)})" if given else "direct_midpoint",
        1 if iterations == 0 else 2,
        MUTZE,
        "parabolas with the acceleration in the middle of the step; explicit where that does not depend on velocities",
        "direct_midpoint",
        is_symmetric=iterations is None,
        is_variable=True,
        numbers=(float(g), -1.0 if iterations is None else float(iterations)),
    )


def chorin(alpha: float = 0.5, beta: float = 0.5, gamma: float = 0.5, delta: float = 0.5) -> Method:
    """The energy-preserving scheme of Chorin, Hughes, McCracken and Marsden, with its four constants.

        q' = q + h (H(q', p') − H(q', p))/(λ·(p' − p)) λ,    λ = ∂H/∂p(α q' + (1 − α) q, β p' + (1 − β) p)
        p' = p − h (H(q', p) − H(q, p))/(μ·(q' − q)) μ,      μ = ∂H/∂q(γ q' + (1 − γ) q, δ p' + (1 − δ) p)

    The energy is conserved with any of them. Of order 2 where M is constant and β = γ = ½, and of order 1 elsewhere, but for
    systems of one coordinate, whose steps do not depend on them if M is constant.

    Parameters
    ----------
    alpha, beta, gamma, delta : float
        From 0 to 1.

    Raises
    ------
    ModelError
        If one is not between 0 and 1.

    Examples
    --------
    >>> chorin(beta=0.75).name
    'chorin(beta=0.75)'

    Source: Marsden & Wendlandt 1997, equations 20 to 23.
    """
    constants = {"alpha": alpha, "beta": beta, "gamma": gamma, "delta": delta}
    for name, value in constants.items():
        _check_fraction(name, value)
    given = [f"{name}={float(value)!r}" for name, value in constants.items() if value != 0.5]
    return Method(
        f"chorin({', '.join(given)})" if given else "chorin",
        2 if beta == gamma == 0.5 else 1,
        CHORIN,
        "discrete gradients: energy kept, without constraints; of order 1 where M depends on q",
        "discrete_gradient",
        is_symmetric=False,
        numbers=tuple(map(float, constants.values())),
    )


def _check_fraction(name: str, value: float) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= 1):
        raise ModelError(f"{name}: expected a number from 0 to 1, found {value!r}")


TABLEAUX = _tableaux()
"""The Galerkin schemes."""
METHODS = _methods()
"""The others."""
SCHEMES: dict[str, Tableau | Method] = {**TABLEAUX, **METHODS}
"""All schemes by name."""
FAMILIES: dict[str, Callable[..., Method]] = {"direct_midpoint": direct_midpoint, "chorin": chorin}
"""Methods with constants, which their names may give."""


def find_scheme(name: str | Tableau | ButcherTableau | Method) -> Tableau | Method:
    """A scheme by name, which may give the constants of a method that has some, or one of your own.

    Raises
    ------
    ModelError
        If there is no scheme of that name, where the nearest is suggested, its constants are none of the method's, or a method
        has other numbers or another stepper than that of its name.

    Examples
    --------
    >>> find_scheme("simpson").order
    4
    >>> find_scheme("direct_midpoint(g=0.5)") == direct_midpoint(g=0.5)
    True
    """
    if isinstance(name, Tableau):
        return name
    if isinstance(name, ButcherTableau):
        return _own_runge_kutta(name)
    if isinstance(name, Method):
        return _known(name)
    if isinstance(name, str) and name in SCHEMES:
        return SCHEMES[name]
    if str(name).partition("(")[0] in FAMILIES:
        return _member(str(name))
    near = difflib.get_close_matches(str(name), SCHEMES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(SCHEMES)}."
    raise ModelError(f"scheme: expected the name of a scheme, found {name!r}; {hint}")


def _known(method: Method) -> Method:
    """A method, if it is that of its name: what a stepper reads besides stands in its numbers."""
    if method.runner == "runge_kutta" and not _is_taken(str(method.name)):
        return _own_runge_kutta(ButcherTableau.of(method.numbers, method.name))
    known = find_scheme(str(method.name))
    if not isinstance(known, Method) or (method.runner, method.numbers) != (known.runner, known.numbers):
        raise ModelError(f"scheme: expected the method {known.name} as mbvi has it, found {method!r}; give its name")
    return method


def _member(name: str) -> Method:
    """The method whose name gives constants, as direct_midpoint(g=0.5)."""
    family = name.partition("(")[0]
    known = inspect.signature(FAMILIES[family]).parameters
    constants = _constants(name)
    if constants is None or not constants.keys() <= known.keys():
        raise ModelError(
            f"scheme: expected {family} with constants by their names ({', '.join(known)}), found {name!r}"
        )
    return FAMILIES[family](**constants)


def _constants(name: str) -> dict[str, Any] | None:
    """Those that a name gives, each once and by its own name; none if it is no such name."""
    try:
        call = ast.parse(name, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        constants = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return constants if len(constants) == len(call.keywords) else None


def find_tableau(name: str | Tableau | Method) -> Tableau:
    """A Galerkin scheme by name.

    Raises
    ------
    ModelError
        If there is no scheme of that name, or it is no Galerkin scheme.
    """
    scheme = find_scheme(name)
    if isinstance(scheme, Method):
        raise ModelError(
            f"scheme: expected a Galerkin scheme, found {scheme.name!r}; choose one of {', '.join(TABLEAUX)}."
        )
    return scheme
