"""Whether this is a version of numba whose inside is known: others compile more slowly, to the same results.

What reaches inside numba stands in `inside_numba`, `typings` and `whole_programs`, and in how `late` generates calls; with any
other version these are not used.
"""

import numba

KNOWN = "0.67.", "0.68."
IS_KNOWN = numba.__version__.startswith(KNOWN)
