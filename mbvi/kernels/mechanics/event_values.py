"""The function of an event along the steps of a run, where only their ends are known.

Between the ends of a step, q is taken from the cubic through q and v there, and v from its derivative:

    q(x) = q₀ + x² (3 − 2x) Δq + h x (1 − x) ((1 − x) v₀ − x v₁)
    v(x) = 6 x (1 − x) Δq/h + (1 − x) (1 − 3x) v₀ + x (3x − 2) v₁,      0 ≤ x ≤ 1

Units, with u the unit of a coordinate: values [unit of ψ]; places [1]; t, h [s]; q [u]; v [u/s].

Source: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, section II.6 (Hermite interpolation of steps).
"""

from numba import types

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.packed import Packed, call

EVENT = types.float64(types.float64, types.float64[::1], types.float64[::1])  # t, q, v; returns ψ


class EventFunction(Packed):
    """The compiled function ψ(t, q, v) of an event, as field `function`."""


@kernel
def fill_event_values(values, event, places, t, h, q, v, at_q, at_v):
    """ψ at several places of every step.

    values        (steps, m)       out
    event         EventFunction
    places        (m,)             parts x of a step
    t, h          (steps,)         where steps begin, and their sizes  [s]
    q, v          (steps + 1, n)   states at the ends of the steps
    at_q, at_v    (n,)             work
    """
    for k in range(values.shape[0]):
        for i in range(places.shape[0]):
            x = places[i]
            for a in range(q.shape[1]):
                move = q[k + 1, a] - q[k, a]
                at_q[a] = (
                    q[k, a]
                    + x * x * (3.0 - 2.0 * x) * move
                    + h[k] * x * (1.0 - x) * ((1.0 - x) * v[k, a] - x * v[k + 1, a])
                )
                at_v[a] = (
                    6.0 * x * (1.0 - x) * (move / h[k])
                    + (1.0 - x) * (1.0 - 3.0 * x) * v[k, a]
                    + x * (3.0 * x - 2.0) * v[k + 1, a]
                )
            values[k, i] = call(event.function, t[k] + x * h[k], (at_q, at_v))
