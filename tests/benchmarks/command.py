"""Measure mbvi beside its peers: `python -m tests.benchmarks [--json FILE] [NAME …]`, and `--docs FILE` for the page of it.

Every figure is taken in one run, interleaved with its peer's, as the median of several repeats; a ratio is what counts, since
machines differ and are noisy. A peer that is not installed is reported as missing. Nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tests.benchmarks import costs, document, ensembles, nonsmooth, overheads, precision, robots, runs, stepping
from tests.benchmarks.measure import environment

BENCHMARKS = {
    "targets": costs.targets,
    "stepping": stepping.stepping,
    "chains": costs.chains,
    "spatial": costs.spatial,
    "embedding": costs.embedding,
    "loops": costs.loops,
    "evaluations": costs.evaluations,
    "robots": robots.robots,
    "precision": precision.work_precision,
    "long_precision": precision.long_precision,
    "nonsmooth": nonsmooth.nonsmooth,
    "drifts": runs.drifts,
    "long_runs": runs.long_runs,
    "constrained_runs": runs.constrained_runs,
    "ensembles": ensembles.ensembles,
    "parameters": ensembles.parameters,
    "overheads": overheads.overheads,
    "cores": overheads.cores,
    "start_up": runs.start_up,
    "very_long_runs": runs.very_long_runs,
}
ONLY_BY_NAME = ("very_long_runs",)


def main() -> None:
    """Run the named benchmarks, or all but those that take very long; add them to what a file of figures has."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    names = ", ".join(BENCHMARKS)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one of {names}; all but {ONLY_BY_NAME[0]} if none is given"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="keep figures in this file; those of other names stay in it"
    )
    parser.add_argument(
        "--problems", metavar="LIST", default="", help="of precision only these, such as 'top,four-bar'"
    )
    parser.add_argument(
        "--docs", type=Path, metavar="FILE", help="write tables and plots of docs from a file, and measure nothing"
    )
    options = parser.parse_args()
    if options.docs:
        document.write(json.loads(options.docs.read_text()))
        return
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"expected one of {names}, found {name}")
    results: dict = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    results["environment"] = environment()
    print(", ".join(f"{key} {value}" for key, value in results["environment"].items()))
    for name in options.names or [name for name in BENCHMARKS if name not in ONLY_BY_NAME]:
        print(f"\n{BENCHMARKS[name].__doc__}")
        if name == "precision":
            chosen = [each.strip() for each in options.problems.split(",") if each.strip()]
            measured = precision.work_precision(chosen)
            kept = [
                each for each in results.get(name, []) if each["problem"] not in [new["problem"] for new in measured]
            ]
            results[name] = [*kept, *measured]
            document.show(precision.ratios(measured))
        else:
            results[name] = BENCHMARKS[name]()
            document.show(results[name])
        if options.json:
            options.json.write_text(json.dumps(document.shortened(results)) + "\n")
