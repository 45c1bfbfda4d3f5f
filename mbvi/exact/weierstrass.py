"""Weierstrass's ℘ on the line where it is real and bounded, as an infinite row of solitons.

    ℘(t + ω₃) = C − (π/2ω')² Σₙ sech²(π (t + 2 n ω₁)/(2ω')),    ω₃ = i ω',    ℘(ω₃) = e₃ gives C

with the real half period ω₁ = K(m)/√(e₁ − e₃) and the imaginary one ω' = K(1 − m)/√(e₁ − e₃), m = (e₂ − e₃)/(e₁ − e₃).

Source: the sum of csc² of NIST Digital Library of Mathematical Functions, 23.8 (ii), along the imaginary period.
"""

from __future__ import annotations

import math

import numpy as np

from mbvi.exact.elliptic import Jacobi

Array = np.ndarray


def weierstrass(t: Array, lowest: float, span: float, gap: float) -> Array:
    """℘(t + ω₃) for the roots e₃ = lowest, e₂ = e₃ + span, e₁ = e₂ + gap of 4 ℘³ − g₂ ℘ − g₃ = ℘'²."""
    if span == 0:
        return np.full_like(t, lowest)
    whole = span + gap
    jacobi = Jacobi(span / whole, gap / whole)
    width = Jacobi(jacobi.m1, jacobi.m).K / math.sqrt(whole)
    half_period = jacobi.K / math.sqrt(whole)
    rest = jacobi.reduce(t * math.sqrt(whole))[1] / math.sqrt(whole)
    neighbours = math.ceil(0.5 + 6.5 * width / half_period)  # the next one is below e⁻⁴⁰
    solitons = np.zeros_like(t)
    for n in range(-neighbours, neighbours + 1):
        shift = 2 * n * half_period if n else 0.0
        solitons += _sech2(math.pi * (rest + shift) / (2 * width)) - _sech2(math.pi * shift / (2 * width))
    return lowest - (math.pi / (2 * width)) ** 2 * solitons


def _sech2(x: float | Array) -> float | Array:
    decay = np.exp(-2 * np.abs(x))
    return 4 * decay / (1 + decay) ** 2
