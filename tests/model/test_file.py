"""Model files: round trips, what a file may not contain, and the line of everything that is wrong."""

import string
from pathlib import Path

import jsonschema
import pytest
import trimesh
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mbvi.model as mm
from mbvi.errors import ModelError
from mbvi.model.file import schema_text

KNOWN_KEYS = "known: " + ", ".join(mm.Model.model_fields)
VALIDATOR = jsonschema.Draft202012Validator(mm.schema())

TOP = """\
name: top
parameters:
  height: 0.25
bodies:
  top:
    mass: 0.1
    center_of_mass: [0, 0, height]
    inertia: [1, 1, 1]
joints:
  contact:
    type: revolute
    parent: world
    child: top
    axis: [0, 0, 1]
"""


def message(text):
    with pytest.raises(ModelError) as caught:
        mm.from_yaml(text, source="top.yaml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_base_is_right():
    model = mm.from_yaml(TOP)
    assert model.joints["contact"] == mm.Revolute(parent="world", child="top", axis=(0, 0, 1))


MESSAGES = [
    (
        "0.1",
        "heavy",
        "6: bodies.top.mass: expected a parameter or a constant, found 'heavy' in 'heavy'; "
        "known: height, pi, e, deg, rad, rpm",
    ),
    ("0.1", "true", "6: bodies.top.mass: expected a number or an expression, found True"),
    ("0.1", "", "6: bodies.top.mass: expected a number or an expression, found nothing"),
    ("0.1", ".nan", "6: bodies.top.mass: expected a finite number, found nan; write for example 1.5 or 1e-3"),
    ("0.1", "-.inf", "6: bodies.top.mass: expected a finite number, found -inf; write for example 1.5 or 1e-3"),
    ("0.1", "1e999", "6: bodies.top.mass: expected a finite number, found an overflow in '1e999'; use smaller numbers"),
    (
        "0.1",
        "0x10",
        "6: bodies.top.mass: expected a number in decimal digits, found '0x10' in '0x10'; write for example 1000",
    ),
    (
        "0.1",
        "1_000",
        "6: bodies.top.mass: expected a number in decimal digits, found '1_000' in '1_000'; write for example 1000",
    ),
    (
        "0.1",
        "1:30",
        "6: bodies.top.mass: expected an arithmetic expression, found '1:30'; "
        "write for example 'pi/3', '2*length' or '60 deg' (units: deg, rad, rpm, also with /s)",
    ),
    ("0.1", "-0.1", "6: bodies.top.mass: expected a mass of at least 0, found -0.1; change its sign"),
    ("mass", "mas", "6: bodies.top.mas: expected a known key, found 'mas'; did you mean 'mass'?"),
    (
        "child: top",
        "child: topp",
        "13: joints.contact.child: expected a body or world, found 'topp'; did you mean 'top'?",
    ),
    (
        "[0, 0, 1]",
        "[0, 0, 0]",
        "14: joints.contact.axis: expected a non-zero 3-vector, found [0, 0, 0]; write for example [0, 0, 1]",
    ),
    (
        "[0, 0, 1]",
        "\n    - 0\n    - 0\n    - 1/0",
        "17: joints.contact.axis.2: expected a finite number, found a division by zero in '1/0'; change the divisor",
    ),
    ("    axis: [0, 0, 1]\n", "", "10: joints.contact.axis: expected a value, found nothing; add the key 'axis'"),
    (
        "revolute",
        "revolut",
        "11: joints.contact.type: expected a known type, found 'revolut'; did you mean 'revolute'?",
    ),
    (
        "[1, 1, 1]",
        "[1, 1, 3]",
        "8: bodies.top.inertia: expected principal moments of which none exceeds the sum of the others, "
        "found [1, 1, 3] about the center of mass, of which the largest does by 1 kg m², 0.2 of the trace; rounding explains "
        "0.0005 of the trace; check inertia, which is given about the center_of_mass, and mass",
    ),
    (
        "parent: world",
        "parent: top",
        "10: joints.contact: expected two bodies, found 'top' as parent and as child; connect two different bodies",
    ),
    (
        "parameters:",
        "parameters: &all",
        "2: parameters: expected a value without an anchor, found &all; use parameters instead",
    ),
    ("[0, 0, 1]", "*all", "14: joints.contact.axis: expected a value, found the alias *all; use parameters instead"),
    ("0.1", "!mass 3", "6: bodies.top.mass: expected a value without a tag, found the tag !mass; remove it"),
    (
        "0.1",
        "!!binary aGVsbG8=",
        "6: bodies.top.mass: expected a value without a tag, found the tag tag:yaml.org,2002:binary; remove it",
    ),
    (
        "0.1",
        "!!float 3",
        "6: bodies.top.mass: expected a value without a tag, found the tag tag:yaml.org,2002:float; remove it",
    ),
    ("name: top", "? [a, b]\n: top", "1: expected a key of text, found a list or mapping"),
    (
        "    inertia",
        "    mass: 3\n    inertia",
        "8: bodies.top.mass: expected each key once, found 'mass' again (first in line 6); remove one of them",
    ),
    ("name: top", "name: top\n---", "2: expected one document, found a second one; remove it"),
    ("mass: 0.1", "mass: [0.1", "7: expected YAML with ',' or ']' here, found ':'"),
    ("mass: 0.1", "mass: [0.1}", "6: expected YAML with ',' or ']' here, found '}'"),
    ("top:", "top: {", "7: expected YAML with ',' or '}' here, found ':'"),
    ("axis: [0, 0, 1]", "axis: [0, 0, 1", "15: expected YAML with ',' or ']' here, found the end of the file"),
    ("    mass", "\tmass", "6: expected YAML, found a tab at the start of the line; indent with blanks"),
    ("name: top", "name: top: 1", "1: expected YAML, found a second ': '; quote the text, or check the indentation"),
    ("mass: 0.1", "mass:0.1", "6: expected a key, a colon and a blank, found 'mass:0.1'; write for example mass: 1"),
    ("name: top", "name top", "1: expected a key, a colon and a blank, found 'name top'; write for example mass: 1"),
    (
        "    mass: 0.1\n",
        "    mass: 0.1\n\n      more: 1\n",
        "8: expected YAML, found a key below the value of line 6; check the indentation",
    ),
    ("0.1", "@", "6: expected YAML, found '@', which cannot start a value; quote the text"),
    ("name: top", "name: 'top", "15: expected YAML, found unexpected end of stream"),
    ("0.1", "\x07", "6: expected YAML text, found a control character"),
    ("0.1", "[" * 30 + "]" * 30, "6: bodies.top.mass" + ".0" * 17 + ": expected at most 20 levels, found more"),
]


@pytest.mark.parametrize(("old", "new", "expected"), MESSAGES, ids=[new[:20] or "gone" for _, new, _ in MESSAGES])
def test_messages(old, new, expected):
    assert old in TOP
    assert message(TOP.replace(old, new, 1)) == "top.yaml:" + expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1: expected a mapping with the keys name, bodies, …, found nothing"),
        ("# nothing\n", "1: expected a mapping with the keys name, bodies, …, found nothing"),
        ("[1, 2]", "1: expected a mapping with the keys name, bodies, …, found [1, 2]"),
        ("just text", "1: expected a mapping with the keys name, bodies, …, found 'just text'"),
        ("{}", "1: name: expected a value, found nothing; add the key 'name' (and 1 more)"),
    ],
)
def test_what_is_no_model(text, expected):
    assert message(text) == "top.yaml:" + expected


def test_awkward_keys_keep_the_message_in_one_line():
    text = message('"a\\nb": 1\n' + TOP)
    assert text == "top.yaml:1: 'a\\nb': expected a known key, found 'a\\nb'; " + KNOWN_KEYS
    text = message("x" * 1000 + ": 1\n" + TOP)
    cut = "'" + "x" * 58 + "…"
    assert text == f"top.yaml:1: {cut}: expected a known key, found {cut}; {KNOWN_KEYS}"


def test_alias_bomb_is_refused_at_its_first_anchor():
    bomb = "a: &a [1, 1]\n" + "".join(
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert message(bomb) == "top.yaml:1: a: expected a value without an anchor, found &a; use parameters instead"


@pytest.mark.parametrize(
    "value",
    [
        "!!python/object/apply:os.system ['touch MARK']",
        "!!python/object/new:os.system ['touch MARK']",
        "!!python/name:os.system",
        "!!python/module:os",
        "__import__('os').system('touch MARK')",
        "\"open('MARK', 'w')\"",
        '"[c for c in ().__class__.__base__.__subclasses__()]"',
        "\"(lambda: open('MARK', 'w'))()\"",
        '!!python/object/apply:builtins.eval [\'open("MARK", "w")\']',
    ],
)
def test_no_code_is_executed(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message(TOP.replace("0.1", value, 1))
    assert list(tmp_path.iterdir()) == []


def test_numbers_and_text_of_yaml_1_2():
    model = mm.from_yaml(TOP.replace("0.25", "1e-3").replace("0.1", "'2'", 1).replace("name: top", "name: on"))
    assert (model.parameters["height"], model.bodies["top"].mass, model.name) == (1e-3, 2.0, "on")


# ------------------------------------------------------------------------------------------ files


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<!DOCTYPE html><html></html>", "an HTML page"),
        ("<a/>", "an XML file"),
    ],
)
def test_files_of_other_programs(text, found, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        mm.load(path)
    assert str(caught.value) == (
        f"{path}:1: expected a model file (YAML), a URDF, SDF or MJCF file, found {found}, which mbvi does not read"
    )
    with pytest.raises(
        ModelError, match=r"^<string>:1: expected a model file .YAML., found XML; mbvi.load imports a file"
    ):
        mm.from_yaml(text)


def test_load_names_the_file(tmp_path):
    path = tmp_path / "top.yaml"
    path.write_text(TOP.replace("0.1", "x", 1))
    with pytest.raises(ModelError) as caught:
        mm.load(path)
    assert str(caught.value).startswith(f"{path}:6: bodies.top.mass: expected")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda path: None, ": expected a model file, found no such file; check the path"),
        (lambda path: path.mkdir(), ": expected a model file, found a folder"),
        (
            lambda path: path.write_bytes(b" " * (100 * 2**20)),
            ": expected at most 4 MiB, found 100.0 MiB; give tables fewer points",
        ),
        (lambda path: path.write_bytes(b"name: a\nx: \xff"), ":2: expected UTF-8 text, found the byte 0xff"),
    ],
    ids=["missing", "folder", "100 MiB", "not UTF-8"],
)
def test_files_that_cannot_be_read(make, expected, tmp_path):
    path = tmp_path / "model.yaml"
    make(path)
    with pytest.raises(ModelError) as caught:
        mm.load(path)
    assert str(caught.value) == f"{path}{expected}"


def test_save_to_nowhere(tmp_path):
    with pytest.raises(ModelError, match="expected a file that can be written, found no such file"):
        mm.save(mm.from_yaml(TOP), tmp_path / "missing" / "model.yaml")


def test_an_existing_file_stays(tmp_path):
    path, model = tmp_path / "model.yaml", mm.from_yaml(TOP)
    path.write_text("precious")
    with pytest.raises(ModelError) as caught:
        mm.save(model, path)
    remedy = "choose another name, or overwrite it by force=True"
    assert str(caught.value) == f"{path}: expected a new file, found one that exists; {remedy}"
    assert path.read_text() == "precious"
    mm.save(model, path, force=True)
    assert mm.load(path) == model


def test_byte_order_mark(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(TOP, encoding="utf-8-sig")
    assert mm.load(path) == mm.from_yaml(TOP)


def test_meshes_are_read_relative_to_the_file(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    trimesh.creation.box(extents=(1, 1, 1)).export(tmp_path / "a" / "cube.stl")
    text = TOP.replace("    inertia", "    shapes: [{type: mesh, file: cube.stl, density: 2}]\n    inertia")
    (tmp_path / "a" / "model.yaml").write_text(text)
    model = mm.load(tmp_path / "a" / "model.yaml")
    assert model.folder == tmp_path / "a" == model.resolved().folder == model.with_parameters({}).folder
    assert model == mm.Model(**{key: getattr(model, key) for key in mm.Model.model_fields})

    mm.save(model, tmp_path / "a" / "copy.yaml")
    assert mm.load(tmp_path / "a" / "copy.yaml") == model
    mm.save(model, tmp_path / "b" / "moved.yaml")
    moved = mm.load(tmp_path / "b" / "moved.yaml")
    masses = [mm.mass_properties(m.resolved().bodies["top"], m.folder).mass for m in (model, moved)]
    assert masses == pytest.approx([2.1, 2.1])

    (tmp_path / "a" / "cube.stl").unlink()
    with pytest.raises(ModelError) as caught:
        mm.load(tmp_path / "a" / "model.yaml")
    assert str(caught.value) == (
        f"{tmp_path / 'a' / 'model.yaml'}:8: bodies.top.shapes.0.file: expected the path of a mesh file, "
        f"found no file {str(tmp_path / 'a' / 'cube.stl')!r}; paths start at the model's folder"
    )


def test_two_thousand_bodies():
    bodies = "".join(
        f"  b{i}: {{mass: m, center_of_mass: [m/2, 0, 0], inertia: [0, m/12, m/12]}}\n" for i in range(2000)
    )
    joints = "".join(
        f"  j{i}: {{type: revolute, parent: {f'b{i - 1}' if i else 'world'}, child: b{i}, axis: [0, 1, 0]}}\n"
        for i in range(2000)
    )
    model = mm.from_yaml(f"name: chain\nparameters: {{m: 1}}\nbodies:\n{bodies}joints:\n{joints}")
    assert mm.plan(model).branches[-1].joint == "j1999"


def test_many_loops():
    """A square net of 900 bodies and 1740 joints, and its drawing."""
    side = range(30)
    bodies = {f"b{i} {j}": {"mass": 1, "inertia": [1, 1, 1]} for i in side for j in side}
    rows = [(f"b{i} {j}", f"b{i} {j + 1}") for i in side for j in side[:-1]]
    columns = [(f"b{i} {j}", f"b{i + 1} {j}") for i in side[:-1] for j in side]
    ends = [("world", "b0 0"), *rows, *columns]
    joints = {
        f"j{i}": {"type": "universal", "parent": parent, "child": child, "axes": [[1, 0, 0], [0, 1, 0]]}
        for i, (parent, child) in enumerate(ends)
    }
    model = mm.Model(name="net", bodies=bodies, joints=joints)
    lines = mm.describe_tree(model).splitlines()
    assert len(lines) == 1 + len(joints)
    assert sum("closes a loop" in line for line in lines) == 29**2


# ------------------------------------------------------------------------------------------ round trips

NAMES = st.text(string.ascii_letters + "é_./:#'-1 关", min_size=1, max_size=6).filter(
    lambda name: name != "world" and name.strip() == name
)
AWKWARD = st.sampled_from(["on", "null", "1e3", "0x10", "12", "true", "no", "1_0"])
TEXTS = st.sampled_from(["a", "2*a", "sin(60 deg)", "-a/3", "sqrt(a) + 1", "1e-3*a", "a/(2 rad/s)"])
SCALARS = st.one_of(st.floats(-1e6, 1e6), st.integers(-5, 5), TEXTS, st.sampled_from(["1e-3", "7", "1E+2", " 3 "]))
VECTORS = st.tuples(SCALARS, SCALARS, SCALARS)
TIMES = st.one_of(
    SCALARS,
    st.sampled_from(["t", "sin(2*pi*t)", "a*t**2", "exp(-t deg/s)"]),
    st.just({"times": [0, "a", 1e3], "values": [0, 1, "a"]}),
)
ORIENTATIONS = st.sampled_from([(0, 0, 0), (0, "30 deg", 1), (0.6, 0, "-0.8", 0)])
POSITIVE = st.one_of(st.floats(1e-3, 1e3), st.just("2*a"))


@st.composite
def shapes(draw):
    common = {"position": draw(VECTORS), draw(st.sampled_from(["density", "mass"])): draw(POSITIVE)}
    kind = draw(st.sampled_from(["box", "sphere", "cylinder", "capsule", "cone"]))
    keys = {"box": ["size"], "sphere": ["radius"], "cone": ["radius", "height"]}.get(kind, ["radius", "length"])
    return {
        "type": kind,
        **common,
        **{key: draw(st.tuples(*[POSITIVE] * 3) if key == "size" else POSITIVE) for key in keys},
    }


@st.composite
def joints(draw, parent, child):
    kind = draw(
        st.sampled_from(["revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "ball", "free"])
    )
    own = {
        "universal": {"axes": [[0, "a", 0], [0, 0, 1]]},
        "planar": {"normal": [0, 0, "a"], "x_axis": draw(st.sampled_from([None, [1, 0, 0]]))},
        "ball": {"coordinates": draw(st.sampled_from(["quaternion", "zxz", "yxy"]))},
        "free": {"coordinates": draw(st.sampled_from(["quaternion", "xyz"]))},
    }.get(kind, {"axis": [1, "-a", draw(SCALARS)]})
    pitch = {"pitch": draw(SCALARS)} if kind == "screw" else {}
    orientation = draw(ORIENTATIONS)
    places = {"position": draw(VECTORS), "offset": draw(VECTORS), "orientation": orientation}
    return {"type": kind, "parent": parent, "child": child, **own, **pitch, **places}


@st.composite
def constraints(draw, body, gear):
    """Constraints of many types on a body; of those between coordinates only if there is a joint with an angle for a gear."""
    ends = {"body_a": "world", "point_a": draw(VECTORS), "body_b": body, "point_b": draw(st.just("tip") | VECTORS)}
    length = draw(st.one_of(POSITIVE, st.sampled_from(["t**2", "2 + sin(t)"])))
    curve = draw(st.sampled_from([("s", "a*s", 0), ("cos(2*s)", "-s", "a"), ("s/a", 1, "max(s, 1)")]))
    made = {
        "distance": {**ends, "length": length},
        "coincident_points": ends,
        "coincident_frames": {**ends, "orientation": draw(ORIENTATIONS)},
        "point_on_line": {**ends, "direction": [1, "-a", draw(SCALARS)]},
        "point_on_plane": {**ends, "normal": [draw(SCALARS), "-a", 0]},
        "point_on_curve": {"body_b": body, "point_b": "tip", "curve": curve, "start": draw(SCALARS)},
        "prescribed_coordinate": {"joint": "chord", "value": draw(TIMES)},
        "prescribed_point": {"body": body, "point": draw(VECTORS), "position": draw(st.tuples(TIMES, TIMES, TIMES))},
    }
    if gear:
        joints = {"joint_a": gear, "coordinate_a": "angle", "joint_b": "chord"}
        made["coupling"] = {**joints, "ratio": draw(POSITIVE), "offset": draw(SCALARS)}
    return {f"c {kind}": {"type": kind, **values} for kind, values in made.items()}


@st.composite
def models(draw):
    names = draw(st.lists(NAMES | AWKWARD, min_size=1, max_size=4, unique=True))
    bodies = {
        name: {
            "mass": draw(POSITIVE),
            "inertia": draw(st.sampled_from([(1, 1, 1), ("a", "a", "a"), (1, 1, 1, 0.1, 0, "-a/100")])),
            "points": {"tip": draw(VECTORS)},
            "point_masses": {"bob": {"mass": draw(POSITIVE), "position": draw(st.just("tip") | VECTORS)}},
            "shapes": draw(st.lists(shapes(), max_size=2)),
        }
        for name in names
    }
    ties = {f"j{i}": draw(joints(draw(st.sampled_from(["world", *names[:i]])), name)) for i, name in enumerate(names)}
    forces = {
        "push": {
            "type": "force",
            "body": names[0],
            "point": draw(st.just("tip") | VECTORS),
            "vector": draw(st.tuples(TIMES, TIMES, TIMES)),
        },
        "twist": {"type": "torque", "body": names[-1], "vector": draw(st.tuples(TIMES, TIMES, TIMES)), "frame": "body"},
        "pull": {"type": "spring", "body_a": "world", "body_b": names[0], "point_b": "tip", "stiffness": draw(SCALARS)},
    }
    tree = mm.Model(name="m", parameters={"a": 2}, bodies=bodies, joints=ties)
    has_angle = "angle" in tree.joints["j0"].coordinate_names
    if has_angle:
        forces["motor"] = {"type": "joint_force", "joint": "j0", "coordinate": "angle", "value": draw(TIMES)}
    ties["chord"] = {"type": "revolute", "parent": names[-1], "child": "world", "axis": [0, 0, 1], "cut": True}
    ties["j0"]["cut"] = draw(st.sampled_from([None, False]))
    texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
    return mm.Model(
        name=draw(NAMES | AWKWARD),
        description=draw(texts),
        formulation=draw(st.sampled_from(["tree", "embedding"])),
        parameters={"a": 2.0, "b": draw(SCALARS)},
        gravity=draw(VECTORS),
        bodies=bodies,
        joints=ties,
        forces=forces,
        constraints=draw(constraints(names[0], "j0" if has_angle else None)),
        initial={"chord": {"position": draw(SCALARS), "hold": draw(st.booleans())}},
        simulation={"step": draw(POSITIVE), "project": draw(st.booleans())},
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models())
def test_round_trip(model):
    text = mm.to_yaml(model)
    assert mm.from_yaml(text) == model
    assert mm.to_yaml(mm.from_yaml(text)) == text
    VALIDATOR.validate(yaml.safe_load(text))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(models())
def test_round_trip_of_the_resolved_model(model):
    resolved = model.resolved()
    again = mm.from_yaml(mm.to_yaml(resolved)).resolved()
    assert again.bodies == resolved.bodies
    assert again.forces == resolved.forces
    assert mm.plan(again) == mm.plan(resolved)
    for name, constraint in resolved.constraints.items():
        assert dict(again.constraints[name]) == {
            key: pytest.approx(value, abs=1e-15) if key in ("orientation", "direction", "normal") else value
            for key, value in constraint
        }
    for name, joint in resolved.joints.items():
        assert again.joints[name].orientation == pytest.approx(joint.orientation, abs=1e-15)


def test_yaml_is_tidy():
    assert mm.to_yaml(mm.from_yaml(TOP)) == TOP


# ------------------------------------------------------------------------------------------ schema


def test_schema_is_current():
    """Renew it with: mbvi schema > mbvi/model/schema.json."""
    assert Path(mm.__file__).with_name("schema.json").read_text(encoding="utf-8") == schema_text()


def test_schema_is_one_and_describes_every_key():
    schema = mm.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, part in [("Model", schema), *schema["$defs"].items()]:
        for key, value in part.get("properties", {}).items():
            assert key == "type" or value.get("description"), f"{name}.{key}"


@pytest.mark.parametrize(
    ("old", "new"),
    [("mass:", "mas:"), ("revolute", "revolut"), ("[0, 0, 1]", "[0, 1]"), ("type: revolute", "x: 1"), ("0.1", "[1]")],
)
def test_schema_rejects(old, new):
    assert VALIDATOR.is_valid(yaml.safe_load(TOP))
    assert not VALIDATOR.is_valid(yaml.safe_load(TOP.replace(old, new, 1)))
