"""A picture of a model's graph: bodies and the world as boxes, joints as lines, chords and constraints marked.

    model  →  nodes and edges, long runs of alike bodies drawn together  →  places  →  picture

A single loop is drawn as a ring, a single chain in rows, anything else in layers below the world.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mbvi.model.arguments import check_kind
from mbvi.model.constraints import AnyConstraint
from mbvi.model.fields import WORLD, kinds
from mbvi.model.graph import plan, summary
from mbvi.model.model import Model
from mbvi.pictures import style

MOST_NAMED = 60  # bodies up to which each has a box and a name
RUN, KEPT = 8, 2  # bodies from which a run of alike ones is drawn together, and how many at each of its ends are kept
RING, ROW = 9, 8  # nodes from which a loop is a ring, and in a row of a chain
SWEEPS = 60
GAP, LAYER = 0.3, 1.0  # distance between boxes of a layer, and from layer to layer [inch]
DOT_WIDTH, DOT_LAYER = 0.12, 0.4  # distance from dot to dot, and from layer to layer of dots [inch]
MARGIN, HEAD, FOOT = 0.25, 0.6, 0.35  # room around the graph, for the title above and the legend below it [inch]
NARROWEST = 4.5  # least width of a picture [inch]
LONGEST_NAME = 12.0  # width of a model's name up to which the picture is made wider [inch]
BODY_FONT, JOINT_FONT = 8.0, 7.0
LOOKS: dict[str, dict[str, Any]] = {
    "tree": {"color": "#333333", "linewidth": 1.6, "linestyle": "-"},
    "chord": {"color": style.COLOURS[1], "linewidth": 1.8, "linestyle": (0, (4, 2))},
    "constraint": {"color": style.COLOURS[3], "linewidth": 1.6, "linestyle": (0, (1, 1.5))},
}
MEANINGS = {"tree": "joint of the spanning tree", "chord": "joint that closes a loop", "constraint": "constraint"}

STRETCHES = (1.0, 1.25, 1.6, 2.0, 2.5)  # factors of the places; the first is taken at which no labels cover each other
PARTS = (0.5, 0.56, 0.44, 0.62, 0.38, 0.68, 0.32, 0.74, 0.26)  # parts of a line at which its label may be

Place = tuple[float, float]
Curve = tuple[Any, Any]
Box = tuple[float, float, float, float]


class Edge(NamedTuple):
    """A joint or constraint between two nodes; kind "tree", "chord" or "constraint"."""

    a: str
    b: str
    name: str
    type: str
    kind: str


@dataclass
class Graph:
    """Nodes with their labels, the world first, and edges."""

    labels: dict[str, str]
    edges: list[Edge]
    places: dict[str, Place] = field(default_factory=dict)

    def neighbours(self) -> dict[str, list[str]]:
        """The neighbours of every node, once for each edge."""
        found: dict[str, list[str]] = {node: [] for node in self.labels}
        for edge in self.edges:
            found[edge.a].append(edge.b)
            found[edge.b].append(edge.a)
        return found


def draw_graph(model: Model) -> Any:
    """Draw a model's bodies and joints, with the spanning tree and the joints that close loops.

    Parameters
    ----------
    model : Model
        If it has more than 60 bodies, long runs of alike ones are drawn together; if more are left, they are dots without names.

    Returns
    -------
    matplotlib.figure.Figure
        As large as the graph needs.

    Raises
    ------
    ModelError
        If it is no model, or matplotlib is missing.

    Examples
    --------
    >>> import mbvi
    >>> draw_graph(mbvi.load("models/four_bar.yaml")).texts[0].get_text()
    'four-bar linkage'
    """
    check_kind(model, Model, "model", "mbvi.load reads one from a file")
    graph = _graph(model)
    if len(graph.labels) > MOST_NAMED + 1:
        graph = _contracted(graph)
    is_named = len(graph.labels) <= MOST_NAMED + 1
    is_chain = max(map(len, graph.neighbours().values())) <= 2 and len(graph.edges) == len(graph.labels) - 1
    ring = _loop(graph)
    with style.fonts("".join([model.name, *graph.labels.values(), *(edge.name for edge in graph.edges)])):
        if is_named and len(ring) >= RING:
            return _ring(graph, ring, model)
        graph.places = _rows(graph) if is_named and is_chain else _layers(graph, is_named)
        return _picture(graph, model, is_named)


def _graph(model: Model) -> Graph:
    planned = plan(model)
    edges = [
        Edge(joint.parent, joint.child, name, joint.type, "chord" if name in planned.chords else "tree")
        for name, joint in model.joints.items()
    ]
    for name, constraint in model.constraints.items():
        kind = "prescribed" if constraint.type.startswith("prescribed_") else constraint.type
        edges += [Edge(a, b, name, kind, "constraint") for a, b in _tied(constraint, model)]
    return Graph({name: name for name in (WORLD, *model.bodies)}, edges)


def _tied(constraint: AnyConstraint, model: Model) -> list[tuple[str, str]]:
    """The pairs of nodes between which a constraint is drawn, from the bodies and joints that its fields name.

    They are the bodies, and those that the joints move, each with the next. Where that is one body only, a constraint on joints
    is drawn along the last of them, another to the world.
    """
    named: dict[str, list[str]] = {"bodies": [body for body, _ in getattr(constraint, "places", ())], "joints": []}
    for key, kind in kinds(type(constraint)).items():
        if kind is not None and kind.name == "name":
            named[kind.of].append(getattr(constraint, key))
    joints = [model.joints[name] for name in named["joints"]]
    nodes = list(dict.fromkeys([*named["bodies"], *(joint.child for joint in joints)]))
    if len(nodes) == 1:
        nodes = [joints[-1].parent if joints else WORLD, *nodes]
    return list(pairwise(nodes))


def _contracted(graph: Graph) -> Graph:
    """The graph with one node in place of the middle of each long run of alike bodies."""
    ties: dict[str, list[Edge]] = {node: [] for node in graph.labels}
    for edge in graph.edges:
        ties[edge.a].append(edge)
        ties[edge.b].append(edge)

    def is_inner(node: str) -> bool:
        """Whether a body is tied by two joints of one type and kind to two others."""
        of_it = {(edge.type, edge.kind) for edge in ties[node]}
        others = {edge.a if edge.b == node else edge.b for edge in ties[node]}
        return node != WORLD and len(ties[node]) == len(others) == 2 and len(of_it) == 1

    labels, merged = dict(graph.labels), {}
    for run in _runs(list(filter(is_inner, graph.labels)), graph.neighbours()):
        if len(run) < RUN:
            continue
        middle = run[KEPT:-KEPT]
        for node in middle:
            del labels[node]
            merged[node] = middle[0]
        labels[middle[0]] = f"… {len(middle)} more …"
    edges = [edge._replace(a=merged.get(edge.a, edge.a), b=merged.get(edge.b, edge.b)) for edge in graph.edges]
    return Graph(labels, [edge for edge in edges if edge.a != edge.b])


def _runs(nodes: Sequence[str], neighbours: dict[str, list[str]]) -> Iterator[list[str]]:
    """Paths of nodes that hang together and have at most two neighbours, each from one end to the other."""
    inner = set(nodes)
    left = dict.fromkeys(nodes)
    ends = [node for node in nodes if sum(other in inner for other in neighbours[node]) < 2]
    for end in ends:
        run: list[str] = []
        step: list[str] = [end] if end in left else []
        while step:
            run.append(step[0])
            del left[step[0]]
            step = [other for other in neighbours[step[0]] if other in left]
        if run:
            yield run


# ---------------------------------------------------------------------------------------------- places


def _loop(graph: Graph) -> list[str]:
    """The nodes of the only loop from the one nearest the world, if nothing but a chain from the world hangs on it; or none."""
    import networkx as nx

    links: nx.Graph[str] = nx.Graph((edge.a, edge.b) for edge in graph.edges)
    loops = nx.cycle_basis(links, WORLD)
    if len(graph.edges) != len(graph.labels) or len(loops) != 1:
        return []
    (loop,) = loops
    depth = nx.single_source_shortest_path_length(links, WORLD)
    first = loop.index(min(loop, key=depth.__getitem__))
    others = len(links) - len(loop)
    return [*loop[first:], *loop[:first]] if others == depth[loop[first]] else []


def _rows(graph: Graph) -> dict[str, Place]:
    """A chain from the world or from one of its ends, in rows that run to and fro."""
    neighbours = graph.neighbours()
    (chain,) = _runs(sorted(neighbours, key=lambda node: len(neighbours[node])), neighbours)  # an end first
    chain = chain[::-1] if chain[-1] == WORLD else chain
    per_row = -(-len(chain) // -(-len(chain) // ROW))
    texts = [text for edge in graph.edges for text in (edge.name, edge.type)]
    width = (
        max(map(_box_width, graph.labels.values())) + max(style.text_width(text, JOINT_FONT) for text in texts) + GAP
    )
    places = {}
    for i, node in enumerate(chain):
        row, column = divmod(i, per_row)
        places[node] = ((per_row - 1 - column if row % 2 else column) * width, -row * LAYER)
    return places


def _layers(graph: Graph, is_named: bool) -> dict[str, Place]:
    """Layers by the joints from the world; in each the nodes near the mean of their neighbours."""
    import networkx as nx

    links: nx.Graph[str] = nx.Graph()
    links.add_nodes_from(graph.labels)
    links.add_edges_from((edge.a, edge.b) for edge in graph.edges)
    joints: nx.Graph[str] = nx.Graph((edge.a, edge.b) for edge in graph.edges if edge.kind != "constraint")
    joints.add_node(WORLD)
    depth = nx.single_source_shortest_path_length(joints, WORLD)
    layers: dict[int, list[str]] = {}
    for node in nx.dfs_preorder_nodes(links, WORLD):
        layers.setdefault(depth[node], []).append(node)
    x = {node: float(i) for layer in layers.values() for i, node in enumerate(layer)}
    for _ in range(SWEEPS):
        for layer in layers.values():
            wanted = {node: float(np.mean([x[other] for other in links[node]])) for node in layer}
            order = sorted(layer, key=wanted.__getitem__)
            x.update(zip(order, places_apart([wanted[node] for node in order]), strict=True))
    width, height = DOT_WIDTH, DOT_LAYER
    if is_named:
        texts = [text for edge in graph.edges for text in (edge.name, edge.type)]
        width = (
            max(*map(_box_width, graph.labels.values()), *(style.text_width(text, JOINT_FONT) for text in texts)) + GAP
        )
        height = LAYER
    for level in sorted(layers, reverse=True):  # at last each above the middle of those that hang on it
        wanted = {node: x[node] for node in layers[level]}
        for node in layers[level]:
            below = [x[other] for other in links[node] if depth[other] > level]
            wanted[node] = (min(below) + max(below)) / 2 if below else x[node]
        order = sorted(layers[level], key=x.__getitem__)
        x.update(zip(order, places_apart([wanted[node] for node in order]), strict=True))
    return {node: (x[node] * width, -depth[node] * height) for node in graph.labels}


def places_apart(wanted: Sequence[float]) -> list[float]:
    """Places (m,) one or more apart, in the same order, near those wanted (m,), which ascend."""
    steps = np.arange(len(wanted))
    free = np.array(wanted) - steps
    pushed_right, pushed_left = np.maximum.accumulate(free), np.minimum.accumulate(free[::-1])[::-1]
    return list((pushed_right + pushed_left) / 2 + steps)


# -------------------------------------------------------------------------------------------- pictures


def _picture(graph: Graph, model: Model, is_named: bool) -> Any:
    """Straight lines between places, bent where they would hide each other; with boxes and names, or with dots."""
    if is_named:
        graph.places = _with_room(graph)
    curves = _curves(graph)
    axes, figure = _canvas(_extent(graph, curves, is_named), model, graph)
    for edge, curve in zip(graph.edges, curves, strict=True):
        axes.plot(*curve, zorder=1, **LOOKS[edge.kind])
    if is_named:
        _boxes(axes, graph)
        _joint_labels(axes, graph, curves)
    else:
        x, y = np.array(list(graph.places.values())[1:]).T
        axes.plot(x, y, "o", color=style.COLOURS[0], markersize=2.5, zorder=2)
        axes.plot(*graph.places[WORLD], "s", color="#222222", markersize=7, zorder=3)
    return figure


def _extent(graph: Graph, curves: list[Curve], is_named: bool) -> Box:
    """Around all nodes and lines, and their names."""
    x, y = (np.concatenate(each) for each in zip(*curves, strict=True))
    width = max(map(_box_width, graph.labels.values())) if is_named else 0.2
    boxes = [_centred(place, width, 0.4) for place in graph.places.values()]
    boxes += _label_boxes(graph, curves) if is_named else []
    left, right, bottom, top = zip(*boxes, (x.min(), x.max(), y.min(), y.max()), strict=True)
    return min(left), max(right), min(bottom), max(top)


def _with_room(graph: Graph) -> dict[str, Place]:
    """The places, moved apart until no labels cover each other."""
    found = []
    for factor in STRETCHES:
        places = {node: (x * math.sqrt(factor), y * factor) for node, (x, y) in graph.places.items()}
        found.append((_crowding_of(replace(graph, places=places)), factor, places))
        if found[-1][0] == 0:
            break
    return min(found)[2]


def _crowding_of(graph: Graph) -> float:
    """How much labels of lines cover each other and the boxes of bodies, but for what nobody sees."""
    nodes = [_centred(place, _box_width(graph.labels[node]), 0.3) for node, place in graph.places.items()]
    return round(_crowding(_label_boxes(graph, _curves(graph)), nodes), 2)


def _curves(graph: Graph) -> list[Curve]:
    return [_curve(edge, bend, graph.places) for edge, bend in zip(graph.edges, _bends(graph), strict=True)]


def _ring(graph: Graph, loop: list[str], model: Model) -> Any:
    """The only loop on a circle, the chain from the world to it above, the names of joints inside."""
    width = max(map(_box_width, graph.labels.values())) + 0.1
    radius = len(loop) * width / (2 * math.pi)
    angles = {node: math.pi / 2 - 2 * math.pi * i / len(loop) for i, node in enumerate(loop)}
    places = {node: (radius * math.cos(angle), radius * math.sin(angle)) for node, angle in angles.items()}
    chain = [node for node in graph.labels if node not in places]
    if chain:
        (chain,) = _runs(chain, graph.neighbours())
        for i, node in enumerate(chain if chain[-1] == WORLD else chain[::-1], 1):
            places[node] = 0.0, radius + i * LAYER
    graph.places = {node: places[node] for node in graph.labels}
    side = radius + width / 2
    top = radius + len(chain) * LAYER
    axes, figure = _canvas((-side, side, -radius - 0.2, top + 0.2), model, graph)
    is_mixed = len({edge.type for edge in graph.edges}) > 1
    for edge in graph.edges:
        ends = np.array([graph.places[edge.a], graph.places[edge.b]])
        axes.plot(*ends.T, zorder=1, **LOOKS[edge.kind])
        x, y = ends.mean(axis=0)
        text = f"{edge.name}: {edge.type}" if is_mixed else edge.name
        if not {edge.a, edge.b} <= set(loop):
            axes.text(x + 0.08, y, text, va="center", fontsize=JOINT_FONT, color=_ink(edge))
            continue
        degrees = math.degrees(math.atan2(y, x))
        is_left = abs(degrees) > 90
        inward = 1 - 0.2 / math.hypot(x, y)
        axes.text(
            x * inward,
            y * inward,
            text,
            rotation=degrees + 180 if is_left else degrees,
            rotation_mode="anchor",
            ha="left" if is_left else "right",
            va="center",
            fontsize=JOINT_FONT,
            color=_ink(edge),
        )
    _boxes(axes, graph)
    return figure


def _canvas(extent: Box, model: Model, graph: Graph) -> tuple[Any, Any]:
    """Axes in inches around an extent (left, right, bottom, top), with a title above and a legend below."""
    left, right, bottom, top = extent
    kinds = [kind for kind in LOOKS if any(edge.kind == kind for edge in graph.edges)]
    foot = FOOT if len(kinds) > 1 else 0.0
    details = summary(model)
    title = style.fitted(model.name, LONGEST_NAME, style.bold_width)
    texts = max(style.text_width(details, 7.5), style.bold_width(title))
    needed = max(NARROWEST, texts + 0.5, 1.9 * len(kinds))
    width = max(right - left + 2 * MARGIN, needed)
    height = top - bottom + 2 * MARGIN + HEAD + foot
    figure = style.new_figure(width, height)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    middle = (left + right) / 2
    axes.set_xlim(middle - width / 2, middle + width / 2)
    axes.set_ylim(bottom - MARGIN - foot, top + MARGIN + HEAD)
    figure.text(0.2 / width, 1 - 0.15 / height, title, va="top", fontsize=12, fontweight="bold", parse_math=False)
    figure.text(0.2 / width, 1 - 0.42 / height, details, va="top", fontsize=7.5, color=style.GREY)
    if foot:
        lines = style.matplotlib("lines")
        handles = [lines.Line2D([], [], label=MEANINGS[kind], **LOOKS[kind]) for kind in kinds]
        place = {"loc": "lower left", "bbox_to_anchor": (0.15 / width, 0.12 / height), "borderaxespad": 0}
        figure.legend(handles=handles, ncols=len(kinds), frameon=False, fontsize=7.5, handlelength=3, **place)
    return axes, figure


def _boxes(axes: Any, graph: Graph) -> None:
    """The names of bodies in boxes; that of the world is dark."""
    for node, (x, y) in graph.places.items():
        is_world, is_run = node == WORLD, graph.labels[node] != node
        face = "#222222" if is_world else "white" if is_run else "#E6F0F7"
        edge = "#222222" if is_world else style.GREY if is_run else style.COLOURS[0]
        axes.text(
            x,
            y,
            graph.labels[node],
            ha="center",
            va="center",
            fontsize=BODY_FONT,
            color="white" if is_world else "black",
            zorder=4,
            bbox={
                "boxstyle": "round,pad=0.4,rounding_size=0.3",
                "facecolor": face,
                "edgecolor": edge,
                "linewidth": 1.0,
            },
        )


def _joint_labels(axes: Any, graph: Graph, curves: list[Curve]) -> None:
    """Names and types at the lines: above and below level ones, on paper on the others."""
    rectangle = style.matplotlib("patches").Rectangle
    for edge, box, (_, y) in zip(graph.edges, _label_boxes(graph, curves), curves, strict=True):
        left, right, bottom, top = box
        x, middle = (left + right) / 2, (bottom + top) / 2
        is_level = np.ptp(y) < 0.1
        if not is_level:
            axes.add_patch(rectangle((left, bottom), right - left, top - bottom, facecolor="white", zorder=2))
        lift = 0.035 if is_level else -0.005
        name = "" if _is_of_run(edge, graph) else edge.name
        if name:
            axes.text(x, middle + lift, name, ha="center", va="bottom", fontsize=JOINT_FONT, color=_ink(edge), zorder=3)
        side, y_type = ("top", middle - lift) if name else ("bottom" if is_level else "center", middle + lift)
        axes.text(x, y_type, edge.type, ha="center", va=side, fontsize=JOINT_FONT, color=style.GREY, zorder=3)


def _is_of_run(edge: Edge, graph: Graph) -> bool:
    """Whether an edge leads to a node that stands for several bodies."""
    return any(graph.labels[node] != node for node in (edge.a, edge.b))


def _label_boxes(graph: Graph, curves: list[Curve]) -> list[Box]:
    """A box for the label of each line, where it covers the least; alike on lines between the same two layers."""
    nodes = [_centred(place, _box_width(graph.labels[node]), 0.3) for node, place in graph.places.items()]
    widths = [_label_width(edge) for edge in graph.edges]

    def box(i: int, part: float) -> Box:
        """The box of the label of line i, at a part of its length from its upper end."""
        x, y = curves[i]
        along = np.linspace(0, 1, len(x))
        at = part if y[0] >= y[-1] else 1 - part
        return _centred((float(np.interp(at, along, x)), float(np.interp(at, along, y))), widths[i], 0.23)

    groups: dict[frozenset[float], list[int]] = {}
    for i, (_, y) in enumerate(curves):
        groups.setdefault(frozenset((round(float(y[0]), 6), round(float(y[-1]), 6))), []).append(i)
    found: dict[int, Box] = {}
    for group in groups.values():
        common = min(PARTS, key=lambda part: _crowding([box(i, part) for i in group], nodes))
        for i in group:
            taken = [*nodes, *found.values()]
            places = [box(i, part) for part in (common, *PARTS)]
            found[i] = min(places, key=lambda each: sum(_overlap(each, other) for other in taken))
    return [found[i] for i in range(len(curves))]


def _crowding(boxes: list[Box], others: list[Box]) -> float:
    """The area that boxes share with each other and with others."""
    pairs = [(box, other) for i, box in enumerate(boxes) for other in (*boxes[:i], *others)]
    return sum(_overlap(*pair) for pair in pairs)


def _ink(edge: Edge) -> str:
    return "#222222" if edge.kind == "tree" else LOOKS[edge.kind]["color"]


def _bends(graph: Graph) -> list[float]:
    """How far each line is bent: joints between the same two nodes apart, constraints beside them, so far that their names have
    room, and those that would pass behind another node.
    """
    between: dict[frozenset[str], list[int]] = {}
    for i, edge in enumerate(graph.edges):
        between.setdefault(frozenset((edge.a, edge.b)), []).append(i)
    bends = [0.0] * len(graph.edges)
    for pair in between.values():
        edges = [graph.edges[i] for i in pair]
        centred = sum(edge.kind != "constraint" for edge in edges) or len(edges)
        first = _detour(edges[0], graph) or -(centred - 1) / 2 * _room(edges)
        for place, i in enumerate(pair):
            bends[i] = first + place * _room(edges)
    return bends


def _detour(edge: Edge, graph: Graph) -> float:
    """How far a line is bent around nodes that it would pass behind; 0 if there are none."""
    a, b = np.array(graph.places[edge.a]), np.array(graph.places[edge.b])
    length = max(float(np.hypot(*(b - a))), 1e-9)
    x, y = (b - a) / length
    passed = []
    for node, place in graph.places.items():
        along, across = np.array([[x, y], [-y, x]]) @ (place - a)
        if 1e-6 < along < length - 1e-6 and abs(across) < 1e-6:
            passed.append(_box_width(graph.labels[node]))
    return 0.6 + 0.3 * abs(x) + (max(passed) + _label_width(edge)) * abs(y) if passed else 0.0


def _room(edges: list[Edge]) -> float:
    """How far lines between the same two nodes are bent apart."""
    return max(0.9, *(2 * _label_width(edge) for edge in edges)) if len(edges) > 1 else 0.0


def _curve(edge: Edge, bend: float, places: dict[str, Place]) -> Curve:
    """Points of a parabola between two nodes, bent to one side by `bend` inches (twice the sagitta); two of a straight line."""
    a, b = np.array(places[edge.a]), np.array(places[edge.b])
    along = (b - a) * (1 if tuple(a) <= tuple(b) else -1)
    across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
    middle = (a + b) / 2 + bend * across
    s = np.linspace(0, 1, 51 if bend else 2)[:, None]
    x, y = ((1 - s) ** 2 * a + 2 * s * (1 - s) * middle + s**2 * b).T
    return x, y


def _label_width(edge: Edge) -> float:
    return max(style.text_width(edge.name, JOINT_FONT), style.text_width(edge.type, JOINT_FONT)) + 0.1


def _box_width(text: str) -> float:
    return style.text_width(text, BODY_FONT) + 0.2


def _centred(place: Place, width: float, height: float) -> Box:
    return place[0] - width / 2, place[0] + width / 2, place[1] - height / 2, place[1] + height / 2


def _overlap(a: Box, b: Box) -> float:
    """The area that two boxes share."""
    return max(0.0, min(a[1], b[1]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[2], b[2]))
