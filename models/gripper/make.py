"""Write gripper.sdf: two fingers, each on two bars of the same length, so that it stays upright, and gears between them.

python models/gripper/make.py
"""

from pathlib import Path

STEEL, ORANGE, WHITE = "0.35 0.38 0.42 1", "0.93 0.45 0.13 1", "0.92 0.92 0.9 1"
ALONG, OUTWARD, UP = 0.06, 0.03, 0.05196152422706632  # m, of a bar, which leans outward by 30°
PIVOTS = {"driver": (0.014, 0.06), "follower": (0.03, 0.044)}  # x and z on the palm of the right finger
SPRING = "<dynamics><damping>0.02</damping><spring_stiffness>1.5</spring_stiffness>{}</dynamics>"


def box(size, place="0 0 0 0 0 0", color=STEEL):
    """A box that is drawn."""
    name = f"{size} {place}".replace(" ", "_")
    look = f"<material><diffuse>{color}</diffuse></material>"
    size, pose = f"<size>{size}</size>", f"<pose>{place}</pose>"
    return f'      <visual name="{name}">{pose}<geometry><box>{size}</box></geometry>{look}</visual>\n'


def inertial(mass, x, y, z, place):
    """The mass of a box with edges of these lengths."""
    moments = [mass / 12 * each for each in (y * y + z * z, x * x + z * z, x * x + y * y)]
    tags = "".join(f"<{key}>{value:.4g}</{key}>" for key, value in zip(("ixx", "iyy", "izz"), moments, strict=True))
    return f"      <inertial><pose>{place}</pose><mass>{mass}</mass><inertia>{tags}</inertia></inertial>\n"


def link(name, pose, *parts):
    """A link of these parts."""
    return f'    <link name="{name}">\n      <pose>{pose}</pose>\n{"".join(parts)}    </link>\n'


def hinge(name, parent, child, more=""):
    """A hinge across the plane of the gripper, at the origin of the child unless a pose is given."""
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    pose, _, dynamics = more.partition("|")
    axis = f"<axis><xyz expressed_in='__model__'>0 1 0</xyz>{dynamics}</axis>"
    return f'    <joint name="{name}" type="revolute">{ends}{pose}{axis}</joint>\n'


def finger(side, sign):
    """The links and joints of a finger."""
    text, lean = "", f"{sign * OUTWARD / 2} 0 {UP / 2} 0 {sign * 0.5235987755982988} 0"
    for bar, (x, z) in PIVOTS.items():
        beam = box(f"0.008 0.012 {ALONG + 0.008}", lean, ORANGE)
        text += link(f"{side}_{bar}", f"{sign * x} 0 {z} 0 0 0", inertial(0.03, 0.008, 0.012, ALONG, lean), beam)
        rest = f"|{SPRING.format(f'<spring_reference>{-0.3 * sign}</spring_reference>')}" if bar == "driver" else ""
        text += hinge(f"{side}_{bar}_pivot", "palm", f"{side}_{bar}", rest)
    (x, z), (x2, z2) = PIVOTS["driver"], PIVOTS["follower"]
    tip = f"{-sign * 0.004} 0 0.035 0 0 0"
    foot = box("0.03 0.02 0.03", f"{sign * (x2 - x) / 2} 0 {(z2 - z) / 2} 0 0 0", WHITE)
    text += link(
        f"{side}_finger",
        f"{sign * (x + OUTWARD)} 0 {z + UP} 0 0 0",
        inertial(0.05, 0.012, 0.02, 0.07, tip),
        foot,
        box("0.012 0.02 0.07", tip, WHITE),
    )
    text += hinge(f"{side}_driver_tip", f"{side}_driver", f"{side}_finger")
    place = f"<pose>{sign * (x2 - x)} 0 {z2 - z} 0 0 0</pose>|"
    return text + hinge(f"{side}_follower_tip", f"{side}_follower", f"{side}_finger", place)


def gripper():
    """The file."""
    palm = [inertial(0.3, 0.09, 0.04, 0.05, "0 0 0.025 0 0 0"), box("0.09 0.04 0.05", "0 0 0.025 0 0 0")]
    gear = "<parent>right_driver</parent><child>left_driver</child><gearbox_ratio>1</gearbox_ratio>"
    gear += "<gearbox_reference_body>palm</gearbox_reference_body>"
    gear += "<axis><xyz expressed_in='__model__'>0 1 0</xyz></axis>"
    return (
        '<?xml version="1.0"?>\n<!-- A gripper with two closed loops and gears between them. make.py writes this file. -->\n'
        '<sdf version="1.10">\n  <model name="gripper">\n'
        + link("palm", "0 0 0 0 0 0", *palm)
        + '    <joint name="base" type="fixed"><parent>world</parent><child>palm</child></joint>\n'
        + finger("right", 1)
        + finger("left", -1)
        + f'    <joint name="gears" type="gearbox">{gear}</joint>\n'
        + '    <frame name="between" attached_to="palm"><pose>0 0 0.15 0 0 0</pose></frame>\n  </model>\n</sdf>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_name("gripper.sdf").write_text(gripper())
