"""A Monte Carlo of double pendulums on a cluster: how a bundle of nearly equal starts comes apart.

    python examples/monte_carlo.py [MEMBERS] [local | slurm]

By `local` the cluster is on this machine: a scheduler and two workers. By `slurm` the workers are jobs of the queue of a SLURM
cluster, of as many cores as are asked for below; this program runs where jobs can be submitted, and no worker needs a file of it.
Nothing but the statistics is kept, whatever the number of members.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mbvi
from mbvi.ensembles import sampling
from mbvi.pictures.bundles import plot_bundle

MODEL = Path(__file__).parents[1] / "models" / "double_pendulum.yaml"
STARTS = sampling.SamplingPlan(
    over={
        "q.shoulder.angle": sampling.Normal(mean="pi/2", deviation="1 deg"),
        "q.elbow.angle": sampling.Normal(mean=1.0, deviation="1 deg"),
        "mass": [0.5, 1.0],
    },
    method="random",
    seed=1,
)


def cluster(kind: str) -> Any:
    """A cluster of dask."""
    if kind == "local":
        from distributed import LocalCluster

        return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    from dask_jobqueue import SLURMCluster

    jobs = SLURMCluster(cores=32, processes=32, memory="64GB", walltime="01:00:00", queue="normal")
    jobs.adapt(minimum_jobs=1, maximum_jobs=10)  # as many as the queue gives
    return jobs


def main(members: int, client: Any = None, path: Path | None = None, **options: Any) -> Any:
    """The statistics of so many members, by the workers of a client, or by threads."""
    plan = STARTS.model_copy(update={"members": members // 2})
    options = {"duration": 4.0, "every": 4, "statistics": ("q", "energy")} | options
    return mbvi.ensemble(mbvi.load(MODEL), plan, executor=client, path=path, **options)


if __name__ == "__main__":
    from distributed import Client

    count, kind = int(sys.argv[1]) if sys.argv[1:] else 100_000, (sys.argv[2:] or ["local"])[0]
    with cluster(kind) as workers, Client(workers) as client:
        runs = main(
            count, client, Path("bundle.h5"), progress=lambda done, of: print(f"\r{done} of {of}", end=""), resume=True
        )
    spread = runs.q_covariance.isel(t=-1).values
    print(f"\nat the end the angles' deviations are {spread[0, 0] ** 0.5:.2g} and {spread[1, 1] ** 0.5:.2g} rad")
    plot_bundle(runs, "bundle.png", force=True)
    print("bundle.png drawn")
