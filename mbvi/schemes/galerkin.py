"""The Galerkin schemes that have names: one entry each, with its order and its source."""

from __future__ import annotations

from dataclasses import replace

from mbvi.errors import ModelError
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.schemes.tableau import Tableau, gauss, lobatto

MARSDEN_WEST = "Marsden & West, Acta Numerica 10 (2001); Ober-Blöbaum & Saake, Adv. Comput. Math. 41 (2015)"
WENDLANDT_MARSDEN = "Wendlandt & Marsden, Physica D 106 (1997)"
SHAKE = "Ryckaert, Ciccotti & Berendsen, J. Comput. Phys. 23 (1977)"
RATTLE = "Andersen, J. Comput. Phys. 52 (1983); Leimkuhler & Skeel, J. Comput. Phys. 112 (1994)"
MARSDEN_WENDLANDT = "Marsden & Wendlandt, Current and Future Directions in Applied Mathematics (1997)"
SYMPLECTIC_EULER = f"de Vogelaere, University of Notre Dame (1956); {MARSDEN_WENDLANDT}, equations 16 and 51"
LIE_TROTTER = f"Trotter, Proc. Amer. Math. Soc. 10 (1959); {MARSDEN_WENDLANDT}, example 5"
MIDPOINT_RULE = f"Feng, J. Comput. Math. 4 (1986); {MARSDEN_WENDLANDT}, equations 17 and 18"
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


TABLEAUX = _tableaux()
"""All of them by name."""


def find_tableau(name: str | Tableau | Method | ButcherTableau) -> Tableau:
    """A Galerkin scheme by name.

    Raises
    ------
    ModelError
        If there is no Galerkin scheme of that name.

    Examples
    --------
    >>> find_tableau("simpson").order
    4
    """
    if isinstance(name, Tableau):
        return name
    if isinstance(name, str) and name in TABLEAUX:
        return TABLEAUX[name]
    found = name.name if isinstance(name, Method | ButcherTableau) else name
    raise ModelError(f"scheme: expected a Galerkin scheme, found {found!r}; choose one of {', '.join(TABLEAUX)}.")
