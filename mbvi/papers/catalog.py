"""The papers whose tables and figures mbvi recomputes; each has the module of its name in mbvi.papers.

Nothing heavy is imported here, so that they are listed at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mbvi.errors import ModelError
from mbvi.model.expressions import nearest

if TYPE_CHECKING:
    from mbvi.papers.report import Report

LIBRARIES = ("matplotlib", "mpmath")


@dataclass(frozen=True)
class Paper:
    """A paper, and which of its tables and figures are recomputed."""

    title: str
    authors: str
    year: int
    journal: str
    experiments: str

    @property
    def source(self) -> str:
        """Authors, title, journal and year, by which the paper is found."""
        return f"{self.authors}: {self.title}. {self.journal}, {self.year}."


PAPERS = {
    "mechanical_integrators": Paper(
        "Mechanical systems with symmetry, variational principles, and integration algorithms",
        "Jerrold E. Marsden, Jeffrey M. Wendlandt",
        1997,
        "Current and Future Directions in Applied Mathematics, pages 219-261",
        "figures 1 to 5; energies and momenta in the text",
    ),
    "direct_midpoint": Paper(
        "A simple variational integrator for general holonomic mechanical systems",
        "Ulrich Mutze",
        2003,
        "Preprint",
        "figures 2 and 3; numbers of the text, theorem of section 5, appendix",
    ),
    "nonlinear_pendulum": Paper(
        "Simpson's quadrature for a nonlinear variational symplectic scheme",
        "François Dubois, Juan Antonio Rojas-Quintero",
        2023,
        "Finite Volumes for Complex Applications X, pages 83-92",
        "table 1; figures 1 and 2",
    ),
    "quadratic_lagrangians": Paper(
        "Simpson's variational integrator for systems with quadratic Lagrangians",
        "Juan Antonio Rojas-Quintero, François Dubois, José Guadalupe Cabrera-Díaz",
        2024,
        "Axioms 13, 255",
        "table 2; figures 2 to 8",
    ),
    "tops_and_double_pendulum": Paper(
        "Simpson variational integrator for nonlinear systems: a tutorial on the Lagrange top",
        "Juan Antonio Rojas-Quintero, François Dubois, Frédéric Jourdan",
        2025,
        "arXiv 2512.03330",
        "tables 2, 4 and 5; figures 2 to 5 and 7 to 14; 64 digits",
    ),
}


def listing() -> str:
    """All papers: name, title, authors and year, and what is recomputed."""
    width = max(map(len, PAPERS)) + 2
    entries = []
    for name, paper in PAPERS.items():
        lines = (paper.title, f"{paper.authors}, {paper.year}", paper.experiments)
        entries.append(
            "\n".join((label.ljust(width) + line for label, line in zip((name, "", ""), lines, strict=True)))
        )
    return "\n\n".join(entries)


def find_report(name: str, quick: bool = False) -> Report:
    """The report of a paper, whose experiments are still to be computed.

    Raises
    ------
    ModelError
        If there is no paper of this name, where the nearest is suggested, or matplotlib or mpmath is missing.
    """
    if name not in PAPERS:
        raise ModelError(f"papers: expected the name of a paper, found {name!r}; {nearest(name, PAPERS)}")
    for library in LIBRARIES:
        if find_spec(library) is None:
            raise ModelError(f"papers: expected {library}, found none; install it with: pip install 'mbvi[papers]'")
    report: Report = import_module(f"mbvi.papers.{name}").report(quick)
    return report
