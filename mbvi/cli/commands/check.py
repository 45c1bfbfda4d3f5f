"""`mbvi check`."""

from __future__ import annotations

import warnings

import mbvi
from mbvi.cli.options import Formulation, ModelPath, Search
from mbvi.cli.terminal import one_line_errors, say
from mbvi.errors import ModelWarning


def check(model: ModelPath, formulation: Formulation = None, search: Search = None) -> None:
    """Validate a model and describe it: its graph, coordinates, mobility, constants of motion, and what is odd."""
    with one_line_errors():
        from mbvi.cli.check_report import check_report, run_of
        from mbvi.run_arguments import check_driven, check_functions, chosen_scheme
        from mbvi.system.initial import find_start

        described = mbvi.load(model, search=search or [])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the report has them
            system = mbvi.assemble(described, formulation)
        chosen_scheme(system, None)
        step, _, steps = run_of(described.resolved())
        check_functions(system, step, steps)
        start = find_start(system)
        check_driven(system, start, 0.0, step)
        say(check_report(system, start))
