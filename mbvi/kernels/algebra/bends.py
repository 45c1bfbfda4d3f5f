"""Where a motion bends from one step to the next."""

import math

from mbvi.kernels.compiler.decorators import kernel


@kernel
def next_bend(q, before, first, steps, longest, bend, at_rest):
    """(k, |Δq_k|, the longest |Δq| until then) of the first step k ≥ first beside a bend, or at the end of q; k = steps if there
    is none.

    A step of at most at_rest max(1, |q|) may be rounding, and is passed over.

    q        (., n)   states before the first step and after all steps, and after the next, if that is known
    before   (n,)     Δq of the step before the first; not a number where there is none
    bend     float    see `is_bend`
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
    """Whether |Δq_k − Δq_{k−1}| > bend (|Δq_k| + |Δq_{k−1}|)."""
    apart = length = last = 0.0
    for a in range(q.shape[1]):
        move, other = q[k + 1, a] - q[k, a], before[a]
        if k > 0:
            other = q[k, a] - q[k - 1, a]
        apart += (move - other) ** 2
        length += move**2
        last += other**2
    return math.sqrt(apart) > bend * (math.sqrt(length) + math.sqrt(last))
