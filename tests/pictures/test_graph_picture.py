"""Pictures of graphs: everything is in them, nothing covers anything else, and large ones stay readable."""

import io
import re
from typing import get_args
from xml.etree import ElementTree

import numpy as np
import pytest

import mbvi
from mbvi.model.constraints import AnyConstraint
from mbvi.model.graph import plan
from mbvi.pictures.graphs import LOOKS, places_apart
from tests.folders import ROOT, load

NAMED = ["double_pendulum", "lagrange_top", "four_bar", "stewart_platform", "bricard", "chain_10", "branched_tree"]
BODY = mbvi.Body(mass=1, inertia=(1, 1, 1))


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def lines_of(figure, kind):
    return [line for line in figure.axes[0].lines if line.get_color() == LOOKS[kind]["color"]]


def tree(count, seed):
    """A random tree of bodies on ball joints."""
    random = np.random.default_rng(seed)
    parents = ["world" if i == 0 else f"b{random.integers(max(0, i - 9), i)}" for i in range(count)]
    joints = {f"j{i}": mbvi.Ball(parent=parent, child=f"b{i}") for i, parent in enumerate(parents)}
    return mbvi.Model(name="tree", bodies={f"b{i}": BODY for i in range(count)}, joints=joints)


@pytest.mark.parametrize("name", [*NAMED, "necklace_50"])
def test_bodies_joints_and_chords_are_there_and_no_names_overlap(name, models):
    model = mbvi.load(models / f"{name}.yaml")
    figure = mbvi.pictures.draw_graph(model)
    figure.savefig(io.BytesIO(), format="png")
    shown = texts(figure)
    assert {"world", *model.bodies} <= set(shown)
    assert all(any(text.split(":")[0] == joint for text in shown) for joint in model.joints)
    chords = plan(model).chords
    assert len(lines_of(figure, "chord")) == len(chords)
    assert len(lines_of(figure, "tree")) == len(model.joints) - len(chords)
    assert bool(figure.legends) == bool(chords)
    page, boxes = figure.bbox, [text.get_window_extent() for text in figure.axes[0].texts]
    for i, box in enumerate(boxes):
        assert box.x0 > page.x0 and box.x1 < page.x1 and box.y0 > page.y0 and box.y1 < page.y1
        if name != "necklace_50":  # where slanted names have upright boxes larger than themselves
            for k, other in enumerate(boxes[:i]):
                x, y = (min(box.x1, other.x1) - max(box.x0, other.x0), min(box.y1, other.y1) - max(box.y0, other.y0))
                assert min(x, y) < 3, (shown[i], shown[k])  # pixels of the empty edges of two texts


def test_a_rope_is_drawn_by_its_ends():
    figure = mbvi.pictures.draw_graph(load("rope_1000"))
    assert [text for text in texts(figure) if text[0] != "j" and text != "ball"] == [
        "world", "b1", "b2", "… 995 more …", "b998", "b999", "b1000",
    ]  # fmt: skip
    assert figure.texts[1].get_text() == "1000 bodies, 1000 joints (1000 ball)"


def test_a_loop_is_a_ring(models):
    figure = mbvi.pictures.draw_graph(mbvi.load(models / "necklace_50.yaml"))
    places = np.array([text.get_position() for text in figure.axes[0].texts if text.get_text().startswith("link")])
    radii = np.hypot(*places.T)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-12)
    steps = np.hypot(*np.diff([*places, places[0]], axis=0).T)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-9)


def test_many_bodies_are_dots():
    figure = mbvi.pictures.draw_graph(tree(300, 1))
    assert texts(figure) == []
    assert len(lines_of(figure, "tree")) == 300
    dots = next(line for line in figure.axes[0].lines if line.get_marker() == "o")
    assert len(np.unique(dots.get_xydata().round(6), axis=0)) == 300


def test_joints_between_the_same_bodies_are_apart():
    joints = {
        "hold": mbvi.Ball(parent="world", child="plate"),
        "left": mbvi.Revolute(parent="plate", child="door", axis=(0, 0, 1)),
        "right": mbvi.Revolute(parent="plate", child="door", axis=(0, 0, 1), position=(0, 0, 1), offset=(0, 0, 1)),
    }
    figure = mbvi.pictures.draw_graph(mbvi.Model(name="door", bodies={"plate": BODY, "door": BODY}, joints=joints))
    (tied,) = lines_of(figure, "chord")
    middle = tied.get_xydata()[25]
    others = [line.get_xydata() for line in lines_of(figure, "tree")]
    assert min(np.hypot(*(points - middle).T).min() for points in others) > 0.2


def test_constraints_between_bodies_are_there():
    joints = {name: mbvi.Ball(parent="world", child=name) for name in ("a", "b")}
    rod = mbvi.Distance(body_a="a", body_b="b", point_b=(1, 0, 0), length=1)
    model = mbvi.Model(name="tied", bodies={"a": BODY, "b": BODY}, joints=joints, constraints={"rod": rod})
    figure = mbvi.pictures.draw_graph(model)
    assert len(lines_of(figure, "constraint")) == 1
    assert {"rod", "distance"} <= set(texts(figure))


def test_a_constraint_between_the_ends_of_a_chain_goes_around_it():
    joints = {"j1": mbvi.Ball(parent="world", child="a"), "j2": mbvi.Ball(parent="a", child="b", position=(1, 0, 0))}
    rope = mbvi.Distance(body_a="world", body_b="b", length=2, point_b=(1, 0, 0))
    model = mbvi.Model(name="swing", bodies={"a": BODY, "b": BODY}, joints=joints, constraints={"rope": rope})
    figure = mbvi.pictures.draw_graph(model)
    (line,) = lines_of(figure, "constraint")
    boxes = {text.get_text(): np.array(text.get_position()) for text in figure.axes[0].texts}
    assert np.hypot(*(line.get_xydata() - boxes["a"]).T).min() > 0.5 < abs(boxes["rope"] - boxes["a"])[0]


def test_constraints_on_joints_are_there():
    """Couplings between the bodies that their joints move, prescribed motions at their joints or at the world."""
    joints = {
        "axle": mbvi.Revolute(parent="world", child="gear", axis=(0, 0, 1)),
        "arm": mbvi.Revolute(parent="world", child="carrier", axis=(0, 0, 1)),
        "pin": mbvi.Revolute(parent="carrier", child="planet", axis=(0, 0, 1), position=(1, 0, 0)),
        "thread": mbvi.Cylindrical(parent="world", child="nut", axis=(0, 0, 1)),
        "flight": mbvi.Free(parent="world", child="load"),
    }
    constraints = {
        "teeth": mbvi.model.Coupling(joint_a="axle", joint_b="pin", ratio=-2),
        "screw": mbvi.model.Coupling(
            joint_a="thread", coordinate_a="angle", joint_b="thread", coordinate_b="displacement", ratio=0.01
        ),
        "drive": mbvi.model.PrescribedCoordinate(joint="pin", value="t"),
        "hand": mbvi.model.PrescribedPoint(body="load", position=(0, 0, "t")),
    }
    bodies = dict.fromkeys(("gear", "carrier", "planet", "nut", "load"), BODY)
    figure = mbvi.pictures.draw_graph(mbvi.Model(name="geared", bodies=bodies, joints=joints, constraints=constraints))
    boxes = {text.get_text(): np.array(text.get_position()) for text in figure.axes[0].texts}
    assert {*constraints, "coupling", "prescribed"} <= set(boxes)
    drawn = [line.get_xydata()[[0, -1]] for line in lines_of(figure, "constraint")]
    ties = [("gear", "planet"), ("world", "nut"), ("carrier", "planet"), ("world", "load")]
    np.testing.assert_allclose(drawn, [[boxes[a], boxes[b]] for a, b in ties], rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", [each.model_fields["type"].default for each in get_args(get_args(AnyConstraint)[0])])
def test_every_constraint_is_drawn(kind):
    """In the model that the documentation has of each."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("constraints*.md"))
    model = mbvi.from_yaml(re.search(rf"<!-- {kind}.yaml -->\n```yaml\n(.*?)```", pages, re.DOTALL)[1])
    ties = sum(
        2 if each.type in ("differential", "rope") else 1 for each in model.constraints.values()
    )  # of three bodies
    assert len(lines_of(mbvi.pictures.draw_graph(model), "constraint")) == ties > 0


def test_places_are_apart_and_near_those_wanted():
    random = np.random.default_rng(4)
    for _ in range(50):
        wanted = np.sort(random.uniform(0, 8, random.integers(1, 12)))
        found = np.array(places_apart(list(wanted)))
        assert np.all(np.diff(found) >= 1 - 1e-12)
        assert places_apart(list(found)) == pytest.approx(list(found), abs=1e-12)


def test_models_show_themselves(models):
    model = mbvi.load(models / "stewart_platform.yaml")
    expected = "13 bodies, 18 joints (6 universal, 6 prismatic, 6 ball), 5 loops, 6 constraints"
    assert repr(model) == str(model) == f"<Model 'Stewart platform': {expected}>"
    assert ElementTree.fromstring(model._repr_svg_()).tag.endswith("svg")


def overlapping(names):
    """Pairs of texts in a picture that lie over each other."""
    boxes = [text.get_window_extent() for text in names]
    return [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


def test_labels_have_room():
    """Of four bodies that hang on the world by joints, also by constraints, and on each other by rods."""
    bodies = {f"body {i}": mbvi.Body(mass=1, inertia=(1, 1, 1)) for i in range(4)}
    joints = {f"flight {i}": mbvi.Free(parent="world", child=f"body {i}", position=(i, 0, 0)) for i in range(4)}
    ties = {
        f"plane {i}": mbvi.model.PointOnPlane(body_a="world", normal=(0, 0, 1), body_b=f"body {i}") for i in range(4)
    }
    ties |= {f"rod {i}": mbvi.Distance(body_a=f"body {i}", body_b=f"body {i + 2}", length=3) for i in (0, 1)}
    model = mbvi.Model(name="crowd", bodies=bodies, joints=joints, constraints=ties)
    figure = mbvi.pictures.draw_graph(model)
    figure.canvas.draw()
    names = [text for text in figure.axes[0].texts if text.get_text().startswith(("flight", "plane", "rod"))]
    assert len(names) == len(joints) + len(ties)
    assert overlapping(names) == []
    for name in names:
        name.set_fontsize(5 * name.get_fontsize())
    assert len(overlapping(names)) >= 4
