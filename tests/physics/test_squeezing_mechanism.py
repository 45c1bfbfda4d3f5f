"""Andrews' squeezing mechanism: seven bodies in three loops, a motor and a spring, beside the solution that others published.

Sources: Schiehlen (ed.), Multibody Systems Handbook (1990); Hairer & Wanner, Solving Ordinary Differential Equations II (1996),
section VII.7; Mazzia & Magherini, Test Set for Initial Value Problem Solvers (2008): data, start, and angles after 0.03 s.
"""

import numpy as np
import pytest

import mbvi

MODEL = """
name: Andrews' squeezing mechanism
gravity: [0, 0, 0]
bodies: # moments about axes in the plane, which nothing turns about, are made up
  K1: {mass: 0.04325, center_of_mass: [92e-5, 0, 0], inertia: [2e-6, 2e-6, 2.194e-6]}
  K2: {mass: 0.00365, center_of_mass: [-115e-4, 0, 0], inertia: [3e-7, 3e-7, 4.410e-7]}
  K3: {mass: 0.02373, center_of_mass: [1874e-5, 1043e-5, 0], inertia: [3e-6, 3e-6, 5.255e-6]}
  K4: {mass: 0.00706, center_of_mass: [0, -579e-5, 0], inertia: [3e-7, 3e-7, 5.667e-7]}
  K5: {mass: 0.07050, center_of_mass: [2308e-5, 916e-5, 0], inertia: [6e-6, 6e-6, 1.169e-5]}
  K6: {mass: 0.00706, center_of_mass: [579e-5, 0, 0], inertia: [3e-7, 3e-7, 5.667e-7]}
  K7: {mass: 0.05498, center_of_mass: [1228e-5, 449e-5, 0], inertia: [1e-5, 1e-5, 1.912e-5]}
joints:
  beta: {type: revolute, parent: world, child: K1, axis: [0, 0, 1]}
  theta: {type: revolute, parent: K1, child: K2, axis: [0, 0, 1], position: [0.007, 0, 0]}
  gamma: {type: revolute, parent: world, child: K3, axis: [0, 0, 1], position: [-0.03635, 0.03273, 0]}
  delta: {type: revolute, parent: world, child: K5, axis: [0, 0, 1], position: [-0.06934, -0.00227, 0]}
  phi: {type: revolute, parent: K5, child: K4, axis: [0, 0, 1], position: [0.04, 0, 0]}
  epsilon: {type: revolute, parent: world, child: K7, axis: [0, 0, 1], position: [-0.06934, -0.00227, 0]}
  omega: {type: revolute, parent: K7, child: K6, axis: [0, 0, 1], position: [0, -0.04, 0]}
  tip of K3: {type: revolute, parent: K2, child: K3, axis: [0, 0, 1], position: [-0.028, 0, 0], offset: [0, -0.035, 0]}
  tip of K4: {type: revolute, parent: K2, child: K4, axis: [0, 0, 1], position: [-0.028, 0, 0], offset: [0, -0.02, 0]}
  tip of K6: {type: revolute, parent: K2, child: K6, axis: [0, 0, 1], position: [-0.028, 0, 0], offset: [0.02, 0, 0]}
forces:
  motor: {type: joint_force, joint: beta, value: 0.033}
  spring:
    {type: spring, body_a: world, point_a: [0.014, 0.072, 0], body_b: K3, point_b: [0.02, -0.018, 0], stiffness: 4530,
     rest_length: 0.07785}
initial:
  beta: {position: -0.0617138900142764496358948458001, hold: true}
  gamma: {position: 0.455279819163070380255912382449}
  phi: {position: 0.222668390165885884674473185609}
  delta: {position: 0.487364979543842550225598953530}
  omega: {position: -0.222668390165885884674473185609}
  epsilon: {position: 1.23054744454982119249735015568}
"""
END = {
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}
TURNED_WITH = {  # whose angles add up to that of a body
    "K1": ("beta",),
    "K2": ("beta", "theta"),
    "K3": ("gamma",),
    "K4": ("delta", "phi"),
    "K5": ("delta",),
    "K6": ("epsilon", "omega"),
    "K7": ("epsilon",),
}


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_published_angles(formulation):
    model = mbvi.from_yaml(MODEL)
    run = mbvi.simulate(model, "gauss3", step=1e-4, duration=0.03, formulation=formulation, every=300)
    for body, joints in TURNED_WITH.items():
        angle = sum(END[name] for name in joints)
        x_axis = run.pose(body)[1][-1][:, 0]
        assert np.abs(x_axis - (np.cos(angle), np.sin(angle), 0)).max() < 5e-9
