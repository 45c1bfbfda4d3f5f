"""Plots of runs, and graphs of models."""

from mbvi.pictures.graphs import draw_graph

__all__ = ["draw_graph"]
