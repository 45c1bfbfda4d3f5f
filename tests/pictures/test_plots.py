"""Curves of a trajectory: that they are its numbers, that nothing is lost of long runs, sections, and what is refused."""

import io
import math
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.pictures import style
from mbvi.pictures.plots import crossings, envelope
from mbvi.results.summary import energy_error
from tests.folders import load


@pytest.fixture(scope="module")
def pendulum(models):
    return mbvi.simulate(mbvi.load(models / "double_pendulum.yaml"), duration=2)


@pytest.fixture(scope="module")
def linkage(models):
    return mbvi.simulate(mbvi.load(models / "four_bar.yaml"), duration=0.2)


def oscillators(duration=20.0):
    """Two oscillators that do not know of each other, x = cos t and y = sin(2 t) / 2, of mass 1 and 2."""
    x, y = sympy.symbols("x y")
    potential = x**2 / 2 + 4 * y**2
    system = mbvi.from_sympy([x, y], [[1, 0], [0, 2]], potential, initial_q=[1, 0], initial_v=[0, 1])
    return mbvi.simulate(system, "gauss6", step=0.05, duration=duration)


def rotor(rate, value=0.0, step=0.1):
    """A wheel about its axis, which turns evenly: at its start, at `value`."""
    wheel = mbvi.Body(mass=1, inertia=(1, 1, 1))
    axle = mbvi.Revolute(parent="world", child="wheel", axis=(0, 0, 1))
    start = {"axle": mbvi.Initial(position=value, velocity=rate)}
    model = mbvi.Model(name="rotor", bodies={"wheel": wheel}, joints={"axle": axle}, initial=start)
    return mbvi.simulate(model, "midpoint", step=step, duration=10)


def zero(axes):
    """What a band says that stands for curves."""
    return "".join(text.get_text() for text in axes.texts if text.get_text().startswith("zero"))


def drawn(axes):
    return {line.get_label(): line.get_xydata() for line in axes.lines}


def test_long_labels_do_not_reach_into_those_of_other_panels():
    """They have several lines, and the unit is in one of them."""
    frames = {"point of the pencil": {"position": (1, 0, 0)}}
    bodies = {"wheel": mbvi.Body(mass=1, inertia=(1, 1, 1), frames=frames)}
    axle = mbvi.Revolute(parent="world", child="wheel", axis=(0, 0, 1))
    start = {"axle": mbvi.Initial(velocity=1.0)}
    run = mbvi.simulate(
        mbvi.Model(name="rotor", bodies=bodies, joints={"axle": axle}, initial=start), step=0.1, duration=1
    )
    figure = run.plot("places", "speeds", "accelerations", names=["wheel.point of the pencil"])
    figure.draw_without_rendering()
    boxes = [axes.yaxis.label.get_window_extent() for axes in figure.axes]
    assert not [box for i, box in enumerate(boxes) if box.count_overlaps(boxes[:i])]
    assert figure.axes[-1].get_ylabel() == "angular acceleration of\nwheel.point of the pencil\n[rad/s²]"


# --------------------------------------------------------------------------------------------- numbers


def test_curves_are_the_coordinates_velocities_and_momenta(pendulum):
    figure = pendulum.plot("coordinates", "velocities", "momenta")
    for axes, values in zip(figure.axes, (pendulum.q, pendulum.v, pendulum.p), strict=True):
        found = drawn(axes)
        for i, name in enumerate(("shoulder", "elbow")):
            np.testing.assert_array_equal(found[name], np.column_stack([pendulum.t, values[:, i]]))
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["angle [rad]", "rate of angle [rad/s]", "momentum of angle [kg m²/s]"]


def test_curves_are_the_energies_and_their_error(pendulum):
    energy, error, phase = pendulum.plot("energy", "energy_error", "phase", names=["elbow"]).axes
    for label, values in (
        ("kinetic", pendulum.kinetic_energy()),
        ("potential", pendulum.potential_energy()),
        ("total", pendulum.energy()),
    ):
        np.testing.assert_array_equal(drawn(energy)[label][:, 1], values)
    np.testing.assert_array_equal(error.lines[0].get_ydata(), energy_error(pendulum))
    np.testing.assert_array_equal(phase.lines[0].get_xydata(), np.column_stack([pendulum.q[:, 1], pendulum.p[:, 1]]))


def test_curves_are_the_constraints_multipliers_and_reactions(linkage):
    residual, points, turns = linkage.plot("constraints", "multipliers").axes
    force, torque = linkage.plot("reactions", names=["rocker pin"]).axes
    assert zero(residual) == f"zero, but for rounding of at most {linkage.constraint_residual().max():.0e}"
    assert points.get_ylabel() == "multiplier of rocker pin [N]"
    assert turns.get_ylabel().startswith("multiplier of rocker pin [") and turns.get_ylabel().endswith("N m]")
    names = [name.removeprefix("rocker pin.") for name in linkage.system.constraint_names]
    curves = [(points, dict(zip(names[:3], linkage.multipliers.T[:3], strict=True)))]
    curves += [(turns, dict(zip(names[3:], linkage.multipliers.T[3:], strict=True)))]
    wrench = linkage.reaction("rocker pin")
    curves += [
        (axes, dict(zip("xyz", each.T, strict=True))) for axes, each in zip((force, torque), wrench, strict=True)
    ]
    for axes, expected in curves:
        assert set(drawn(axes)) >= set(expected)
        if zero(axes):
            assert max(np.abs(values).max() for values in expected.values()) < 1e-10
        else:
            for name, values in expected.items():
                np.testing.assert_array_equal(drawn(axes)[name][:, 1], values)
    assert not zero(points) and not zero(force)


def test_what_drives_and_a_rate_that_hardly_changes():
    """The force that it takes is in newtons, and numbers along an axis are whole, without an offset beside it."""
    cart = mbvi.Body(mass=2)
    rail = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))
    drive = mbvi.PrescribedCoordinate(joint="rail", value="300*t + 1e-4*sin(t)")
    model = mbvi.Model(name="a", bodies={"cart": cart}, joints={"rail": rail}, constraints={"drive": drive})
    force, rate = mbvi.simulate(model, step=0.01, duration=1).plot("multipliers", "velocities").axes
    assert force.get_ylabel() == "multiplier of drive [10⁻⁴ N]"
    rate.figure.canvas.draw()
    assert rate.yaxis.get_offset_text().get_text() == ""


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_reactions_of_several_joints_are_magnitudes(formulation, models):
    run = mbvi.simulate(mbvi.load(models / "four_bar.yaml"), duration=0.1, formulation=formulation)
    force, _ = run.plot("reactions").axes
    assert set(drawn(force)) == {"shaft", "crank pin", "support", "rocker pin"}
    expected = np.linalg.norm(run.reaction("shaft")[0], axis=1)
    np.testing.assert_array_equal(drawn(force)["shaft"][:, 1], expected)


def test_forces_of_several_elements_are_components_or_magnitudes_in_bars(models):
    run = mbvi.simulate(mbvi.load(models / "gantry_crane.yaml"), duration=0.1)
    force, _ = run.plot("forces").axes
    drawn_forces, elements = drawn(force), run.forces()
    assert "|rail|" in drawn_forces and "rail" not in drawn_forces
    of = [i for i, unit in enumerate(elements["rail"].units) if unit == "N"]
    expected = np.linalg.norm(elements["rail"].values[:, of], axis=1)
    np.testing.assert_array_equal(drawn_forces["|rail|"][:, 1], expected)


def test_drift_of_momenta(models):
    """Of a scheme that does not conserve them."""
    run = mbvi.simulate(mbvi.load(models / "lagrange_top.yaml"), "direct_midpoint", duration=1)
    (axes,) = run.plot("invariants").axes
    momenta = run.momenta()
    assert len(axes.lines) == 2
    for name, line in drawn(axes).items():
        np.testing.assert_array_equal(line[:, 1], momenta[name] - momenta[name][0])


def test_what_is_rounding_is_a_band_that_says_zero(pendulum, models):
    """Torques of hinges about their axes in a plane, residuals, drifts: no curves of 1e-15, and no axis stretched by them."""
    force, torque = pendulum.plot("reactions").axes
    assert np.ptp(drawn(force)["elbow"][:, 1]) > 1 and zero(force) == ""
    top = mbvi.simulate(mbvi.load(models / "free_rigid_body.yaml"), duration=1)
    residual, drift = top.plot("constraints", "invariants").axes
    for axes in (torque, residual, drift):
        assert zero(axes).startswith("zero, but for rounding of at most ")
        assert axes.get_yticks().tolist() == [0.0] and not any(len(each) > 2 for each in drawn(axes).values())


def test_a_run_in_which_nothing_moves(models):
    """Coordinates, rates and phase portraits are points and lines in axes of a sensible width."""
    model = mbvi.load(models / "double_pendulum.yaml")
    still = model.model_copy(update={"initial": {}})
    rest = mbvi.simulate(still, duration=1)
    for axes in rest.plot("coordinates", "velocities", "momenta", "energy_error").axes:
        assert zero(axes)
    for axes in rest.plot("phase").axes:
        assert min(np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())) > 0.1 and axes.lines[0].get_marker() == "o"
    energies = rest.plot("energy").axes[0]
    assert zero(energies) == "" and np.ptp(energies.get_ylim()) > 1
    for formulation in ("tree", "embedding"):
        rest = mbvi.simulate(mbvi.assemble(still, formulation), duration=0.5)
        rest.plot().savefig(io.BytesIO(), format="png")
        rest.plot("reactions", "phase").savefig(io.BytesIO(), format="png")
    tilted = mbvi.simulate(mbvi.load(models / "free_rigid_body.yaml"), initial_v=[0, 0, 0, 0], duration=0.5)
    assert min(np.ptp(axes.get_ylim()) for axes in tilted.plot("coordinates").axes) > 1e-3


def test_what_is_small_but_no_rounding_is_a_curve(models):
    model = mbvi.load(models / "pendulum.yaml")
    small = mbvi.simulate(model, initial_q=[1e-8], initial_v=[0], duration=3)
    for axes in small.plot("coordinates", "velocities", "momenta").axes:
        assert zero(axes) == "" and np.ptp(axes.lines[0].get_ydata()) > 1e-8


def test_coordinates_of_unlike_range_have_panels_of_their_own(models):
    run = mbvi.simulate(mbvi.load(models / "lagrange_top.yaml"), duration=5)
    assert [axes.get_ylabel() for axes in run.plot("coordinates").axes] == [
        "contact.phi [rad]",
        "contact.theta [rad]",
        "contact.psi [rad]",
    ]


def test_many_coordinates_are_grouped_by_name_and_thinned_evenly():
    run = mbvi.simulate(load("rope_1000"), duration=0.002)
    figure = run.plot("coordinates")
    found = [axes.get_ylabel().split(" ")[0] for axes in figure.axes]
    assert found == ["x", "y", "z", "qw", "qx", "qy", "qz"]
    labels = list(drawn(figure.axes[2]))
    assert (len(labels), labels[0], labels[-1]) == (60, "b1", "b1000")
    assert figure.axes[2].get_title(loc="right") == "60 of 1000 curves"


@pytest.mark.parametrize("name", ["pendulum", "lagrange_top", "bricard", "stewart_platform"])
def test_overviews_hold_together(name, models):
    """Every text is on the page, and no legend covers curves; energies are always there."""
    figure = mbvi.simulate(mbvi.load(models / f"{name}.yaml"), duration=1).plot()
    figure.savefig(io.BytesIO(), format="png")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert "energy [J]" in labels
    assert any("largest constraint" in label for label in labels) == (name in ("bricard", "stewart_platform"))
    page = figure.bbox
    for axes in figure.axes:
        box = axes.get_tightbbox()
        assert box.x0 >= page.x0 and box.x1 <= page.x1 and box.y0 >= page.y0 and box.y1 <= page.y1
        for text in axes.get_legend().get_texts() if axes.get_legend() else ():
            assert text.get_window_extent().y0 >= axes.bbox.y1


# ------------------------------------------------------------------------------------------- long runs


def test_envelope_keeps_the_ends_and_extremes_of_every_bin():
    y = np.random.default_rng(1).standard_normal(10_007)
    kept = envelope(y, 500)
    assert len(kept) <= 4 * 501
    for start in range(0, len(y), len(y) // 500):
        part = range(start, min(start + len(y) // 500, len(y)))
        inside = y[kept[(kept >= part.start) & (kept < part.stop)]]
        values = y[part.start : part.stop]
        assert (inside[0], inside[-1], inside.min(), inside.max()) == (
            values[0],
            values[-1],
            values.min(),
            values.max(),
        )


def test_envelope_of_values_that_are_no_numbers():
    y = np.random.default_rng(2).standard_normal(1000)
    y[3], y[500:600] = np.nan, np.nan
    kept = envelope(y, 20)
    assert np.nanmax(y[kept]) == np.nanmax(y) and np.nanmin(y[kept]) == np.nanmin(y)


def test_a_long_run_is_drawn_by_its_envelope():
    run = rotor(0.5, step=0.0001)
    spike = run.q.copy()
    spike[54_321] += 100.0
    (line,) = replace(run, q=spike).plot("coordinates").axes[0].lines
    assert len(line.get_xdata()) < 12_000
    assert line.get_ydata().max() == spike.max()
    cloud = replace(run, q=spike).plot("phase").axes[0].lines[0]
    assert cloud.get_xdata().max() == spike.max()


def test_long_names_and_notes_have_room():
    """Of two conserved momenta with long names, both zero at every state, which is said below the legend."""
    names = {
        "a part of the machine with a name that is very long": "world",
        "another part of the machine with a name that is very long": "world",
    }
    bodies = {name: mbvi.Body(mass=1, inertia=(1, 2, 3)) for name in names}
    joints = {
        f"axle of {name}": mbvi.Revolute(parent=parent, child=name, axis=(0, 0, 1)) for name, parent in names.items()
    }
    model = mbvi.Model(name="two", gravity=(0, 0, 0), bodies=bodies, joints=joints)
    figure = mbvi.plot(mbvi.simulate(model, step=0.1, duration=0.5), "invariants", "energy")
    figure.canvas.draw()
    axes = next(each for each in figure.axes if zero(each) == "zero at every state")
    legend = axes.get_legend().get_window_extent()
    (note,) = axes.texts
    assert not legend.overlaps(note.get_window_extent())
    assert legend.width < 1.1 * axes.get_window_extent().width


@pytest.mark.parametrize("scheme", ["midpoint", "rk4"])
def test_a_note_has_room_above_the_names_of_curves(scheme):
    """Of the momenta of a free body, which are zero, but for rounding, with midpoint, and which rk4 does not keep."""
    model = mbvi.Model(
        name="thrown",
        gravity=(0, 0, 0),
        bodies={"stone": mbvi.Body(mass=1, inertia=(1, 2, 2.5))},
        joints={"flight": mbvi.Free(parent="world", child="stone", coordinates="zyx")},
        initial={"flight": {"velocity": [1, 2, 3, 0.4, 0.5, 0.6]}},
    )
    run = mbvi.simulate(model, scheme, step=0.1, duration=1.0)
    figure = mbvi.plot(run, "invariants", "energy")
    figure.canvas.draw()
    said = f"the 4 largest of {len(run.momenta())}"
    (axes,) = [each for each in figure.axes if each.get_title(loc="right") == said]
    assert bool(zero(axes)) == (scheme == "midpoint")
    (note,) = axes.findobj(lambda part: getattr(part, "get_text", str)() == said)
    assert note.get_window_extent().y0 > axes.get_legend().get_window_extent().y1


# -------------------------------------------------------------------------------------------- sections


def test_crossings_of_an_angle_in_any_turn():
    found = crossings(rotor(2.0, 0.3), 0, 1.0)
    expected = (1.0 - 0.3 + 2 * math.pi * np.arange(4)) / 2.0
    np.testing.assert_allclose(found, expected[expected <= 10], rtol=0, atol=1e-12)
    assert not len(crossings(rotor(-2.0, 0.3), 0, 1.0))


def test_section_of_two_oscillators():
    run = oscillators()
    (axes,) = run.plot(section="x = 0").axes
    times = 1.5 * math.pi + 2 * math.pi * np.arange(3)  # where cos t rises through zero
    np.testing.assert_allclose(crossings(run, 0, 0.0), times, rtol=0, atol=1e-6)  # of a spline over steps of 0.05
    expected = np.column_stack([np.sin(2 * times) / 2, 2 * np.cos(2 * times)])
    np.testing.assert_allclose(axes.lines[0].get_xydata(), expected, rtol=0, atol=1e-4)
    assert axes.get_title(loc="right") == "3 points at x = 0, rising"
    assert axes.lines[0].get_markersize() == 4.0  # so that three points are seen


def test_a_section_takes_expressions_and_units(pendulum):
    (axes,) = pendulum.plot(section="elbow.angle = 6 deg").axes
    assert axes.get_xlabel() == "shoulder.angle [rad]"
    assert axes.get_title(loc="right").endswith("elbow.angle = 0.1047, rising")


# ---------------------------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("what", "keys", "message"),
    [
        (["enery"], {}, "what: expected a quantity, found 'enery'; did you mean 'energy'?"),
        (
            ["phase"],
            {"names": ["elbo"]},
            "names: expected names of what is drawn, found 'elbo'; known: shoulder.angle, elb",
        ),
        (
            ["coordinates"],
            {"names": 3},
            "names: expected a list of names, found 3",
        ),
        (
            ["phase"],
            {"names": [3]},
            "names: expected a list of names, found [3]",
        ),
        (
            ["coordinates"],
            {"names": []},
            "names: expected one or more names of what is drawn, found none; leave it out",
        ),
        (
            ["energy"],
            {"names": ["elbow"]},
            "names: expected quantities that coordinates or joints have, found energy; leave",
        ),
        (["section"], {}, "section: expected a coordinate and its value, found nothing; write for example"),
        ([], {"section": "elbow.angle"}, "section: expected a coordinate and its value, found 'elbow.angle'; write"),
        (
            [],
            {"section": "elbow.angel=0"},
            "section: expected a coordinate, found 'elbow.angel'; did you mean 'elbow.angle'?",
        ),
        ([], {"section": "elbow.angle=1/0"}, "section: expected a finite number, found a division by zero in '1/0'"),
        (
            [],
            {"section": "elbow.angle=3"},
            "section: expected a value through which elbow.angle rises, found 3; it is from -0.",
        ),
        (
            [],
            {"section": "elbow.angle=0", "names": ["elbow"]},
            "section: expected coordinates other than elbow.angle, found",
        ),
        (
            ["constraints"],
            {},
            "what: expected a quantity that the run has, found 'constraints'; the system has no constr",
        ),
        (
            ["invariants"],
            {},
            "what: expected a quantity that the run has, found 'invariants'; no linear symmetry of the",
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_line(what, keys, message, pendulum):
    with pytest.raises(mbvi.ModelError) as error:
        pendulum.plot(*what, **keys)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_states_that_are_no_numbers_are_refused(pendulum):
    q = pendulum.q.copy()
    q[7, 1] = np.nan
    with pytest.raises(mbvi.ModelError, match=r"found nan for elbow.angle at t = 0.07 s"):
        replace(pendulum, q=q).plot()
    with pytest.raises(mbvi.ModelError, match="expected at least two states, found 1"):
        replace(pendulum, t=pendulum.t[:1], q=q[:1], p=q[:1]).plot()


def test_velocities_that_are_no_numbers_are_noted(pendulum, tmp_path):
    """As a file has them where the mass matrix was singular."""
    pendulum.save(tmp_path / "a.h5")
    read = mbvi.read(tmp_path / "a.h5")
    some, none = read.v.copy(), np.full_like(read.v, np.nan)
    some[5:8] = np.nan
    for v, expected in ((some, "not a number at 3 states"), (none, "not a number at 201 states")):
        figure = replace(read, stored=replace(read.stored, v=v)).plot("velocities")
        figure.savefig(io.BytesIO(), format="png")
        assert figure.axes[0].get_title(loc="right") == expected


def test_states_too_far_apart_for_a_section_are_refused():
    with pytest.raises(
        mbvi.ModelError, match=r"expected states less than half a turn of axle.angle apart, found 4 rad"
    ):
        crossings(rotor(40.0), 0, 0.0)


def test_without_matplotlib_the_extra_is_named(pendulum, models, monkeypatch):
    for module in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    message = r"figures: expected matplotlib, found none; install it with: pip install 'mbvi\[viz\]'"
    with pytest.raises(mbvi.ModelError, match=message):
        pendulum.plot()
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.pictures.draw_graph(mbvi.load(models / "pendulum.yaml"))
    assert "<svg" not in pendulum._repr_html_() and "simpson" in pendulum._repr_html_()
    assert mbvi.load(models / "pendulum.yaml")._repr_svg_() is None


def test_a_system_of_which_only_the_name_is_left_is_drawn(tmp_path):
    x, y = sympy.symbols("x y")
    system = mbvi.from_sympy([x, y], [[1, 0], [0, 1]], x**2, initial_q=[1, 0], initial_v=[0, 1])
    mbvi.simulate(system, step=0.1, duration=6).save(tmp_path / "two.h5")
    run = mbvi.read(tmp_path / "two.h5")
    assert [axes.get_ylabel() for axes in run.plot("invariants", "energy").axes] == ["drift of momentum", "energy [J]"]
    assert len(run.plot(section="x = 0", names=["y"]).axes) == 1
    with pytest.raises(mbvi.ModelError, match="found 'reactions'; it has no joints or constraints that hold bodies"):
        run.plot("reactions")


# ----------------------------------------------------------------------------------------------- files


def test_files_are_the_same_whenever_they_are_written(tmp_path, pendulum):
    for suffix, head in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        texts = []
        for name in "ab":
            path = tmp_path / f"{name}.{suffix}"
            style.save(pendulum.plot("energy"), path)
            texts.append(path.read_bytes())
        assert texts[0] == texts[1]
        assert texts[0].startswith(head)


def test_files_that_cannot_be_written(tmp_path, pendulum):
    figure = pendulum.plot("energy")
    taken = tmp_path / "taken.png"
    taken.write_text("precious")
    for path, message in (
        (tmp_path / "a.jpg", r"a.jpg: expected one of the suffixes .png, .svg, .pdf, found '.jpg'"),
        (tmp_path / "a", r"a: expected one of the suffixes .png, .svg, .pdf, found none"),
        (taken, "taken.png: expected a new file, found one that exists"),
        (tmp_path / "no" / "a.png", "expected a file in a folder, found no folder"),
    ):
        with pytest.raises(mbvi.ModelError, match=message):
            style.save(figure, path)
    assert taken.read_text() == "precious"
    style.save(figure, taken, force=True)
    assert taken.read_bytes().startswith(b"\x89PNG")


# ------------------------------------------------------------------------------------------- notebooks


def test_long_runs_and_systems_without_bodies_show_no_animation(models, monkeypatch):
    x = sympy.Symbol("x")
    spring = mbvi.simulate(mbvi.from_sympy([x], [[1]], x**2, initial_q=[1.0]), step=0.1, duration=1)
    assert "<iframe" not in spring._repr_html_() and "<svg" in spring._repr_html_()
    monkeypatch.setattr("mbvi.results.trajectory.MOST_SHOWN", 10)
    run = mbvi.simulate(mbvi.load(models / "pendulum.yaml"), duration=0.1)
    assert len(run) == 11 and "<iframe" not in run._repr_html_()


def test_what_notebooks_show(pendulum):
    page = pendulum._repr_html_()
    assert "<caption>double pendulum</caption>" in page
    assert "simpson, step 0.01 s" in page
    viewer = ElementTree.fromstring(page[page.index("<iframe") : page.index("</iframe>")] + "</iframe>").get("srcdoc")
    assert viewer.startswith("<!DOCTYPE html>") and "double pendulum" in viewer
    ElementTree.fromstring(page[page.index("<svg") :])
    ElementTree.fromstring(pendulum.plot("energy")._repr_svg_())
    table = ElementTree.fromstring(pendulum.system._repr_html_())
    rows = [[cell.text for cell in row] for row in table.findall("tr")]
    assert rows[0] == ["coordinate", "unit", "at the start", "rate at the start"]
    assert rows[1] == ["shoulder.angle", "rad", "0.785398", "0"]
    assert repr(pendulum.system) == (
        "<System 'double pendulum': 2 coordinates (shoulder.angle, elbow.angle), 0 constraints>"
    )


def test_a_large_system_is_shown_in_few_lines(models):
    system = mbvi.assemble(mbvi.load(models / "necklace_50.yaml"))
    assert len(repr(system)) < 200
    assert "… 320 more" in system._repr_html_() and system._repr_html_().count("<tr>") == 32
