"""Make the meshes of arm.urdf, and the inertias that stand in it: those of solids of one density.

python models/robot_arm/make.py
"""

from pathlib import Path

import numpy as np
import trimesh
from trimesh import creation

MESHES = Path(__file__).parent / "meshes"
DENSITY = 1200.0  # kg/m³, of hollow aluminium


def moved(mesh, x=0.0, y=0.0, z=0.0, turned=None):
    """A mesh turned about x or y by 90 degrees, and moved."""
    if turned is not None:
        mesh.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, turned))
    return mesh.apply_translation((x, y, z))


def drum(radius, height, **place):
    """A cylinder."""
    return moved(creation.cylinder(radius, height, sections=40), **place)


def beam(length, width):
    """A bar with round ends from the origin along z, with a drum across each end."""
    bar = creation.box((width, 0.8 * width, length))
    return [moved(bar, z=length / 2), *(drum(0.9 * width, 1.3 * width, z=z, turned=(1, 0, 0)) for z in (0.0, length))]


PARTS = {
    "base": [drum(0.09, 0.03, z=0.015), drum(0.06, 0.09, z=0.075)],
    "shoulder": [
        drum(0.058, 0.05, z=0.025),
        moved(creation.box((0.09, 0.03, 0.09)), y=0.05, z=0.05),
        moved(creation.box((0.09, 0.03, 0.09)), y=-0.05, z=0.05),
    ],
    "upper_arm": beam(0.28, 0.05),
    "forearm": beam(0.24, 0.04),
    "wrist": [drum(0.026, 0.05, z=0.045), drum(0.032, 0.02, z=0.08)],
    "palm": [moved(creation.box((0.05, 0.12, 0.02)), z=0.01)],
    "finger": [moved(creation.box((0.02, 0.012, 0.06)), z=0.03)],
}

if __name__ == "__main__":
    for name, parts in PARTS.items():
        mesh = trimesh.util.concatenate(parts)
        mesh.export(MESHES / f"{name}.stl")
        mass = DENSITY * sum(part.volume for part in parts)
        center = sum(DENSITY * part.volume * part.center_mass for part in parts) / mass
        inertia = np.zeros((3, 3))
        for part in parts:
            arm = part.center_mass - center
            inertia += DENSITY * (part.moment_inertia + part.volume * (arm @ arm * np.eye(3) - np.outer(arm, arm)))
        print(name, round(mass, 4), center.round(5), inertia[np.triu_indices(3)].round(8))
