"""Triangles to pixels on the processor: depth, shadows, light, and the mean of four samples in every pixel.

A point at (x, y, z) along the camera's right, up and forward axes is seen at X = W/2 + f x/z, Y = H/2 − f y/z. In the picture
1/z is linear, and so is any value divided by z. Every sample of the picture keeps the largest 1/z and the triangle that has it.
The same seen from the sun, from so far that z is linear itself, shows what lies in shadow.

Where no triangle is, which is most of a picture, it is as it was before but for shadows on the floor. So of every row the first
and last sample with a triangle are kept, and all work is done between them.

No solver calls these kernels, which is why they do not stand with the solvers'.

Units, where a sample, a pixel and a number of one have 1: world, vertices, floor, bias, x, y, z, limits, shadows [m]; turned,
normals, up [1]; matrices, camera, sun [1, m], axes of the sun to the right and up [1/m]; screen [1, 1/m], or of parallel rays
[1, m]; depth [1/m], or of parallel rays [m]; picture, behind, colors, to_srgb [1]; owners, faces, nearest, first, last, places,
shadow_first, shadow_last, t [1].
"""

import numpy as np

from mbvi.kernels.compiler.decorators import solver_kernel

SAMPLES = 2  # along a pixel's edge
SKY, GROUND, SUN, SHINE = 0.66, 0.46, 0.72, 0.22  # light from above, below and the sun, and its reflection
FLOOR_SHADOW = 0.30


@solver_kernel
def fill_world(world, turned, vertices, normals, owners, matrices):
    """Vertices and normals of all things in the world.

    world, turned    (V, 3)     out
    vertices, normals (V, 3)    in the frames of the things
    owners           (V,)       the thing of each vertex
    matrices         (K, 3, 4)  rotation with scale, and place, of the things
    """
    for i in range(len(vertices)):
        M = matrices[owners[i]]
        for row in range(3):
            world[i, row] = M[row, 3]
            turned[i, row] = 0.0
            for column in range(3):
                world[i, row] += M[row, column] * vertices[i, column]
                turned[i, row] += M[row, column] * normals[i, column]


@solver_kernel
def fill_screen(screen, world, camera, focus, width, height):
    """Picture coordinates X, Y and 1/z of points.

    screen   (V, 3)  out
    world    (V, 3)
    camera   (4, 3)  right, up and forward axes, and place
    focus    f, in samples; 0: parallel rays, whose X and Y are scaled by 1 and whose third coordinate is −z
    """
    for i in range(len(world)):
        x = y = z = 0.0
        for k in range(3):
            d = world[i, k] - camera[3, k]
            x += camera[0, k] * d
            y += camera[1, k] * d
            z += camera[2, k] * d
        if focus > 0.0:
            screen[i, 2] = 1.0 / z if z > 0.0 else -1.0
            screen[i, 0] = 0.5 * width + focus * x * screen[i, 2]
            screen[i, 1] = 0.5 * height - focus * y * screen[i, 2]
        else:
            screen[i, 0] = 0.5 * width + x
            screen[i, 1] = 0.5 * height - y
            screen[i, 2] = -z


@solver_kernel
def span(value, slope, first, last):
    """The first and the last of the whole numbers i from first to last with value + i slope ≥ 0."""
    if slope > 0.0:
        return max(first, np.ceil(-value / slope)), last
    if slope < 0.0:
        return first, min(last, np.floor(-value / slope))
    return (first, last) if value >= 0.0 else (1.0, 0.0)


@solver_kernel
def fill_nearest(depth, nearest, first, last, screen, faces, is_perspective):
    """The largest third coordinate in every sample, the triangle that has it, and the samples of each row that have one.

    depth       (H, W)  in and out; −inf where there is no triangle
    nearest     (H, W)  in and out; −1 where there is none
    first, last (H,)    in and out: between them each row of depth and nearest is what an earlier picture left
    screen      (V, 3)
    faces       (T, 3)
    """
    height, width = depth.shape
    for j in range(height):
        for i in range(first[j], last[j] + 1):
            depth[j, i] = -np.inf
            nearest[j, i] = -1
        first[j], last[j] = width, -1
    for t in range(len(faces)):
        a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
        ax, ay, az = screen[a, 0], screen[a, 1], screen[a, 2]
        bx, by, bz = screen[b, 0], screen[b, 1], screen[b, 2]
        cx, cy, cz = screen[c, 0], screen[c, 1], screen[c, 2]
        if is_perspective and (az <= 0.0 or bz <= 0.0 or cz <= 0.0):  # behind the camera
            continue
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0 or not np.isfinite(area):
            continue
        left = max(0.0, np.ceil(min(ax, bx, cx) - 0.5))
        right = min(width - 1.0, np.floor(max(ax, bx, cx) - 0.5))
        top = max(0, int(np.ceil(min(ay, by, cy) - 0.5)))
        bottom = min(height - 1, int(np.floor(max(ay, by, cy) - 0.5)))
        if right < left:
            continue
        b_x, b_y, c_x, c_y = (cy - ay) / area, -(cx - ax) / area, -(by - ay) / area, (bx - ax) / area
        slope = b_x * (bz - az) + c_x * (cz - az)
        for j in range(top, bottom + 1):
            px, py = left + 0.5 - ax, j + 0.5 - ay
            wb, wc = px * b_x + py * b_y, px * c_x + py * c_y  # weights of b and c; that of a is 1 − wb − wc
            low, high = span(wb, b_x, 0.0, right - left)
            low, high = span(wc, c_x, low, high)
            low, high = span(1.0 - wb - wc, -b_x - c_x, low, high)
            if high < low:
                continue
            start, end = int(left) + int(low), int(left) + int(high)
            first[j], last[j] = min(first[j], start), max(last[j], end)
            z = az + wb * (bz - az) + wc * (cz - az) - int(left) * slope
            for i in range(start, end + 1):
                if z + i * slope > depth[j, i]:
                    depth[j, i] = z + i * slope
                    nearest[j, i] = t


@solver_kernel
def in_sunlight(sun, x, y, z, size):
    """Column and row of a point in the sun's picture, of so many samples along an edge, and its depth there.

    sun   (4, 3)   right, up and forward axes, and place
    """
    X = Y = Z = 0.0
    for k in range(3):
        d = (x, y, z)[k] - sun[3, k]
        X += sun[0, k] * d
        Y += sun[1, k] * d
        Z += sun[2, k] * d
    column, row = int(0.5 * size + X), int(0.5 * size - Y)
    if column < 1 or row < 1 or column > size - 2 or row > size - 2:
        return -1, -1, 0.0
    return column, row, Z


@solver_kernel
def lit_part(shadows, column, row, limit):
    """The part, 0 to 1, of the sun's light: of nine neighbours in its picture those whose depth is at most the limit.

    shadows   (S, S)   depth as seen from the sun
    """
    seen = 0
    for j in range(-1, 2):
        for i in range(-1, 2):
            if shadows[row + j, column + i] <= limit:
                seen += 1
    return seen / 9.0


@solver_kernel
def has_neighbours(first, last, column, row):
    """Whether any of nine neighbours lies between the first and the last sample of its row that has a triangle.

    first, last   (S,)   of every row
    """
    before = min(first[row - 1], first[row], first[row + 1]) <= column + 1
    return before and max(last[row - 1], last[row], last[row + 1]) >= column - 1


@solver_kernel
def has_samples(nearest, column, row):
    """Whether any sample of a pixel has a triangle.

    nearest   (2H, 2W)   triangle in each sample
    """
    for sample in range(SAMPLES * SAMPLES):
        if nearest[SAMPLES * row + sample // SAMPLES, SAMPLES * column + sample % SAMPLES] >= 0:
            return True
    return False


@solver_kernel
def fill_ground(places, limits, camera, focus, sun, up, floor, bias, size):
    """Where the floor that each pixel shows lies in the sun's picture.

    places   (H, W, 2)  out, column and row; −1 where there is no floor, or no light that a body could hold
    limits   (H, W)     out, the depth there from which a body is before the floor
    camera, sun (4, 3)  right, up and forward axes, and place
    focus    f, in pixels
    up       (3,)       the floor is at the height `floor` along it
    size     samples along an edge of the sun's picture
    """
    height, width = limits.shape
    for row in range(height):
        for column in range(width):
            places[row, column] = -1
            dx, dy = (column + 0.5 - 0.5 * width) / focus, (0.5 * height - row - 0.5) / focus
            fall = rise = 0.0
            for k in range(3):
                fall -= up[k] * (camera[2, k] + dx * camera[0, k] + dy * camera[1, k])
                rise += up[k] * camera[3, k]
            if fall > 1e-9:
                s = (rise - floor) / fall
                x = camera[3, 0] + s * (camera[2, 0] + dx * camera[0, 0] + dy * camera[1, 0])
                y = camera[3, 1] + s * (camera[2, 1] + dx * camera[0, 1] + dy * camera[1, 1])
                z = camera[3, 2] + s * (camera[2, 2] + dx * camera[0, 2] + dy * camera[1, 2])
                places[row, column, 0], places[row, column, 1], depth = in_sunlight(sun, x, y, z, size)
                limits[row, column] = bias - depth


@solver_kernel
def seen_color(t, i, j, screen, world, normals, colors, faces, shadows, camera, sun, up, bias):
    """Red, green and blue, linear, of triangle t in the sample at column i and row j.

    Arguments are those of `fill_picture`.
    """
    A, B, C = faces[t, 0], faces[t, 1], faces[t, 2]
    ax, ay = screen[A, 0], screen[A, 1]
    ux, uy, vx, vy = screen[B, 0] - ax, screen[B, 1] - ay, screen[C, 0] - ax, screen[C, 1] - ay
    px, py = i + 0.5 - ax, j + 0.5 - ay
    area = ux * vy - uy * vx
    wb = (px * vy - py * vx) / area
    wc = (ux * py - uy * px) / area
    wa = (1.0 - wb - wc) * screen[A, 2]
    wb, wc = wb * screen[B, 2], wc * screen[C, 2]
    whole = wa + wb + wc
    wa, wb, wc = wa / whole, wb / whole, wc / whole
    r = wa * colors[A, 0] + wb * colors[B, 0] + wc * colors[C, 0]
    g = wa * colors[A, 1] + wb * colors[B, 1] + wc * colors[C, 1]
    b = wa * colors[A, 2] + wb * colors[B, 2] + wc * colors[C, 2]
    nx = wa * normals[A, 0] + wb * normals[B, 0] + wc * normals[C, 0]
    ny = wa * normals[A, 1] + wb * normals[B, 1] + wc * normals[C, 1]
    nz = wa * normals[A, 2] + wb * normals[B, 2] + wc * normals[C, 2]
    length = np.sqrt(nx * nx + ny * ny + nz * nz)
    if length == 0.0:
        return r, g, b
    x = wa * world[A, 0] + wb * world[B, 0] + wc * world[C, 0]
    y = wa * world[A, 1] + wb * world[B, 1] + wc * world[C, 1]
    z = wa * world[A, 2] + wb * world[B, 2] + wc * world[C, 2]
    ex, ey, ez = camera[3, 0] - x, camera[3, 1] - y, camera[3, 2] - z
    far = np.sqrt(ex * ex + ey * ey + ez * ez)
    sign = (1.0 if nx * ex + ny * ey + nz * ez >= 0.0 else -1.0) / length
    nx, ny, nz = sign * nx, sign * ny, sign * nz
    above = 0.5 + 0.5 * (nx * up[0] + ny * up[1] + nz * up[2])
    towards = -(nx * sun[2, 0] + ny * sun[2, 1] + nz * sun[2, 2])
    light, shine = GROUND + (SKY - GROUND) * above, 0.0
    if towards > 0.0:
        off, part = 2.0 * bias, 1.0
        column, row, depth = in_sunlight(sun, x + off * nx, y + off * ny, z + off * nz, len(shadows))
        if column >= 0:
            part = lit_part(shadows, column, row, bias - depth)
        light += SUN * towards * part
        hx, hy, hz = ex / far - sun[2, 0], ey / far - sun[2, 1], ez / far - sun[2, 2]
        half = np.sqrt(hx * hx + hy * hy + hz * hz)
        glance = max(0.0, (nx * hx + ny * hy + nz * hz) / half)
        shine = SHINE * part * glance**40
    return r * light + shine, g * light + shine, b * light + shine


@solver_kernel
def fill_picture(
    picture,
    behind,
    places,
    limits,
    nearest,
    first,
    last,
    screen,
    world,
    normals,
    colors,
    faces,
    shadows,
    shadow_first,
    shadow_last,
    camera,
    sun,
    up,
    bias,
    to_srgb,
):
    """Into a picture: light on the triangles, and shadows on the floor behind them.

    picture    (H, W, 3)    in and out, 0 to 255 in sRGB: what is behind all triangles, without shadows
    behind     (H, W, 3)    the same, linear
    places, limits          (H, W, 2), (H, W) of `fill_ground`
    nearest, first, last    (2H, 2W), (2H,), (2H,) of `fill_nearest`: triangle in each sample
    screen, world, normals, colors  (V, 3) of the vertices; a normal of length 0 is not lit
    faces      (T, 3)
    shadows, shadow_first, shadow_last  (S, S), (S,), (S,) of `fill_nearest`: depth as seen from the sun
    camera, sun (4, 3)      right, up and forward axes, and place
    up         (3,)
    to_srgb    (4096,)      sRGB of linear values from 0 to 1
    """
    height, width = limits.shape
    whole = SAMPLES * SAMPLES
    scale = 4095.0 / whole
    for row in range(height):
        start, end = first[SAMPLES * row], last[SAMPLES * row]
        for j in range(SAMPLES * row + 1, SAMPLES * row + SAMPLES):
            start, end = min(start, first[j]), max(end, last[j])
        start, end = start // SAMPLES, end // SAMPLES
        for column in range(width):
            has_triangle = start <= column <= end and has_samples(nearest, column, row)
            i, j, shade = places[row, column, 0], places[row, column, 1], 1.0
            if i >= 0 and has_neighbours(shadow_first, shadow_last, i, j):
                shade = 1.0 - FLOOR_SHADOW * (1.0 - lit_part(shadows, i, j, limits[row, column]))
            if shade == 1.0 and not has_triangle:
                continue
            floor_red, floor_green, floor_blue = (
                shade * behind[row, column, 0],
                shade * behind[row, column, 1],
                shade * behind[row, column, 2],
            )
            red, green, blue = whole * floor_red, whole * floor_green, whole * floor_blue
            if has_triangle:
                red = green = blue = 0.0
                r = g = b = 0.0
                before = -2
                for sample in range(whole):
                    j, i = SAMPLES * row + sample // SAMPLES, SAMPLES * column + sample % SAMPLES
                    t = nearest[j, i]
                    if t != before:
                        before = t
                        if t < 0:
                            r, g, b = floor_red, floor_green, floor_blue
                        else:
                            r, g, b = seen_color(
                                t, i, j, screen, world, normals, colors, faces, shadows, camera, sun, up, bias
                            )
                    red += r
                    green += g
                    blue += b
            picture[row, column, 0] = to_srgb[min(4095, int(scale * red))]
            picture[row, column, 1] = to_srgb[min(4095, int(scale * green))]
            picture[row, column, 2] = to_srgb[min(4095, int(scale * blue))]
