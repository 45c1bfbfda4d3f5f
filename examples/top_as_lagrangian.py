"""The same heavy top twice: as a model of bodies and joints, and as a Lagrangian in Euler angles written with SymPy.

L = 1/2 I (φ'² sin²θ + θ'²) + 1/2 I₃ (φ' cos θ + ψ')² − m g a cos θ, with the inertias I and I₃ about the point of contact and
the centre of mass at the height a along the axis. Both runs are the same to round-off, step by step.
"""

from pathlib import Path

import numpy as np
import sympy

import mbvi

MODEL = Path(__file__).parents[1] / "models" / "lagrange_top.yaml"


def lagrangian(model: mbvi.Model) -> mbvi.System:
    """The top of the model, by its Lagrangian."""
    phi, theta, psi = sympy.symbols("phi theta psi")
    m, g, a, across, axial = sympy.symbols("m g a I I3")
    sin, cos = sympy.sin(theta), sympy.cos(theta)
    mass_matrix = [
        [across * sin**2 + axial * cos**2, 0, axial * cos],
        [0, across, 0],
        [axial * cos, 0, axial],
    ]
    values = model.resolved().parameters
    system = mbvi.assemble(model)
    return mbvi.from_sympy(
        [phi, theta, psi],
        mass_matrix,
        potential=m * g * a * cos,
        parameters={
            m: values["mass"],
            a: values["height"],
            across: values["inertia"],
            axial: values["axial_inertia"],
            g: 9.81,
        },
        initial_q=system.initial_q,
        initial_v=system.initial_v,
        name="top in Euler angles",
    )


def main(duration: float = 5.0) -> tuple[mbvi.Trajectory, mbvi.Trajectory]:
    """The trajectory of the model and that of the Lagrangian."""
    model = mbvi.load(MODEL)
    keys = {"scheme": "simpson", "step": 0.01, "duration": duration}
    return mbvi.simulate(model, **keys), mbvi.simulate(lagrangian(model), **keys)


if __name__ == "__main__":
    from_model, from_lagrangian = main()
    theta = np.degrees(from_model.q[:, 1])
    print(f"nutation between {theta.min():.2f} and {theta.max():.2f} degrees")
    print(f"largest difference of the angles: {np.abs(from_model.q - from_lagrangian.q).max():.1e} rad")
    for name, values in from_model.momenta().items():
        print(f"{name} = {values[0]:.6g} kg m²/s, drift {np.ptp(values):.1e}")
