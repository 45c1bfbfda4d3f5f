"""What runs, schemes and systems are measured with: a module for each question, and from here what is asked most often."""

from mbvi.analysis.postures import inverse_kinematics
from mbvi.analysis.symmetry import find_invariants

__all__ = ["find_invariants", "inverse_kinematics"]
