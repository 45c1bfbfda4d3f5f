"""Equations of a model in symbols."""

from mbvi.symbolic.lagrange import Equations, equations

__all__ = ["Equations", "equations"]
