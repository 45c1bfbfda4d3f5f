"""A scheme as kernels take it."""

from __future__ import annotations

import numpy as np

from mbvi.kernels import layout
from mbvi.schemes.tableau import Tableau


def scheme_arrays(tableau: Tableau) -> layout.Scheme:
    """The arrays of a tableau."""
    return layout.Scheme(
        A=tableau.A,
        B=tableau.B,
        b=np.array(tableau.weights),
        c=np.array(tableau.nodes),
        d=np.array(tableau.control_points),
        K=tableau.K,
        K_inverse=np.linalg.inv(tableau.K),
        a=tableau.a,
        ahead=tableau.ahead,
        ahead_of_velocities=tableau.ahead_of_velocities,
        fractions=np.array(tableau.fractions),
        is_projected=tableau.is_projected,
    )
