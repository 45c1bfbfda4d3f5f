// Poses between frames. A time u runs from 0, the first frame, to frames - 1. Rotations follow the great circle between
// their quaternions, places a cubic through the neighbouring frames (Catmull and Rom).
'use strict';

/** The place at time u, into a Vector3. */
function placeAt(places, u, out) {
  const frames = places.length / 3, i = Math.min(Math.floor(u), Math.max(frames - 2, 0)), s = u - i;
  if (frames === 1) return out.fromArray(places);
  const at = (frame, axis) => places[3 * Math.min(Math.max(frame, 0), frames - 1) + axis];
  const value = axis => {
    const p1 = at(i, axis), p2 = at(i + 1, axis);
    const p0 = i > 0 ? at(i - 1, axis) : 2 * p1 - p2, p3 = i + 2 < frames ? at(i + 2, axis) : 2 * p2 - p1;
    return p1 + s / 2 * (p2 - p0 + s * (2 * p0 - 5 * p1 + 4 * p2 - p3 + s * (3 * (p1 - p2) + p3 - p0)));
  };
  return out.set(value(0), value(1), value(2));
}

/** The rotation at time u, into a Quaternion. */
function rotationAt(quaternions, u, out) {
  const frames = quaternions.length / 4, i = Math.min(Math.floor(u), Math.max(frames - 2, 0));
  if (frames === 1) return out.fromArray(quaternions);
  return out.fromArray(quaternions, 4 * i).slerp(next.fromArray(quaternions, 4 * (i + 1)), u - i);
}
const next = new THREE.Quaternion();
