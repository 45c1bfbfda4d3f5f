"""A table of the equations of models: coordinates, constraints, and the potential in symbols.

The potential of the double pendulum, for example, shows both angles, the second of them relative to the first rod.
"""

from collections.abc import Sequence
from pathlib import Path

import mbvi
from mbvi.symbolic.lagrange import Equations

FOLDER = Path(__file__).parents[1] / "models"
NAMES = (
    *("pendulum", "double_pendulum", "spherical_pendulum", "lagrange_top", "gantry_crane", "spring_damper"),
    *("slider_crank", "four_bar", "gyroscope", "heavy_top_quaternion", "rattleback"),
)


def main(names: Sequence[str] = NAMES) -> dict[str, Equations]:
    """The equations of models, by the names of their files."""
    return {name: mbvi.symbolic.equations(mbvi.load(FOLDER / f"{name}.yaml")) for name in names}


if __name__ == "__main__":
    for name, found in main().items():
        constraints = f"{len(found.constraints)} constraints and {len(found.velocity_constraints)} on velocities"
        print(f"{name}: {len(found.q)} coordinates, {constraints}")
        print(f"    V = {found.potential}")
