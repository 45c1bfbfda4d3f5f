"""Tables of forces with jumps and corners: what order schemes have where steps end on them, and where they do not."""

import numpy as np
import pytest

import mbvi

TABLES = {
    "jump": ((0, 0, 0.5, 0.5, 1.2, 1.2, 2), (9, 1, 1, 5, 3, 0, 0), "linear", 1),
    "hold": ((0, 0.5, 1.2), (1, 5, -2), "hold", 1),
    "linear": ((0, 0.5, 1.2, 2), (0, 5, -2, 3), "linear", 2),
    "smooth": ((0, 0.5, 1.2, 1.6, 2), (0, 5, -2, 3, 1), "smooth", 3),
    "spline": ((0, 0.3, 0.5, 0.9, 1.2, 1.6, 2), (0, 3, 5, 2, 1, 3, 4), "spline", 4),
}
ON, INSIDE = (20, 40, 80), (17, 51, 153)  # steps, whose ends are the entries, and one of which holds each


def pendulum(name):
    times, values, interpolation, _ = TABLES[name]
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    force = mbvi.JointForce(joint="pivot", value=mbvi.Table(times=times, values=values, interpolation=interpolation))
    start = {"pivot": {"position": 0.5}}
    return mbvi.assemble(
        mbvi.Model(name=name, bodies={"bob": bob}, joints={"pivot": pivot}, forces={"f": force}, initial=start)
    )


def errors(name, scheme, counts):
    system = pendulum(name)
    ends = [mbvi.simulate(system, scheme, step=2 / count, duration=2) for count in counts]
    exact = mbvi.simulate(system, "gauss4", step=2 / 640, duration=2)
    return np.array([abs(run.q[-1] - exact.q[-1]).max() + abs(run.p[-1] - exact.p[-1]).max() for run in ends])


@pytest.mark.parametrize(
    "scheme", ["midpoint", "trapezoidal", "simpson", "lobatto4", "gauss3", "suzuki4", "rk4", "heun"]
)
@pytest.mark.parametrize("name", TABLES)
def test_order_is_kept_where_steps_end_on_the_entries(name, scheme):
    found = errors(name, scheme, ON)
    orders = np.log2(found[:-1] / found[1:])
    assert orders == pytest.approx(mbvi.SCHEMES[scheme].order, abs=0.3)


@pytest.mark.parametrize("scheme", ["simpson", "lobatto4", "gauss3"])
@pytest.mark.parametrize("name", TABLES)
def test_order_left_where_entries_are_within_steps(name, scheme):
    """One step in each run has an entry at about any place within it: only the size of the error follows the order."""
    found, left = errors(name, scheme, INSIDE), min(TABLES[name][3], mbvi.SCHEMES[scheme].order)
    order = np.log(found[0] / found[-1]) / np.log(INSIDE[-1] / INSIDE[0])
    assert order == pytest.approx(left, abs=0.7)


def test_pulse_of_steep_flanks_stays_between_its_values():
    """A cart of 1 kg, pushed with 5 N from 1 s to 2 s: at 3 s it has 5 m/s."""
    rail = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))
    pulse = mbvi.JointForce(joint="rail", value={"times": (0, 1, 1.001, 2, 2.001, 3), "values": (0, 0, 5, 5, 0, 0)})
    model = mbvi.Model(
        name="pulse",
        gravity=(0, 0, 0),
        bodies={"cart": mbvi.Body(mass=1)},
        joints={"rail": rail},
        forces={"motor": pulse},
    )
    for step, error in ((0.01, 1e-3), (0.0005, 1e-10)):  # over the flanks, and with two steps in each
        run = mbvi.simulate(model, step=step, duration=3)
        assert 0 <= run.v.min() <= run.v.max() <= 5 + 1e-12
        assert run.v[-1, 0] == pytest.approx(5, rel=1e-12)
        exact = 2.5 * ((3 - 1.0005) ** 2 - (3 - 2.0005) ** 2)  # as of a force that jumps in the middle of each flank
        assert run.q[-1, 0] == pytest.approx(exact, rel=error)
