"""Torques of a delta robot whose platform runs along a circle, by inverse kinematics and inverse dynamics of its loops.

Three arms turn on the base; two rods of each hold the platform, so that it moves without turning. Nothing else is driven: the
motors of the arms carry all. The last column is the power of the motors, whose integral over a turn is zero.
"""

import numpy as np

import mbvi

RADIUS, UPPER, ROD, PLATFORM, WIDTH = 0.2, 0.25, 0.6, 0.06, 0.04
"""Of the base, length of an upper arm and of its rods, radius of the platform, and half the distance of two rods [m]."""
PATH, TURN = 0.12, 1.0  # radius of the circle [m], and time of a turn [s]
HEIGHT = -0.6


def model() -> mbvi.Model:
    """The robot: three arms, a platform, and six rods that are distances."""
    bodies, joints, rods = {"platform": mbvi.Body(mass=0.5, inertia=(1e-3, 1e-3, 1e-3))}, {}, {}
    joints["flight"] = mbvi.Free(parent="world", child="platform")
    for i in range(3):
        angle = 2 * np.pi * i / 3
        out, along = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
        inertia = 0.4 * UPPER**2 / 12 * (np.eye(3) - np.outer(out, out))
        bodies[f"arm{i}"] = mbvi.Body(mass=0.4, center_of_mass=0.5 * UPPER * out, inertia=inertia.tolist())
        joints[f"motor{i}"] = mbvi.Revolute(parent="world", child=f"arm{i}", axis=along, position=RADIUS * out)
        for side in (-1, 1):
            ends = {"point_a": UPPER * out + side * WIDTH * along, "point_b": PLATFORM * out + side * WIDTH * along}
            rods[f"rod{i}{'ab'[side > 0]}"] = mbvi.Distance(body_a=f"arm{i}", body_b="platform", length=ROD, **ends)
    initial = {"flight": mbvi.Initial(position=(0, 0, HEIGHT, 1, 0, 0, 0))}
    initial |= {f"motor{i}": mbvi.Initial(position=0.3) for i in range(3)}
    parts = {"bodies": bodies, "joints": joints, "constraints": rods, "initial": initial}
    return mbvi.Model(name="delta robot", gravity=(0, 0, -9.81), **parts)


def path(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Place of the platform, and its velocity."""
    rate = 2 * np.pi / TURN
    c, s = np.cos(rate * t), np.sin(rate * t)
    return np.array([PATH * c, PATH * s, HEIGHT]), rate * PATH * np.array([-s, c, 0])


def velocity(system: mbvi.System, q: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """The velocity (nv,) that moves the platform so, without turning it, and keeps the rods' lengths."""
    G = system.constraint_jacobian(q) @ system.rates_of_velocity(q, np.eye(system.nv)).T
    J = system.frame_jacobian("platform", q)
    return np.linalg.lstsq(np.vstack([J, G]), np.concatenate([speed, np.zeros(3 + len(G))]), rcond=1e-9)[0]


def main(points: int = 25) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (points,), torques of the motors (points, 3) [N m], and their power (points,) [W], over a turn."""
    system, h = mbvi.assemble(model()), 1e-4
    motors = [system.velocity_names.index(f"motor{i}.angle") for i in range(3)]
    times, q = np.linspace(0, TURN, points), system.initial_q
    torques, powers = [], []

    def motion(t: float) -> tuple[np.ndarray, np.ndarray]:
        place, speed = path(t)
        at = system.inverse_kinematics({"platform": {"place": place, "rotation": (0, 0, 0)}}, q).q
        return at, velocity(system, at, speed)

    for t in times:
        q, v = motion(t)
        before, after = motion(t - h)[1], motion(t + h)[1]
        q, v, a = system.project_state(q, v, (after - before) / (2 * h))  # of differences, which are off by about h²
        forces = system.inverse_dynamics(q, v, a, actuated=[f"motor{i}" for i in range(3)])
        torques.append(forces[motors])
        powers.append(forces @ v)
    return times, np.array(torques), np.array(powers)


if __name__ == "__main__":
    print("  t [s]", *(f"motor{i} [N m]" for i in range(3)), " power [W]")
    for t, torque, power in zip(*main(), strict=True):
        print(f"{t:7.3f}", *(f"{each:12.4f}" for each in torque), f"{power:10.4f}")
