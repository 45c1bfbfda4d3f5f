// The viewer of an animation: what moves, the camera, the controls, the plots.

const data = JSON.parse(document.getElementById('data').textContent);
/** The bytes of a text in base64. `Uint8Array.from` would make an array of letters first, which hundreds of megabytes do not fit in. */
function bytes(text) {
  const letters = atob(text), found = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) found[i] = letters.charCodeAt(i);
  return found.buffer;
}
let block = bytes(document.getElementById('numbers').textContent);
const floats = ([place, length]) => new Float32Array(block, 4 * place, length);
const integers = ([place, length]) => new Uint32Array(block, 4 * place, length);
const byId = id => document.getElementById(id);
const vector = ([x, y, z]) => new THREE.Vector3(x, y, z);
let duration = data.end - data.start || 1;
const FORCE = '#C2185B', MOMENTUM = '#5E35B1', AXES = ['#D55E00', '#009E73', '#0072B2'];

/** The frame at a time, a number between two whole ones. Frames are as far apart in time, but for those of a run that is followed. */
function frameAt(t) {
  const { times, frames } = data;
  if (!times) return (t - data.start) / duration * (frames - 1);
  let low = 0, high = frames - 1;
  while (high - low > 1) {
    const middle = low + high >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  return high > low ? Math.min(Math.max(low + (t - times[low]) / (times[high] - times[low]), 0), high) : 0;
}
/** The same among the samples of curves and arrows. */
const sampleAt = u => data.samples === data.frames ? u : u * (data.samples - 1) / (data.frames - 1);
const sampleTime = i => data.times ? data.times[i] : data.start + duration * i / (data.samples - 1);

// ---------------------------------------------------------------------------------------------------- the scene

const stage = byId('stage');
let renderer;
try {
  renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
} catch (error) {
  stage.insertAdjacentHTML('beforeend', '<p id="problem">This page needs a browser with WebGL 2.</p>');
  throw error;
}
renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
renderer.shadowMap.enabled = true;
renderer.shadowMap.type = THREE.PCFShadowMap;
renderer.toneMapping = THREE.NeutralToneMapping;
stage.append(renderer.domElement);

const scene = new THREE.Scene(), up = vector(data.up), size = data.size;
let extent = floats(data.extent);
const low = new THREE.Vector3(), high = new THREE.Vector3(), corner = new THREE.Vector3(), center = new THREE.Vector3();
function bound() {
  low.setScalar(Infinity);
  high.setScalar(-Infinity);
  for (let i = 0; i < extent.length; i += 3) {
    low.min(corner.fromArray(extent, i));
    high.max(corner);
  }
  center.copy(low).add(high).multiplyScalar(0.5);
}
bound();
const radius = low.distanceTo(high) / 2;

function lights() {
  const sky = new THREE.HemisphereLight('#ffffff', '#dde4ea', 2.7);
  sky.position.copy(up);
  const view = vector(data.view), right = up.clone().cross(view).normalize();
  const sun = new THREE.DirectionalLight('#fff6e8', 2.6);
  sun.position.copy(center).addScaledVector(up, 2.2 * radius).addScaledVector(view, 1.3 * radius).addScaledVector(right, -0.9 * radius);
  sun.target.position.copy(center);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  Object.assign(sun.shadow.camera, { left: -1.3 * radius, right: 1.3 * radius, top: 1.3 * radius, bottom: -1.3 * radius, near: 0.1 * radius, far: 5 * radius });
  Object.assign(sun.shadow, { normalBias: 0.002 * radius, bias: -0.0005, radius: 3 });
  scene.add(sky, sun, sun.target);
  return sun;
}

/** A step of 1, 2 or 5 times a power of ten that is at most x. */
function roundStep(x) {
  const unit = 10 ** Math.floor(Math.log10(x));
  return unit * [5, 2, 1].find(m => m * unit <= x);
}

const placeOfFloor = () => center.clone().addScaledVector(up, data.floor - center.dot(up));
const CELL = roundStep(radius / 2.5);

/** Shadows and a grid that fades away; nothing without gravity. */
function floor() {
  if (data.floor === null) return null;
  const group = new THREE.Group(), plane = new THREE.PlaneGeometry(12 * radius, 12 * radius);
  group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), up);
  group.position.copy(placeOfFloor());
  const shadow = new THREE.Mesh(plane, new THREE.ShadowMaterial({ color: '#22303d', opacity: 0.26, depthWrite: false }));
  shadow.receiveShadow = true;
  const grid = new THREE.Mesh(plane, new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, side: THREE.DoubleSide,
    uniforms: { cell: { value: CELL }, reach: { value: 3.2 * radius } },
    vertexShader: 'varying vec2 p; void main() { p = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.); }',
    fragmentShader: `varying vec2 p; uniform float cell, reach;
      float lines(float d) { vec2 g = abs(fract(p / d - .5) - .5) * d / fwidth(p); return 1. - min(min(g.x, g.y), 1.); }
      void main() { float fade = 1. - smoothstep(.15, 1., length(p) / reach);
        gl_FragColor = vec4(.33, .4, .48, fade * fade * max(.34 * lines(cell), .13 * lines(cell / 5.))); }`,
  }));
  grid.renderOrder = -2;
  shadow.renderOrder = -1;
  group.add(grid, shadow);
  scene.add(group);
  return group;
}

function geometryOf(each) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(floats(each.vertices), 3));
  geometry.setAttribute('normal', new THREE.BufferAttribute(floats(each.normals), 3));
  geometry.setAttribute('color', new THREE.BufferAttribute(floats(each.tones), 3));
  geometry.setIndex(new THREE.BufferAttribute(integers(each.faces), 1));
  return geometry;
}
const geometries = data.geometries.map(geometryOf);

const things = data.things.map((each, i) => {
  const material = new THREE.MeshStandardMaterial({
    color: each.color, vertexColors: true, roughness: each.kind === 'body' ? 0.42 : 0.6, metalness: each.kind === 'link' ? 0.35 : 0.05,
    polygonOffset: true, polygonOffsetUnits: 2 * (i % 8),  // of faces in one plane the first is seen
  });
  const mesh = new THREE.Mesh(geometries[each.geometry], material);
  mesh.castShadow = mesh.receiveShadow = true;
  mesh.frustumCulled = false;
  mesh.name = each.name;
  scene.add(mesh);
  return { name: each.name, kind: each.kind, mesh, places: floats(each.places), quaternions: floats(each.quaternions), scales: each.scales && floats(each.scales) };
});

// ------------------------------------------------------------------------------------------ trails, frames, arrows

const TAIL = 480;
const TAIL_SECONDS = 4;

const trails = data.trails.map(each => {
  const geometry = new THREE.LineGeometry(), zeros = new Float32Array(3 * (TAIL + 1));
  geometry.setPositions(zeros);
  geometry.setColors(zeros);
  const material = new THREE.LineMaterial({ linewidth: 3, vertexColors: true, transparent: true, opacity: 0.9, alphaToCoverage: false });
  const line = new THREE.Line2(geometry, material);
  line.frustumCulled = false;
  scene.add(line);
  return { line, geometry, places: floats(each.places), color: new THREE.Color(each.color) };
});

const pale = new THREE.Color('#e9eef3'), mixed = new THREE.Color(), point = new THREE.Vector3();

/** The last seconds of a way, paler the longer ago: segment i of the line runs from point i to i + 1. */
function drawTrail({ geometry, places, color }) {
  const starts = geometry.attributes.instanceStart.data, colors = geometry.attributes.instanceColorStart.data;
  for (let i = 0; i <= TAIL; i++) {
    placeAt(places, frameAt(Math.max(data.start, time - TAIL_SECONDS * data.speed * (1 - i / TAIL))), point);
    mixed.copy(pale).lerp(color, i / TAIL);
    for (const segment of [i - 1, i]) {
      if (segment < 0 || segment >= TAIL) continue;
      point.toArray(starts.array, 6 * segment + (segment < i ? 3 : 0));
      mixed.toArray(colors.array, 6 * segment + (segment < i ? 3 : 0));
    }
  }
  starts.needsUpdate = colors.needsUpdate = true;
}

/** An arrow of length 1 along z. */
function arrow(color, width) {
  const group = new THREE.Group(), material = new THREE.MeshStandardMaterial({ color, roughness: 0.5, depthTest: false, transparent: true });
  const shaft = new THREE.Mesh(shaftGeometry, material), head = new THREE.Mesh(headGeometry, material);
  shaft.renderOrder = head.renderOrder = 10;  // in front of all bodies
  group.add(shaft, head);
  group.userData.width = width;
  scene.add(group);
  return group;
}
const shaftGeometry = new THREE.CylinderGeometry(1, 1, 1, 16).translate(0, 0.5, 0).rotateX(Math.PI / 2);
const headGeometry = new THREE.ConeGeometry(2.6, 1, 24).translate(0, 0.5, 0).rotateX(Math.PI / 2);
const ahead = new THREE.Vector3(0, 0, 1);

/** Lay an arrow from a place along a vector. */
function lay(group, place, along) {
  const length = along.length(), width = group.userData.width, head = Math.min(9 * width, 0.6 * length);
  group.visible = length > 0.3 * width && Number.isFinite(length);
  if (!group.visible) return;
  group.position.copy(place);
  group.quaternion.setFromUnitVectors(ahead, along.clone().divideScalar(length));
  const [shaft, tip] = group.children;
  shaft.scale.set(width, width, length - head);
  tip.scale.set(width, width, head);
  tip.position.set(0, 0, length - head);
}

const layers = { trails: true, frames: false, reactions: false, momentum: false };
let frames = [], reactions = [], momentum = null;
const from = new THREE.Vector3(), along = new THREE.Vector3();
const longestForce = Math.max(0, ...data.reactions.map(each => each.longest)), usualForce = Math.max(0, ...data.reactions.map(each => each.usual));
const shrink = Math.min(1, Math.sqrt(8 / Math.max(1, data.reactions.length)));  // of many arrows
const arrowData = each => ({ places: floats(each.places), vectors: floats(each.vectors) });

/** Make what is shown for the first time. */
function build() {
  if (layers.frames && !frames.length)
    frames = things.filter(thing => thing.kind === 'body').map(thing => ({ thing, arrows: AXES.map(color => arrow(color, 0.0028 * size)) }));
  if (layers.reactions && !reactions.length)
    reactions = data.reactions.map(each => ({ ...arrowData(each), arrow: arrow(FORCE, 0.0045 * shrink * size) }));
  if (layers.momentum && !momentum) momentum = { ...arrowData(data.momentum), arrow: arrow(MOMENTUM, 0.006 * size) };
}

/** A layer at time u; w is the same time among the samples of arrows. */
function drawLayers(u, w) {
  for (const trail of trails) if ((trail.line.visible = layers.trails)) drawTrail(trail);
  for (const { thing, arrows } of frames)
    arrows.forEach((each, axis) => {
      if (!layers.frames) return void (each.visible = false);
      along.set(0, 0, 0).setComponent(axis, 0.075 * size).applyQuaternion(thing.mesh.quaternion);
      lay(each, thing.mesh.position, along);
    });
  const draw = ({ places, vectors, arrow: each }, isShown, longest) => {
    if (!isShown) return void (each.visible = false);
    lay(each, placeAt(places, w, from), placeAt(vectors, w, along).multiplyScalar(0.25 * size / (longest || 1)));
  };
  for (const each of reactions) draw(each, layers.reactions, usualForce / shrink);
  if (momentum) draw(momentum, layers.momentum, data.momentum.usual);
}

// ---------------------------------------------------------------------------------------------------- camera

const camera = new THREE.PerspectiveCamera(28, 1, 0.01 * radius, 60 * radius);
camera.up.copy(up);
const controls = new THREE.OrbitControls(camera, renderer.domElement);
controls.enableDamping = true;
controls.minDistance = 0.05 * radius;
controls.maxDistance = 25 * radius;
const gone = new THREE.Vector3();  // as far as what a page follows has gone away

/** So far away, and aimed so, that all is in view at all times, below the title. */
function fit() {
  const view = vector(data.view), right = up.clone().cross(view).normalize(), above = view.clone().cross(right);
  const high = Math.tan(camera.fov * Math.PI / 360) * 0.84, wide = high / 0.84 * camera.aspect * 0.9;
  const target = center.clone();
  let distance = 0;
  for (let turn = 0; turn < 4; turn++) {  // the aim and the distance follow from each other
    const edge = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
    let needed = 0;
    for (let i = 0; i < extent.length; i += 3) {
      corner.fromArray(extent, i).sub(target);
      const x = corner.dot(right), y = corner.dot(above), z = corner.dot(view);
      needed = Math.max(needed, z + Math.abs(x) / wide, z + Math.abs(y) / high);
      const depth = Math.max((distance || 4 * radius) - z, 0.1 * radius);
      edge.left = Math.min(edge.left, x / depth); edge.right = Math.max(edge.right, x / depth);
      edge.low = Math.min(edge.low, y / depth); edge.high = Math.max(edge.high, y / depth);
    }
    distance = needed;
    if (turn < 3) target.addScaledVector(right, (edge.left + edge.right) / 2 * distance).addScaledVector(above, (edge.low + edge.high) / 2 * distance);
  }
  target.addScaledVector(above, 0.04 * distance * Math.tan(camera.fov * Math.PI / 360));
  controls.target.copy(target).add(gone);
  camera.position.copy(controls.target).addScaledVector(view, distance);
  controls.update();
}

let isTouched = false;
controls.addEventListener('start', () => { isTouched = true; });

function resize() {
  const { clientWidth: width, clientHeight: height } = stage;
  if (!width || !height) return;
  renderer.setSize(width, height);
  camera.aspect = width / height;
  camera.updateProjectionMatrix();
  if (!isTouched) fit();
  plots.forEach(plot => plot.resize());
  draw();
}

// ---------------------------------------------------------------------------------------------------- plots

const INK = '#1c2733', SOFT = '#7b8794';

/** A number as short as it may be, of so many digits, or so many decimals before a power of ten. */
function brief(x, digits = 4, decimals = 1) {
  if (!Number.isFinite(x)) return '–';
  if (x === 0) return '0';
  const a = Math.abs(x);
  const text = a >= 1e-3 && a < 1e5 ? String(+x.toPrecision(digits)) : x.toExponential(decimals).replace('e', '·10').replace(/10([+-]?)(\d+)$/, (_, sign, digits) =>
    '10' + (sign === '-' ? '⁻' : '') + [...digits].map(d => '⁰¹²³⁴⁵⁶⁷⁸⁹'[d]).join(''));
  return text.replace('-', '−');
}

/** The round numbers between two others, at most so many steps apart, and their texts with the digits that tell them apart. */
function ticksBetween(low, high, steps) {
  const step = roundStep((high - low) / steps), found = [];
  const exponent = x => Math.floor(Math.log10(x) + 1e-9), largest = Math.max(Math.abs(low), Math.abs(high));
  const digits = Math.min(Math.max(exponent(largest) - exponent(step) + 1, 1), 16);
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * (high - low); k++) {
    const value = +(k * step).toPrecision(16);
    found.push({ value, text: brief(value, digits, digits - 1) });
  }
  return found;
}

/** The values of a curve: those of a run that is followed are there already. */
const valuesOf = ({ values }) => values instanceof Float32Array ? values : floats(values);

class Plot {
  constructor(curve, color, choices) {
    this.color = color;
    this.figure = document.createElement('figure');
    this.figure.innerHTML = '<figcaption></figcaption><div class="box"><canvas></canvas></div>';
    const caption = this.figure.firstChild;
    this.canvas = this.figure.querySelector('canvas');
    this.value = document.createElement('output');
    if (choices) {
      this.select = document.createElement('select');
      this.select.setAttribute('aria-label', 'Coordinate');
      choices.forEach((each, i) => this.select.add(new Option(label(each), i)));
      this.select.onchange = () => { this.show(choices[this.select.value]); needsDrawing = true; };
      caption.append(this.select, this.value);
    } else {
      this.title = document.createElement('b');
      this.title.textContent = label(curve);
      caption.append(this.title, this.value);
    }
    byId('plots').append(this.figure);
    const seek = event => {
      const box = this.canvas.getBoundingClientRect();
      setTime(data.start + duration * Math.min(Math.max((event.clientX - box.left - this.left) / (box.width - this.left - 6), 0), 1));
    };
    this.canvas.onpointerdown = event => { pause(); this.canvas.setPointerCapture(event.pointerId); seek(event); };
    this.canvas.onpointermove = event => { if (event.buttons) seek(event); };
    this.left = 58;
    this.show(curve);
  }

  show(curve) {
    this.curve = curve;
    this.values = valuesOf(curve);
    const finite = this.values.filter(Number.isFinite);
    let low = Infinity, high = -Infinity;
    for (const x of finite) { low = Math.min(low, x); high = Math.max(high, x); }
    const finest = 1e-6 * Math.max(Math.abs(low), Math.abs(high));  // of numbers of seven digits
    if (!(high - low > finest)) { const middle = Number.isFinite(low) ? low : 0, half = Math.abs(middle) || 1; low = middle - half; high = middle + half; }
    this.low = low - 0.06 * (high - low);
    this.high = high + 0.06 * (high - low);
    this.back = null;
  }

  resize() { this.back = null; }

  x(t) { return this.left + (this.canvas.clientWidth - this.left - 6) * (t - data.start) / duration; }
  y(value) { return 6 + (this.canvas.clientHeight - 28) * (this.high - value) / (this.high - this.low); }

  /** Axes and curve, drawn once, then the cursor. */
  draw(u) {
    const { canvas } = this, width = canvas.clientWidth, height = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!width || !height) return;
    const context = canvas.getContext('2d');
    if (!this.back) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.paint(context, width, height);
      this.back = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height });
      this.back.getContext('2d').drawImage(canvas, 0, 0);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.back, 0, 0);
    const w = sampleAt(u), i = Math.max(Math.min(Math.floor(w), data.samples - 2), 0);
    const value = w > i ? this.values[i] + (w - i) * (this.values[i + 1] - this.values[i]) : this.values[i], x = this.x(time);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.strokeStyle = INK;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, 6);
    context.lineTo(x, height - 22);
    context.stroke();
    if (Number.isFinite(value)) {
      context.fillStyle = this.color;
      context.beginPath();
      context.arc(x, this.y(value), 4, 0, 2 * Math.PI);
      context.fill();
    }
    this.value.textContent = brief(value) + (this.curve.unit === '-' ? '' : ' ' + this.curve.unit);
  }

  paint(context, width, height) {
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = SOFT;
    context.strokeStyle = '#e6eaee';
    context.lineWidth = 1;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    const ticks = ticksBetween(this.low, this.high, Math.max(1, Math.floor((height - 28) / 50)));
    this.left = Math.max(58, ...ticks.map(({ text }) => 12 + context.measureText(text).width));
    for (const { value, text } of ticks) {
      const y = Math.round(this.y(value)) + 0.5;
      context.beginPath();
      context.moveTo(this.left, y);
      context.lineTo(width - 6, y);
      context.stroke();
      context.fillText(text, this.left - 6, y);
    }
    context.textAlign = 'center';
    for (const { value, text } of ticksBetween(data.start, data.end, 3)) {
      const x = this.x(value), half = context.measureText(text + ' s').width / 2;
      context.fillText(text + ' s', Math.min(Math.max(x, half), width - 6 - half), height - 9);
    }
    context.strokeStyle = this.color;
    context.lineWidth = 1.6;
    context.lineJoin = 'round';
    context.beginPath();
    let isDown = false;
    this.values.forEach((value, i) => {
      if (!Number.isFinite(value)) return void (isDown = false);
      context[isDown ? 'lineTo' : 'moveTo'](this.x(sampleTime(i)), this.y(value));
      isDown = true;
    });
    context.stroke();
  }
}

const label = curve => curve.name + (curve.unit && curve.unit !== '-' ? ` [${curve.unit}]` : '');
const [energy, ...coordinates] = data.curves;
const plots = [new Plot(energy, '#D55E00')];
const isMoving = curve => { const values = valuesOf(curve); return values.some(x => Math.abs(x - values[0]) > 1e-9); };
[...coordinates.filter(isMoving), ...coordinates].slice(0, Math.min(2, coordinates.length)).forEach((each, i) => {
  const plot = new Plot(each, ['#0072B2', '#009E73'][i], coordinates);
  plot.select.value = coordinates.indexOf(each);
  plots.push(plot);
});

// -------------------------------------------------------------------------------------------------- controls

const slider = byId('time'), clock = byId('clock'), play = byId('play'), speed = byId('speed');
const PLAY = '<svg viewBox="0 0 16 16"><path d="M4 2l10 6-10 6z"/></svg>', PAUSE = '<svg viewBox="0 0 16 16"><path d="M3 2h4v12H3zM9 2h4v12H9z"/></svg>';
let time = data.start, isPlaying = false, last = 0, needsDrawing = true;

[1 / 8, 1 / 4, 1 / 2, 1, 2, 4].forEach(factor => {
  speed.add(new Option(`${+(data.speed * factor).toPrecision(2)} ×`, data.speed * factor, factor === 1, factor === 1));
});
function setTime(t) {
  time = Math.min(Math.max(t, data.start), data.end);
  needsDrawing = true;
}
function setPlaying(value) {
  if (value && time >= data.end) time = data.start;
  if (value && data.live) time = data.end;  // the newest frame
  isPlaying = value;
  last = 0;
  play.innerHTML = value ? PAUSE : PLAY;
  needsDrawing = true;
  dispatchEvent(new CustomEvent('playing', { detail: value }));
}
const pause = () => setPlaying(false);
play.onclick = () => setPlaying(!isPlaying);
slider.oninput = () => { pause(); setTime(data.start + duration * slider.valueAsNumber); };
addEventListener('keydown', event => {
  if (event.target.tagName === 'SELECT' || event.target.tagName === 'BUTTON' && event.key === ' ') return;
  const second = event.shiftKey ? 1 : 0.1;
  const action = { ' ': () => setPlaying(!isPlaying), ArrowRight: () => setTime(time + second * data.speed), ArrowLeft: () => setTime(time - second * data.speed),
    Home: () => setTime(data.start), End: () => setTime(data.end) }[event.key];
  if (!action) return;
  event.preventDefault();
  if (event.key !== ' ') pause();
  action();
});

// What happened, above the time line: its text where the pointer is near, its time after a click.
const KINDS = { impact: '#D55E00', rest: '#7b8794', release: '#009E73', stick: '#5E35B1', slip: '#0072B2', event: '#C2185B', several: INK };
const NEAR = 6;  // pixels
const line = byId('marks'), hint = byId('hint');
const placeOf = mark => (mark.t - data.start) / duration;
const marks = data.marks.filter(mark => placeOf(mark) >= 0 && placeOf(mark) <= 1);
for (const mark of marks) {
  const tick = document.createElement('i');
  tick.style.left = `${100 * placeOf(mark)}%`;
  tick.style.background = KINDS[mark.kind];
  line.append(tick);
}
/** The mark next to the pointer; undefined if none is near. */
function markAt(event) {
  const { left, width } = line.getBoundingClientRect(), off = mark => Math.abs(event.clientX - left - width * placeOf(mark));
  const nearest = marks.reduce((best, mark) => off(mark) < off(best) ? mark : best);
  return off(nearest) <= NEAR ? nearest : undefined;
}
function showHint(mark) {
  hint.hidden = !mark;
  if (!mark) return;
  hint.textContent = mark.text;
  const { width } = line.getBoundingClientRect(), half = hint.offsetWidth / 2, { left } = byId('line').getBoundingClientRect();
  const x = 8 + width * placeOf(mark);  // within the window
  hint.style.left = `${Math.min(Math.max(x, half - left + 8), innerWidth - left - half - 8)}px`;
}
line.onpointermove = event => showHint(markAt(event));
line.onpointerleave = () => showHint();
line.onclick = event => { const mark = markAt(event); if (mark) { pause(); setTime(mark.t); } };

function toggle(key, text, title, isOn, change) {
  const button = document.createElement('button');
  button.textContent = text;
  button.title = title;
  button.id = key;
  const set = value => { button.setAttribute('aria-pressed', value); change(value); needsDrawing = true; };
  button.onclick = () => set(button.getAttribute('aria-pressed') !== 'true');
  byId('toggles').append(button);
  set(isOn);
}
const layer = key => value => { layers[key] = value; build(); legend(); };

/** What the arrows mean, and how long the longest of them is. */
function legend() {
  const lines = [];
  const item = (color, text) => `<div><i style="background:${color}"></i>${text}</div>`;
  if (layers.reactions && longestForce) lines.push(item(FORCE, `reaction forces, at most ${brief(longestForce)} N`));
  if (layers.momentum) lines.push(item(MOMENTUM, `angular momentum, at most ${brief(data.momentum.longest)} kg m²/s`));
  if (layers.frames) lines.push(['x', 'y', 'z'].map((axis, i) => `<i style="background:${AXES[i]}"></i>${axis} &nbsp; `).join(''));
  byId('legend').innerHTML = lines.join('');
}
if (trails.length) toggle('trails', 'Trail', 'The way of a point', true, layer('trails'));
toggle('frames', 'Frames', 'The frames of the bodies', false, layer('frames'));
if (data.reactions.length) toggle('reactions', 'Reactions', 'Forces of joints, constraints and stops', false, layer('reactions'));
if (data.momentum.longest) toggle('momentum', 'Momentum', 'Angular momentum', false, layer('momentum'));
toggle('panel', 'Plots', 'Energy and coordinates over time', innerWidth > 800, value => { byId('plots').hidden = !value; });

// ------------------------------------------------------------------------------------------------------ run

function draw() {
  const u = frameAt(time);
  for (const { mesh, places, quaternions, scales } of things) {
    placeAt(places, u, mesh.position);
    rotationAt(quaternions, u, mesh.quaternion);
    if (scales) placeAt(scales, u, mesh.scale);
  }
  drawLayers(u, sampleAt(u));
  renderer.render(scene, camera);
  if (!byId('plots').hidden) plots.forEach(plot => plot.draw(u));
  if (document.activeElement !== slider || isPlaying) slider.value = (time - data.start) / duration;
  const digits = duration < 1 ? 3 : 2;
  clock.textContent = `${time.toFixed(digits)} / ${data.end.toFixed(digits)} s`;
}

function tick(now) {
  requestAnimationFrame(tick);
  if (isPlaying && !data.live) {
    const t = time + (last ? Math.min(now - last, 100) / 1000 : 0) * speed.value;
    last = now;
    setTime(t > data.end ? data.start : t);
  }
  if (controls.update() || needsDrawing) {
    needsDrawing = false;
    draw();
  }
}

const sun = lights(), ground = floor();
new ResizeObserver(resize).observe(stage);
const start = new URLSearchParams(location.hash.slice(1));  // #t=1.5 shows that time, and does not play
setPlaying(!start.has('t'));
if (start.has('t')) setTime(Number(start.get('t')));
resize();
requestAnimationFrame(tick);

/** Pixel of a point of a body, for scripts: page coordinates, from the pose that is shown. */
window.viewer = {
  setTime: t => { pause(); setTime(t); draw(); },
  time: () => time,
  pixel: (name, place) => {
    const { mesh } = things.find(thing => thing.name === name && thing.kind === 'body');
    mesh.updateMatrixWorld();
    const p = vector(place).applyMatrix4(mesh.matrixWorld).project(camera), box = renderer.domElement.getBoundingClientRect();
    return [box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height];
  },
  worldPixel: place => {
    const p = vector(place).project(camera), box = renderer.domElement.getBoundingClientRect();
    return [box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height];
  },
};
