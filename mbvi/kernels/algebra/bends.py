"""Bends of a motion: steps whose displacement differs much from that of the step before.

Units, with u the unit of a coordinate: q, before, longest [u]; bend, at_rest [1].
"""

import math

from mbvi.kernels.compiler.decorators import kernel


@kernel
def next_bend(q, before, first, steps, longest, bend, at_rest):
    """The first step from `first` on that is at a bend, or at the end of q: (k, |Δq_k|, longest |Δq| up to there).

    k = steps if there is none. Δq_k = q[k + 1] − q[k] is the displacement of step k. A displacement of at most at_rest
    · max(1, |q|) may be rounding, and is passed over.

    q         (rows, n)   states before the first step and after every step, and after one more step, if that is known
    before    (n,)        displacement of the step before the first; not a number where there is none
    longest   float       longest displacement of the steps before the first
    bend      float       see `is_bend`
    at_rest   float       relative size of a displacement that may be rounding
    """
    for k in range(first, steps):
        length = size = 0.0
        for a in range(q.shape[1]):
            length += (q[k + 1, a] - q[k, a]) ** 2
            size += q[k, a] ** 2
        length = math.sqrt(length)
        longest = max(longest, length)
        if length > at_rest * max(1.0, math.sqrt(size)):
            is_at_end = k + 2 == q.shape[0]
            if is_at_end or is_bend(q, before, k, bend) or is_bend(q, before, k + 1, bend):
                return k, length, longest
    return steps, 0.0, longest


@kernel
def is_bend(q, before, k, bend):
    """Whether |Δq_k − Δq_{k−1}| > bend (|Δq_k| + |Δq_{k−1}|).

    q         (rows, n)   states, of which row k is that before step k
    before    (n,)        Δq_{−1}
    """
    apart = length = last = 0.0
    for a in range(q.shape[1]):
        move, other = q[k + 1, a] - q[k, a], before[a]
        if k > 0:
            other = q[k, a] - q[k - 1, a]
        apart += (move - other) ** 2
        length += move**2
        last += other**2
    return math.sqrt(apart) > bend * (math.sqrt(length) + math.sqrt(last))
