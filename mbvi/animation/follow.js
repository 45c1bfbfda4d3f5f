// A run that goes on: frames that the server sends are appended to what the viewer shows, and controls speak to the run.

const live = data.live, MOST_FRAMES = 2000, FREE = 0.5;

/** Rows of so many numbers, which are appended at the end and lost at the beginning. */
class Series {
  constructor(width) { this.width = width; this.clear(); }
  clear() { this.count = 0; this.buffer = new Float32Array(64 * this.width); }
  append(row) {
    if ((this.count + 1) * this.width > this.buffer.length) {
      const longer = new Float32Array(2 * this.buffer.length);
      longer.set(this.buffer);
      this.buffer = longer;
    }
    this.buffer.set(row, this.width * this.count++);
  }
  dropFirst(rows) {
    this.buffer.copyWithin(0, rows * this.width, this.count * this.width);
    this.count -= rows;
  }
  keepEverySecond() {
    for (let i = 0; 2 * i < this.count; i++) this.buffer.copyWithin(i * this.width, 2 * i * this.width, (2 * i + 1) * this.width);
    this.count = Math.ceil(this.count / 2);
  }
  get view() { return this.buffer.subarray(0, this.width * this.count); }
}

const homes = { things, trails, curves: data.curves };
const columns = live.columns.map(([home, i, key, width]) => ({ target: homes[home][i], key, series: new Series(width) }));
const WIDTH = live.columns.reduce((sum, [, , , width]) => sum + width, 0);
let times = [];

function append(t, row) {
  if (t < times.at(-1)) {  // it has begun anew
    times = [];
    for (const { series } of columns) series.clear();
  }
  if (t === times.at(-1)) {  // it has changed
    times.pop();
    for (const { series } of columns) series.count--;
  }
  times.push(t);
  let place = 0;
  for (const { series } of columns) series.append(row.subarray(place, place += series.width));
}

/** Of a run without end the last seconds; of others fewer frames, the longer they are. */
function shorten() {
  const old = live.window ? times.findIndex(t => t >= times.at(-1) - live.window) : 0;
  times.splice(0, old);
  for (const { series } of columns) if (old) series.dropFirst(old);
  if (times.length <= MOST_FRAMES) return;
  times = times.filter((_, i) => i % 2 === 0);
  for (const { series } of columns) series.keepEverySecond();
}

function receive({ data: text }) {
  const { t, rows } = JSON.parse(text);
  const numbers = new Float32Array(bytes(rows)), width = numbers.length / t.length;
  if (width !== WIDTH) return;  // until the page is loaded again
  t.forEach((each, i) => append(each, numbers.subarray(i * width, (i + 1) * width)));
  shorten();
  Object.assign(data, { times, frames: times.length, samples: times.length, start: times[0], end: times.at(-1) });
  duration = data.end - data.start || 1;
  for (const { target, key, series } of columns) target[key] = series.view;
  plots.forEach(plot => plot.show(plot.curve));
  setTime(isPlaying ? data.end : time);
  if (isPlaying) keepInView();
}

/** The camera, the light and the floor go along with what goes away. */
let reach = radius;
const middle = new THREE.Vector3(), place = new THREE.Vector3();
const homeOfSun = sun.position.clone();
let homeOfGround = placeOfFloor();
function keepInView() {
  const bodies = things.filter(each => each.kind === 'body');
  middle.set(0, 0, 0);
  for (const { places } of bodies) middle.addScaledVector(place.fromArray(places, places.length - 3), 1 / bodies.length);
  const off = middle.sub(center).sub(gone), far = off.length() - FREE * reach;
  if (!(far > 0)) return;
  off.setLength(far);
  for (const each of [gone, camera.position, controls.target, sun.target.position]) each.add(off);
  sun.position.copy(homeOfSun).add(gone);
  layGround();
}

/** By whole cells from home, so that the grid stands still. */
function layGround() {
  if (!ground) return;
  place.copy(gone).applyQuaternion(ground.quaternion.clone().invert());
  place.set(CELL * Math.round(place.x / CELL), CELL * Math.round(place.y / CELL), 0).applyQuaternion(ground.quaternion);
  ground.position.copy(homeOfGround).add(place);
}

/** Bodies look otherwise after a change of a parameter. */
async function redraw() {
  const answer = await (await fetch('scene')).json();
  if (answer.things.length !== things.length || answer.width !== WIDTH) return void location.reload();
  block = bytes(answer.numbers);
  const shapes = answer.geometries.map(geometryOf);
  answer.things.forEach((geometry, i) => { things[i].mesh.geometry = shapes[geometry]; });
  extent = floats(answer.extent);
  bound();
  data.floor = answer.floor;
  homeOfGround = placeOfFloor();
  layGround();
  reach = low.distanceTo(high) / 2;
  if (!isTouched) fit();
  needsDrawing = true;
}

const message = document.createElement('p');
message.className = 'doubt';
message.id = 'message';
document.querySelector('header').append(message);
const report = text => { message.textContent = text; };

const source = new EventSource('frames');
source.onmessage = receive;
source.onopen = () => report('');
source.addEventListener('status', event => report(JSON.parse(event.data)));
source.addEventListener('scene', redraw);
source.onerror = () => report('The run does not answer; it may have ended.');

// -------------------------------------------------------------------------------------------------- controls

let waiting = null, isSending = false;

/** Send the run what has changed; while it answers, later changes wait together. */
async function send(changes) {
  waiting ??= {};
  for (const [key, value] of Object.entries(changes)) waiting[key] = typeof value === 'object' ? { ...waiting[key], ...value } : value;
  if (isSending) return;
  isSending = true;
  while (waiting) {
    const body = JSON.stringify(waiting);
    waiting = null;
    try {
      const answer = await fetch('controls', { method: 'POST', body });
      report(answer.ok ? '' : await answer.text());
      if (!answer.ok) await showAll();
    } catch { report('The run does not answer; it may have ended.'); }
  }
  isSending = false;
}

const fields = { inputs: {}, parameters: {} };

/** Show a value that the run has. */
function show({ kind, name, value }) {
  const { range, number } = fields[kind][name];
  range.value = value;
  number.value = +value.toPrecision(6);
}

/** Show the values that the run has. */
async function showAll() { (await (await fetch('controls')).json()).forEach(show); }

const panel = document.createElement('section');
panel.id = 'controls';
for (const kind of ['inputs', 'parameters']) {
  const some = live.controls.filter(each => each.kind === kind);
  if (some.length) panel.insertAdjacentHTML('beforeend', `<h2>${kind === 'inputs' ? 'Inputs' : 'Parameters'}</h2>`);
  for (const { name, value, low, high } of some) {
    const row = document.createElement('label'), title = document.createElement('span');
    const range = document.createElement('input'), number = document.createElement('input');
    title.textContent = name;
    Object.assign(range, { type: 'range', min: low, max: high, step: (high - low) / 1000 });
    Object.assign(number, { type: 'number', step: 'any' });
    fields[kind][name] = { range, number };
    show({ kind, name, value });
    range.setAttribute('aria-label', name);
    number.setAttribute('aria-label', `${name}, as a number`);
    range.oninput = () => { number.value = +range.valueAsNumber.toPrecision(6); send({ [kind]: { [name]: range.valueAsNumber } }); };
    number.onchange = () => {
      if (!Number.isFinite(number.valueAsNumber)) return void showAll();
      range.value = number.value;
      send({ [kind]: { [name]: number.valueAsNumber } });
    };
    row.append(title, range, number);
    panel.append(row);
  }
}
if (live.controls.length) byId('plots').prepend(panel);

if (live.paced) {
  const button = document.createElement('button');
  button.id = 'restart';
  button.textContent = 'Restart';
  button.title = 'Begin anew at the start';
  button.onclick = () => { send({ restart: true }); setPlaying(true); };
  byId('toggles').prepend(button);
  speed.onchange = () => send({ speed: Number(speed.value) });
  addEventListener('playing', ({ detail }) => send({ playing: detail }));
} else {
  speed.hidden = true;
}
