// Steps on the adapter that WebGPU has in a page, beside those of the processor on the command line.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

/// What rounding to single precision may differ by, of the whole field and of what a detector records: the tolerances of tests/wgpu.
const FIELD = 3e-5;
const RECORD = 30 * FIELD;

/// Small: software adapters take about a microsecond a site and step.
const scenes = {
  trotter: `
format = 1
title = "Slits"
[grid]
size = [96, 64]
spacing = 1.0
edges = "absorb"
absorb_width = 12
[quantum]
mass = 0.5
[time]
step = 0.1
end = 10.0
[solver]
method = "trotter"
backend = "wgpu"
[[packet]]
center = [30.0, 31.5]
width = [6.0, 10.0]
momentum = [1.0, 0.0]
[[layer]]
sets = "wall"
shape = "slits"
x = 46.0
thickness = 3.0
centers = [24.5, 38.5]
opening = 7.0
[[detector]]
name = "behind"
region = { min = [52.0, 12.0], max = [80.0, 50.0] }
measure = "probability"
[[detector]]
name = "before"
at = [40.0, 31.0]
measure = "value"
`,
  fdtd: `
format = 1
title = "A pillar"
[grid]
size = [80, 64]
spacing = 0.025
edges = "absorb"
absorb_width = 10
[acoustic]
speed = 343.0
density = 1.2
[time]
step = 4e-5
end = 4e-3
[solver]
method = "fdtd"
backend = "wgpu"
[[source]]
at = [0.6, 0.8]
signal = "sine"
frequency = 900.0
amplitude = 2e4
[[layer]]
sets = "wall"
shape = "disk"
center = [1.1, 0.8]
radius = 0.15
[[detector]]
name = "behind"
at = [1.5, 0.85]
measure = "value"
[[detector]]
name = "beside"
region = { min = [1.0, 1.1], max = [1.2, 1.2] }
measure = "pressure"
`,
  oscillators: `
format = 1
title = "A plate"
[grid]
size = [64, 48]
spacing = 0.025
edges = "wall"
[acoustic]
speed = 343.0
density = 1.2
[time]
step = 2e-5
end = 1.6e-3
[solver]
method = "oscillators"
backend = "wgpu"
[[source]]
at = [0.4, 0.5]
signal = "sine"
frequency = 900.0
amplitude = 2e4
[[detector]]
name = "there"
at = [1.2, 0.7]
measure = "value"
`,
};

/// A scene as a link holds it.
export function link(text) {
  return `#scene=${deflateSync(Buffer.from(text), { level: 9 }).toString('base64url')}`;
}

/// Lines of numbers behind the names of columns; a cell may be empty.
function table(text) {
  const [names, ...rows] = text.trim().split('\n').map(line => line.split(','));
  return { names, rows: rows.map(row => row.map(cell => (cell.trim() === '' ? null : Number(cell)))) };
}

/// The numbers of an NPY file of real or complex single precision.
function numbers(bytes) {
  const length = bytes.readUInt16LE(8);
  const head = bytes.subarray(10, 10 + length).toString();
  if (!/'<(c8|f4)'/.test(head)) throw new Error(`an NPY file of another kind: ${head}`);
  const data = Uint8Array.from(bytes.subarray(10 + length));
  return new Float32Array(data.buffer);
}

/// What the processor makes of a scene on the command line.
function printed(ripplon, text) {
  const folder = mkdtempSync(join(tmpdir(), 'ripplon-web-'));
  const path = name => join(folder, name);
  writeFileSync(path('scene.toml'), text);
  const out = ['--detectors', path('records.csv'), '--save', path('field.npy'), '--observables', path('sums.csv')];
  execFileSync(ripplon, ['run', path('scene.toml'), '--set', 'solver.backend=cpu', ...out], { encoding: 'utf8' });
  const sums = table(readFileSync(path('sums.csv'), 'utf8'));
  const found = {
    records: table(readFileSync(path('records.csv'), 'utf8')),
    field: numbers(readFileSync(path('field.npy'))),
    norm: sums.rows.at(-1)[sums.names.findIndex(name => name.startsWith('norm'))],
  };
  rmSync(folder, { recursive: true });
  return found;
}

/// A number behind a word of a log line.
const value = (line, word) => Number(new RegExp(`\\b${word}=(\\S+)`).exec(line)[1]);

/// Norm, records and field of a scene in the page are those of the processor within the rounding of single precision.
async function agrees(Watched, browser, base, name, ripplon, method) {
  // SwiftShader compiles tiles of oscillators, which are long where they are written out, for more than five minutes.
  const slow = name === 'chromium-webgpu' && method === 'oscillators';
  const text = slow ? scenes[method].replace('backend', 'variant = "naive"\nbackend') : scenes[method];
  const expected = printed(ripplon, text);
  // Small, and the picture alone: software draws the window as well.
  const page = await Watched.open(browser, `${base}${link(text)}&panels=none&log=info`, [480, 320]);
  const begins = await page.line('the run begins', 300);
  if (!begins.includes('backend="wgpu"')) throw new Error(`the adapter does not step: ${begins}`);
  const rests = await page.line('the run rests', 400);
  const norm = value(rests, 'norm');
  if (!(Math.abs(norm / expected.norm - 1) < FIELD)) throw new Error(`${method}: norm ${norm}, ${expected.norm} expected`);
  await page.picture(`${name}-wgpu-${method}`);
  await page.command('export records');
  const found = table((await page.download('.csv')).toString());
  if (found.rows.length !== expected.records.rows.length) throw new Error(`${method}: ${found.rows.length} records, ${expected.records.rows.length} expected`);
  for (const detector of found.names) {
    const [a, b] = [found, expected.records].map(({ names, rows }) => rows.map(row => row[names.indexOf(detector)]));
    const scale = Math.max(...b.map(Math.abs));
    const off = Math.max(...a.map((one, n) => (one === null ? Infinity : Math.abs(one - b[n]))));
    if (!(scale > 0 && off <= RECORD * scale)) throw new Error(`${method}: "${detector}" is off by ${off} of ${scale}`);
  }
  await page.command('export field');
  const field = numbers(await page.download('.npy'));
  if (field.length !== expected.field.length) throw new Error(`${method}: a field of ${field.length} numbers, ${expected.field.length} expected`);
  let [apart, all] = [0, 0];
  for (const [n, one] of field.entries()) {
    apart += (one - expected.field[n]) ** 2;
    all += expected.field[n] ** 2;
  }
  const off = Math.sqrt(apart / all);
  if (!(off < FIELD)) throw new Error(`${method}: the field is off by ${off}`);
  console.log(`   ${method}: ${/details=("[^"]*")/.exec(begins)[1]}, the field off by ${off.toExponential(1)}, ${(value(rests, 'rate') / 1e6).toFixed(1)} Msites/s`);
  await page.close();
}

/// A grid that is large enough for the adapter where the scene leaves the back end open.
const large = `
format = 1
title = "A free packet"
[grid]
size = [256, 256]
spacing = 1.0
[quantum]
mass = 0.5
[time]
step = 0.1
end = 4.0
[solver]
method = "trotter"
[[packet]]
center = [100.0, 127.5]
width = [20.0, 20.0]
momentum = [0.6, 0.0]
`;

/// An adapter that calls itself no software is measured beside the processor where the scene leaves the back end open. Which of them is faster is up to the machine; the wave is the same.
export async function isMeasured(Watched, browser, base) {
  const honest = () => Object.defineProperty(GPUAdapterInfo.prototype, 'isFallbackAdapter', { get: () => false });
  const page = await Watched.open(browser, `${base}${link(large)}&panels=none&log=info`, [480, 320], honest);
  const begins = await page.line('the run begins', 300);
  const norm = value(await page.line('the run rests', 400), 'norm');
  if (!(Math.abs(norm - 1) < FIELD)) throw new Error(`norm ${norm} instead of 1: ${begins}`);
  await page.close();
}

/// A device that is lost stops the run with the reason; it is asked for anew, and the run begins again on it.
export async function losesDevice(Watched, browser, base) {
  const remembers = () => {
    window.devices = [];
    const ask = GPUAdapter.prototype.requestDevice;
    GPUAdapter.prototype.requestDevice = async function (about) {
      const device = await ask.call(this, about);
      if (about?.label?.includes('steps')) window.devices.push(device);
      return device;
    };
  };
  const text = large.replace('end = 4.0', 'end = 4000.0').replace('[[packet]]', 'backend = "wgpu"\n[[packet]]');
  const page = await Watched.open(browser, `${base}${link(text)}&panels=none&log=info`, [480, 320], remembers);
  await page.line('the run begins', 300);
  await page.line('first picture', 300);
  await page.page.evaluate(() => window.devices[0].destroy());
  const fault = await page.until(() => page.faults[0], 'the reason');
  if (!fault.includes('the device was lost')) throw new Error(`another fault: ${fault}`);
  page.faults.length = 0;
  await page.until(() => page.page.evaluate(() => window.devices.length === 2), 'another device');
  const begun = () => page.lines.filter(line => line.includes('the run begins')).length;
  await page.until(async () => {
    await page.key('r');
    return begun() === 2;
  }, 'the run on another device');
  await page.close();
}

/// Every method that steps on adapters.
export async function everyMethod(Watched, browser, base, name, ripplon) {
  for (const method of Object.keys(scenes)) await agrees(Watched, browser, base, name, ripplon, method);
}

/// Without a word in the scene the processor steps: a software adapter is never faster. With it and without WebGPU the scene is refused with the reason.
export async function withoutAsking(Watched, browser, base, hasAdapter) {
  const text = scenes.trotter.replace('backend = "wgpu"\n', '');
  const page = await Watched.open(browser, `${base}${link(text)}&panels=none&log=info`, [480, 320]);
  const begins = await page.line('the run begins', 300);
  if (!begins.includes('backend="cpu"')) throw new Error(`the processor does not step: ${begins}`);
  await page.close();
  if (hasAdapter) return;
  const refused = await Watched.open(browser, `${base}${link(scenes.trotter)}&panels=none&log=info`, [480, 320]);
  await refused.until(() => refused.lines.some(line => line.includes('the processor steps')), 'why there is no adapter');
  if (refused.lines.some(line => line.includes('backend="wgpu"'))) throw new Error('an adapter steps that is not there');
  await refused.close();
}
