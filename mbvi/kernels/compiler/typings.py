"""Which signature a built-in function has for arguments of given types: found once, and remembered.

Numba tries all templates of the function anew at each call in a kernel, some twenty thousand times for a first run.
"""

from typing import Any

from numba.core import types

_find = types.BaseFunction.get_call_type
_found: dict[Any, tuple[Any, Any]] = {}


def _remembered(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """The signature of a call, which depends on the function and the types alone, unless numba compiles an overload for it."""
    key = id(self), context, tuple(args)
    if kws or key not in _found:
        signature = _find(self, context, args, kws)
        if kws or self._impl_keys[signature.args] != self.typing_key:
            return signature
        _found[key] = self, signature  # which keeps the function alive, so that its id remains its own
    return _found[key][1]


def remember_typings() -> None:
    """Let numba ask here first."""
    types.BaseFunction.get_call_type = _remembered
