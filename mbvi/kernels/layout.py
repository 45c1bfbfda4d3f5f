"""The arrays that describe a system, a scheme and a workspace; kinds and status codes.

A system is a forest of *links*. A link hangs from its parent by one elementary joint (revolute, prismatic, screw or
unit-quaternion ball) whose axis is the z axis of the link's own frame; the joints of a model are sequences of these
with massless links between. A body with coordinates of its own hangs from the world by a translation along x, y and z.
Every kernel takes these tuples and chooses by the integer kinds in them, so that one compiled kernel serves every model.
"""

from numba import types

from mbvi.kernels.compiler.packed import Packed

# Elementary joints: column KIND of System.links.
REVOLUTE, PRISMATIC, SCREW, QUATERNION, TRANSLATION = 0, 1, 2, 3, 4
# Columns of System.links (L, 7): parent link or -1, kind, first coordinate, 1 where the fixed rotation is the identity, anchor
# (the last of the sliders and translations that its path from the world begins with, or else the first link), last link of its
# tree, and of the smallest run of links around it that contains whole trees.
PARENT, KIND, DOF, ALIGNED, ANCHOR, LAST_LINK, LAST_OF_RUN = 0, 1, 2, 3, 4, 5, 6
# Columns of System.geometry (L, 24), all in the link's own frame unless said otherwise.
ROTATION = 0  # 9: rows of the fixed rotation, joint frame to parent frame
PLACE = 9  # 3: joint's place in the parent's frame [m]
PITCH = 12  # advance along the axis per coordinate: a screw's pitch [m/rad], 1 of a prismatic joint
MASS = 13  # [kg]
MOMENT = 14  # 3: first moment, mass times centre of mass [kg m]
INERTIA = 17  # 6: xx, yy, zz, xy, xz, yz about the link's origin [kg m²]
SUBTREE_MASS = 23  # [kg]

# Joint forces: System.joint_forces (., 4) = kind, coordinate, function, input; joint_force_data (., 6) = constant, rest. The
# function is the force at a time, a potential V(q) of the coordinate, or the force at a rate of the coordinate. Of an actuator it
# is the input at a time; where it is -1, the input is the number that System.inputs has for it, which may change between steps;
# where it is -2 - i, the function force gives it, as number i behind the generalized forces.
# The data of an actuator are what the columns below name. The coordinate is -1 of what acts at a frame or along a tendon.
JOINT_SPRING, JOINT_DAMPER, JOINT_FORCE, JOINT_POTENTIAL, JOINT_RATE_FORCE, ACTUATOR = 0, 1, 2, 3, 4, 5
INPUT = 3
NUMBER, BY_FUNCTION = -1, -2
BY_INPUT, BIAS, BY_PLACE, BY_RATE, LOWEST, HIGHEST = range(6)
CONSERVATIVE_JOINT_FORCES = JOINT_SPRING, JOINT_POTENTIAL
# Body forces: System.body_forces (., 6) = kind, link a, link b, three functions; body_force_data (., 17) = point a,
# point b (link frame; world frame for link -1), constant, rest length, rotation of the body in link b.
# Forces and torques act on b; their functions are components at a time. Those of the kinds from SPRING on act between two points,
# along the line between them; the first function is a potential V(l) of the length, or the force at a rate of the length.
FORCE_WORLD, FORCE_BODY, TORQUE_WORLD, TORQUE_BODY, SPRING, DAMPER, LENGTH_POTENTIAL, LENGTH_RATE_FORCE = range(8)
CONSERVATIVE_BODY_FORCES = SPRING, LENGTH_POTENTIAL
# Bushings: System.bushings (., 2) = link a, link b; bushing_data (., 36), see `bushings`.
# Actuators of frames: System.frame_actuators (., 2), frame_actuator_data (., 9), see `frame_actuators`.
# Time functions: System.time_functions (., 3) = kind, start, length into program / table.
CONSTANT, PROGRAM, TABLE = 0, 1, 2
# Constraints: System.constraints (k, 8) = kind, links a and b, function (-1: none), its argument (a coordinate; -1: the
# time), first entry of the Jacobian's row and their number (0: an idle row), 1 where links and points are those of the row before
# that is not idle.
# System.constraint_data (k, 13) = point a, point b, direction u in link a, direction w in link b (link frames; world frame for
# link -1), constant.
# OWN: of a user's function; ROLL and OWN_RATE hold velocities, A(q) v = a, and their g is 0.
UNIT_QUATERNION, ALONG, ACROSS, DISTANCE, COORDINATES, OWN, CONTACT, ROLL, OWN_RATE, EXPRESSED = range(10)
GEOMETRIC = ALONG, ACROSS, DISTANCE
TOUCHING = CONTACT, ROLL
OF_VELOCITIES = ROLL, OWN_RATE
CONSTRAINT_KIND, LINK_A, LINK_B, FUNCTION, ARGUMENT, FIRST_ENTRY, ENTRIES, HAS_SAME_POINTS = 0, 1, 2, 3, 4, 5, 6, 7
POINT_A, POINT_B, DIRECTION_U, DIRECTION_W, OFFSET = 0, 3, 6, 9, 12
# Contacts and edges, see `rolling`: System.touches (., 3) = row of the constraint, surface, and part: the gap, or the velocity
# along the first or the second tangent. System.touch_data (., 8) = shape xx, yy, zz, xy, xz, yz in the frame of link b [m²],
# rounding [m], radius of the surface, negative where b is inside [m]. In System.constraint_data u is a plane's normal or a
# cylinder's axis in link a, w a plane's first tangent in link a, and of an edge u is the direction across it, in link b.
PLANE, CYLINDER, SPHERE, EDGE = 0, 1, 2, 3
TOUCH_ROW, SURFACE, PART = 0, 1, 2
OF_GAP, FIRST_TANGENT, SECOND_TANGENT = 0, 1, 2
SHAPE, ROUNDING, SURFACE_RADIUS = 0, 6, 7
# Expressions, see `expressed`: System.expressions (., 5) = row of the constraint, first of its variables, of which the time is
# one, their number, and start and end of its program in System.operations. System.variables (., 4) = kind, coordinate or
# link, first term and number of terms. System.variable_points (., 3) = place in the link [m]. System.terms (.,) = entry of the
# constraint's row, of a coordinate that moves the variable.
EXPRESSION_ROW, FIRST_VARIABLE, VARIABLES, EXPRESSION_START, EXPRESSION_END = 0, 1, 2, 3, 4
VARIABLE_KIND, VARIABLE_OF, FIRST_TERM, TERMS = 0, 1, 2, 3
OF_TIME, OF_COORDINATE = 0, 1  # kinds of variables; the places along x, y and z follow
# Tendons, see `tendons`: System.tendons (., 7) = row of its force in System.joint_forces, the same columns as an expression, and
# first and number of its coordinates in System.tendon_coordinates (.,). A term of its variables is the index of one of these.
TENDON_FORCE, FIRST_COORDINATE, COORDINATES_OF_TENDON = 0, 5, 6
# Entries of the constraint Jacobian: System.entries (.,) = coordinate. System.signs: +1 on the side of link b, -1 on that of
# link a, or the factor of a coordinate. The entry of a function's argument is the last of its row.
# Borders, entries of a row whose coordinates follow each other in one node, by the earlier of their nodes: System.borders (., 7)
# = node of the coordinates and the first of them in it, node of the row and the row in it, first entry, end, and column of the
# pair of nodes.
BORDER_NODE, BORDER_LOCAL, BORDER_ROW_NODE, BORDER_ROW, BORDER_FIRST, BORDER_END, BORDER_COLUMN = range(7)
# Nodes of elimination, in their order: System.nodes (., 23) = numbers of coordinates and of constraint rows, first place in a
# right side, place of its diagonal block in the second derivatives, first pair and number of pairs, first target, first of its
# coordinates in System.members, how many of its unknowns earlier nodes are tied to (all, or its coordinates), numbers of lanes
# that hold its unknowns and those tied to, length of the rows of the blocks that tie it to later nodes, first and number of the
# blocks of second derivatives and of the borders that it has with itself and later nodes, and the first of its unknowns that M
# and G tie to later nodes. Then places in the matrix of M and G: of the diagonal block, and of row 0 of what ties it to later
# nodes and these to it; then the same in a Jacobian.
(
    NODE_COORDINATES, NODE_ROWS, NODE_START, SECOND_DIAGONAL, FIRST_PAIR, PAIRS, FIRST_TARGET, FIRST_MEMBER, TIED, NODE_LANES,
    TIED_LANES, STRIDE, FIRST_BLOCK, BLOCKS, FIRST_BORDER, BORDERS, TIES_FROM, DIAGONAL, UPPER, LOWER,
) = range(20)  # fmt: skip
# Pairs of nodes: System.pairs (., 4) = later node that this one is tied to, first column of their blocks in the rows of this one,
# and places of the blocks (this, later) and (later, this) in the second derivatives (-1: not stored). System.targets: of every
# two pairs of a node, the column of the pair of their later nodes.
LATER, COLUMN, SECOND_UPPER = 0, 1, 2
# Blocks of second derivatives, by the earlier of their nodes: System.blocks (., 4) = row node, column node, place, place of the
# mirror.
BLOCK_ROW, BLOCK_COLUMN, BLOCK_SECOND, BLOCK_MIRROR = 0, 1, 2, 3

# What a run ends with.
OK, NOT_CONVERGED, SINGULAR, NOT_FINITE = 0, 1, 2, 3

# Signatures of a system's own functions.
_vector = types.float64[::1]
# What a user's functions are compiled for: numbers to be read, real and complex, and to be written.
READ, READ_COMPLEX = (types.Array(kind, 1, "C", readonly=True) for kind in (types.float64, types.complex128))
WRITTEN, WRITTEN_COMPLEX = types.float64[::1], types.complex128[::1]
OWN_FORCE = ((types.float64, READ, READ, WRITTEN),)
OWN_PARAMETER = types.float64
OWN_MASS_MATRIX = ((READ, types.float64[:, ::1]), (READ_COMPLEX, types.complex128[:, ::1]))
OWN_POTENTIAL = ((READ,), (READ_COMPLEX,))
OWN_RATES = OWN_MASS_MATRIX  # a matrix too
OWN_CONSTRAINTS = ((READ, WRITTEN), (READ_COMPLEX, WRITTEN_COMPLEX))
# Matrices are flat, row by row.
GRADIENT = types.float64(types.float64, _vector, _vector, _vector, _vector)  # t, q, v → p, f
HESSIAN = types.float64(types.float64, _vector, _vector, _vector, _vector, _vector, _vector)  # → Lvv, Lvq, Kqv, Kqq
POTENTIAL = types.float64(types.float64, _vector)  # t, q; returns V
VECTOR_POTENTIAL = types.float64(types.float64, _vector, _vector)  # t, q → A, the momentum at rest
CONSTRAINT = types.float64(types.float64, _vector, _vector, _vector, _vector)  # t, q → g, G, g_t
CURVATURE = types.float64(types.float64, _vector, _vector, _vector)  # t, q, lam → adds ∂²(lamᵀg)/∂q²
FORCE = types.float64(types.float64, _vector, _vector, _vector, _vector)  # t, q, v, force_parameters → adds to F
TIME_RATES = types.float64(types.float64, _vector, _vector, _vector, _vector)  # t, q, v → p_t, 2 G_t v + g_tt


class System(Packed):
    """A system as arrays and functions; the columns are named above.

    n, k                            int               numbers of coordinates and of constraints
    is_tree                         int               1: links; 0: the functions gradient … curvature
    is_open                         int               1 for a tree of joints with no constraints but those of unit
                                                      quaternions
    is_planar                       int               1 where all links are revolute and hang on parallel axes, see
                                                      `planar_tree`
    is_geometric                    int               1 where constraints depend on the links' poses
    gravity                         (3,)              [m/s²]
    links, geometry                 (L, 7), (L, 24)
    joint_forces, joint_force_data  (., 4), (., 6)    a row for each force on a coordinate
    inputs                          (.,)              of the actuators: the value of each, where it is no function of time
    body_forces, body_force_data    (., 6), (., 17)   a row for each force on bodies
    bushings, bushing_data          (., 2), (., 36)   a row for each bushing
    frame_actuators                 (., 2)            a row for each actuator of a frame; its motor is a joint force
    frame_actuator_data             (., 9)
    time_functions                  (., 3)
    operations, numbers             (.,)              programs in postfix form, and constants and tables
    constraints, constraint_data    (k, 8), (k, 13)   rows of the constraints
    touches, touch_data             (., 3), (., 8)    a row for each constraint of a contact or an edge
    expressions, variables          (., 5), (., 4)    constraints by expressions, and the variables of these and of tendons
    variable_points, terms          (., 3), (.,)
    tendons, tendon_coordinates     (., 7), (.,)      a row for each force along a tendon, and the coordinates of all of them
    rates                           (r,)              rows of the constraints on velocities
    entries, signs                  (E,)              entries of the constraint Jacobian, G, or A of velocities
    coordinate_links                (n,)              link of each coordinate
    armature                        (n,), or (0,)     inertia that each coordinate has by itself, as of a rotor on its
                                                      joint [kg m² or kg]; empty where none has any
    before                          (n,)              coordinate before each on its path from the world, the one before
                                                      it in its link first; -1
    reference                       (nodes,)          a size of the scaled pivots of constraints that close loops; 0 for
                                                      other nodes
    redundant                       (nodes,)          how many of these constraints follow from others (-1: not counted
                                                      yet); 0 for other nodes
    scales                          (side_size,)      of the unknowns, at their places in a right side: with them pivots
                                                      have no units
    anchored                        (n,)              1 for a coordinate of a slider or translation that is part of an
                                                      anchor, 0 for others
    periodic                        (n,)              1 for an angle that matters only up to whole turns, 0 for others
    coordinate_nodes, row_nodes     (n, 2), (k, 2)    node, and index in it; node −1 of an idle row
    nodes                           (nodes, 23)       the elimination: see above and `saddle`
    members, pairs, targets         (n,), (., 4), (.,)
    blocks, borders                 (., 4), (., 7)
    places                          (n + k,)          of coordinates and constraint rows in a right side of one stage,
                                                      (side_size,); of idle rows the first behind the nodes, where
                                                      solutions stay 0
    mass_size, matrix_size          int               numbers of entries of the matrix of M and G, and of a Jacobian
    second_size, side_size          int               numbers of entries of second derivatives, and of a right side
    force_parameters                (.,)              of the function force: the values of its parameters
    gradient, hessian, potential, vector_potential, constraint, curvature, force, time_rates      compiled functions, or
                                                                                                  0
    """


class Scheme(Packed):
    """A Galerkin scheme as arrays: section "Schemes" of the theory.

    A, B                   (m, s+1)        values and derivatives of the Lagrange basis at the m quadrature nodes
    b, c                   (m,)            weights and nodes
    d                      (s+1,)          control points
    K                      (s, s)          K[j, l-1] = sum_i b_i B_ij B_il, j = 0 … s-1, l = 1 … s
    K_inverse              (s, s)
    a                      (s, s)          velocities at the nodes to places there, see `velocities`; (0, 0) where they
                                           do not determine the polynomial
    ahead                  (2, s, 2 s)     extrapolation of the unknowns of a step from those of the last two; (2, s, 0)
                                           where there is none
    ahead_of_velocities    (2, s, 2 s)     the same where velocities are the unknowns
    fractions              (r,)            substeps of a composition, as fractions of the step
    is_projected           int             whether the momenta given out satisfy the hidden constraint
    """
