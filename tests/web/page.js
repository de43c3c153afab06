// The page in browsers: what it measures is what `ripplon run` prints, edits and files work, links lead back, nothing is blank or in error.
//   node page.js FOLDER_OF_THE_PAGE RIPPLON FOLDER_FOR_PICTURES BROWSER=PATH...
import { execFileSync, spawnSync } from 'node:child_process';
import { createReadStream, existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import puppeteer from 'puppeteer-core';
import { everyMethod, isMeasured, losesDevice, withoutAsking } from './adapter.js';

const [folder, ripplon, pictures, ...browsers] = process.argv.slice(2);

/// What a run of a preset comes to on the command line: the numbers as they are printed.
function printed(preset) {
  const text = execFileSync(ripplon, ['run', preset], { encoding: 'utf8' });
  const lines = [...text.matchAll(/^(right|WRONG)\s.*measured (\S+)( .+)?$/gm)];
  if (lines.length === 0) throw new Error(`no verdicts in\n${text}`);
  const steps = Number(/^(\d+) steps/m.exec(text)[1]);
  return lines.map(([, word, measured]) => ({ right: word === 'right', measured, steps }));
}

/// Whether a number is the one that was printed: within half a unit of its last digit, and what rounding to single precision differs by where one machine fuses
/// multiplications with additions and the other does not, 2^-24 a step, which add up like a random walk; four times that.
function agrees(value, { measured, steps }) {
  const digits = measured.includes('.') ? measured.length - measured.indexOf('.') - 1 : 0;
  return Math.abs(value - Number(measured)) <= 0.5 * 10 ** -digits + 4 * Math.sqrt(steps) * 2 ** -24;
}

function serve() {
  const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm', '.png': 'image/png' };
  const server = createServer((request, answer) => {
    const path = new URL(request.url, 'http://x').pathname;
    const file = join(folder, path === '/' ? 'index.html' : path);
    if (path.includes('..') || !existsSync(file)) {
      answer.writeHead(404).end();
      return;
    }
    answer.writeHead(200, { 'content-type': kinds[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(answer);
  });
  return new Promise(done => server.listen(0, '127.0.0.1', () => done(server)));
}

function launch(name, path) {
  if (name === 'firefox') {
    // WebGPU on Mesa's software Vulkan: without it this browser has nothing to draw with where there is no display.
    const prefs = { 'dom.webgpu.enabled': true, 'gfx.webgpu.ignore-blocklist': true, 'dom.w3c_touch_events.enabled': 1 };
    return puppeteer.launch({ browser: 'firefox', executablePath: path, headless: true, extraPrefsFirefox: prefs, protocolTimeout: 600000 });
  }
  // Without an adapter for WebGPU: WebGL2, drawn by the processor. With one: SwiftShader, which draws as well, or else the browser loses it.
  const adapter = name === 'chromium-webgpu' ? ['--enable-unsafe-webgpu', '--use-angle=swiftshader', '--enable-features=Vulkan', '--use-vulkan=swiftshader'] : ['--enable-unsafe-swiftshader'];
  const args = ['--no-sandbox', '--disable-dev-shm-usage', ...adapter];
  return puppeteer.launch({ executablePath: path, headless: true, args, protocolTimeout: 600000 });
}

const pause = seconds => new Promise(done => setTimeout(done, 1000 * seconds));

/// A page that is watched: its console, its downloads, what it copies.
class Watched {
  /// `before`: what is done in the page before its scripts; `fingers`: whether its screen feels fingers.
  static async open(browser, address, size = [1280, 720], before = null, fingers = false) {
    const watched = new Watched();
    watched.page = await browser.newPage();
    // Firefox feels fingers by its settings.
    const touch = fingers && !(await browser.version()).startsWith('firefox');
    await watched.page.setViewport({ width: size[0], height: size[1], hasTouch: touch, isMobile: touch });
    watched.lines = [];
    watched.faults = [];
    watched.page.on('console', line => {
      watched.lines.push(line.text());
      // The program's own errors come as warnings with this word.
      if (line.type() === 'error' || line.text().startsWith('ERROR')) watched.faults.push(line.text());
    });
    watched.page.on('pageerror', fault => watched.faults.push(fault.message));
    await watched.page.evaluateOnNewDocument(() => {
      window.downloads = [];
      const click = HTMLAnchorElement.prototype.click;
      HTMLAnchorElement.prototype.click = function () {
        if (!this.download) return click.call(this);
        const name = this.download;
        fetch(this.href).then(answer => answer.arrayBuffer()).then(bytes => {
          window.downloads.push({ name, bytes: btoa(Array.from(new Uint8Array(bytes), byte => String.fromCharCode(byte)).join('')) });
        });
      };
      navigator.clipboard.writeText = async text => { window.copied = text; };
    });
    if (before) await watched.page.evaluateOnNewDocument(before);
    const begin = Date.now();
    await watched.page.goto(address);
    await watched.until(async () => await watched.page.evaluate(() => document.title !== 'Ripplon' || !document.getElementById('line').hidden && !document.getElementById('line').textContent.includes('loading')), 'the first frame', 120);
    watched.started = (Date.now() - begin) / 1000;
    return watched;
  }

  async until(condition, what, seconds = 60) {
    const end = Date.now() + 1000 * seconds;
    for (;;) {
      const found = await condition();
      if (found) return found;
      if (Date.now() > end) throw new Error(`${what} did not come; the console:\n${this.lines.slice(-20).join('\n')}`);
      await pause(0.1);
    }
  }

  line(text, seconds) {
    return this.until(() => this.lines.find(line => line.includes(text)), `a line with "${text}"`, seconds);
  }

  async key(key, ...held) {
    for (const modifier of held) await this.page.keyboard.down(modifier);
    await this.page.keyboard.press(key);
    for (const modifier of held) await this.page.keyboard.up(modifier);
    await this.frames();
  }

  /// Until the window has seen what was pressed: it draws in frames of the browser, takes one command in each, and they may be slow.
  async frames() {
    await pause(0.1);
    const next = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (let n = 0; n < 2; n += 1) await this.page.evaluate(next);
  }

  async command(name) {
    await this.key('p', 'Control');
    await this.page.keyboard.type(name);
    await this.frames();
    await this.key('Enter');
  }

  async download(name, seconds) {
    const found = await this.until(() => this.page.evaluate(name => {
      const place = window.downloads.findIndex(file => file.name.endsWith(name));
      return place < 0 ? null : window.downloads.splice(place, 1)[0];
    }, name), `a download of ${name}`, seconds);
    return Buffer.from(found.bytes, 'base64');
  }

  async picture(name) {
    const bytes = await this.page.screenshot({ type: 'png' });
    writeFileSync(join(pictures, `${name}.png`), bytes);
    // Blank canvases have a handful of colours.
    const colours = await this.page.evaluate(async text => {
      const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${text}`)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return new Set(new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)).size;
    }, Buffer.from(bytes).toString('base64'));
    expect(colours > 200, `${name}: only ${colours} colours`);
  }

  async close() {
    expect(this.faults.length === 0, `errors on the console:\n${this.faults.join('\n')}`);
    await this.page.close();
  }
}

function expect(holds, text) {
  if (!holds) throw new Error(text);
}

/// One or two fingers from some points to others, in steps that the window sees.
async function drag(page, from, to) {
  const fingers = [];
  for (const [x, y] of from) fingers.push(await page.page.touchscreen.touchStart(x, y));
  await page.frames();
  for (let n = 1; n <= 5; n += 1) {
    for (const [place, finger] of fingers.entries()) {
      const at = [0, 1].map(axis => from[place][axis] + (n / 5) * (to[place][axis] - from[place][axis]));
      await finger.move(...at);
    }
    await page.frames();
  }
  for (const finger of fingers) await finger.end();
  await page.frames();
}

/// The strokes of the scene as it is saved: points on the grid.
async function strokes(page) {
  await page.key('s', 'Control');
  const text = (await page.download('.toml')).toString();
  return [...text.matchAll(/points = (\[\[[^=]*?\]\])/g)].map(([, list]) => JSON.parse(list));
}

/// Fingers on a phone: one paints, one moves the picture, two zoom it, one presses buttons. Where a stroke comes to lie on the grid tells what the picture showed at its place on
/// the screen.
async function touches(browser, base, name) {
  // At one pixel a point: the browsers' emulation of finer screens sizes canvases in points.
  const page = await Watched.open(browser, `${base}?preset=free-packet&play=0`, [390, 844], null, true);
  await pause(1.5);
  // The strip of tools stands at the left, and its buttons have what fingers can hit.
  const brush = [20, 119];
  const hand = [20, 51];
  const paint = async () => {
    await page.page.touchscreen.tap(...brush);
    await page.frames();
    await drag(page, [[150, 330]], [[210, 350]]);
    await page.page.touchscreen.tap(...hand);
    await page.frames();
    return strokes(page);
  };
  const first = await paint();
  await page.picture(`${name}-touch-painted`);
  expect(first.length === 1, `one stroke of a finger gave ${first.length}: ${JSON.stringify(first)}`);
  expect(first[0].length > 4, `the stroke has no more than ${first[0].length} points`);
  const width = stroke => stroke.at(-1)[0] - stroke[0][0];
  await drag(page, [[180, 340]], [[230, 340]]);
  const moved = await paint();
  expect(moved.length === 2, `the second finger painted ${moved.length - 1} strokes`);
  const shift = (first[0][0][0] - moved[1][0][0]) * 60 / width(first[0]);
  expect(Math.abs(shift - 50) < 20, `one finger moved the picture by ${shift} points, not 50`);
  // Two fingers zoom with every tool, and paint nothing.
  await page.page.touchscreen.tap(...brush);
  await page.frames();
  await drag(page, [[150, 340], [210, 340]], [[90, 340], [270, 340]]);
  expect((await strokes(page)).length === 2, 'two fingers have painted');
  const zoomed = await paint();
  expect(zoomed.length === 3, `after two fingers, one painted ${zoomed.length - 2} strokes`);
  const zoom = width(moved[1]) / width(zoomed[2]);
  expect(zoom > 2 && zoom < 4, `two fingers zoomed by ${zoom}, not about 3`);
  await page.picture(`${name}-touch-zoomed`);
  await page.close();
}

/// A preset measures in the page what it measures on the command line.
async function measures(browser, base, preset, expected, name) {
  // A small picture, and many steps a frame: where the processor draws too, a frame costs more than the steps.
  const page = await Watched.open(browser, `${base}?preset=${preset}&panels=none&play=1&log=info`, [480, 320]);
  for (let n = 0; n < 8; n += 1) await page.key('=');
  const line = await page.line('the run rests', 400);
  const verdicts = page.lines.filter(line => line.includes('verdicts=')).at(-1);
  const measured = [...verdicts.matchAll(/(Right|Wrong)\(([^)]+)\)/g)].map(([, word, value]) => ({ right: word === 'Right', value: Number(value) }));
  expect(measured.length === expected.length, `${preset}: ${verdicts}`);
  for (const [n, one] of measured.entries()) {
    expect(one.right === expected[n].right && agrees(one.value, expected[n]), `${preset}: ${one.value} in the page, ${expected[n].measured} printed`);
  }
  await page.picture(`${name}-${preset}`);
  const rate = /rate=(\S+)/.exec(line);
  console.log(`   ${preset}: ${measured.length} predictions as printed; started in ${page.started.toFixed(1)} s, ${(Number(rate?.[1]) / 1e6).toFixed(1)} Msites/s`);
  await page.close();
}

/// Edits, undo, files, a link and back.
async function edits(browser, base, name) {
  const page = await Watched.open(browser, `${base}?preset=free-packet&play=0`);
  await pause(1.5);
  await page.key('s', 'Control');
  const before = (await page.download('.toml')).toString();
  await page.key('b');
  await page.page.mouse.move(640, 300);
  await page.page.mouse.down();
  for (let n = 1; n <= 6; n += 1) {
    await page.frames();
    await page.page.mouse.move(640 + 10 * n, 300 + 7 * n);
  }
  await page.frames();
  await page.page.mouse.up();
  await page.frames();
  await pause(1);
  await page.picture(`${name}-painted`);
  await page.key('s', 'Control');
  const painted = (await page.download('.toml')).toString();
  expect(painted.includes('stroke') && !before.includes('stroke'), `nothing was painted:\n${painted}`);
  await page.command('copy link');
  const link = await page.until(() => page.page.evaluate(() => window.copied), 'the link');
  expect(link.startsWith(`${base}#scene=`), link);
  await page.key('v');
  await page.key('z', 'Control');
  await page.key('s', 'Control');
  const undone = (await page.download('.toml')).toString();
  expect(!undone.includes('stroke'), `the stroke is still there:\n${undone}`);
  await page.key('e', 'Control');
  const png = await page.download('.png');
  expect(png.subarray(1, 4).toString() === 'PNG' && png.includes('[[packet]]'), 'the picture is no PNG with its scene');
  await page.command('export field');
  const npy = await page.download('.npy');
  expect(npy.subarray(1, 6).toString() === 'NUMPY' && npy.length > 10000, 'the field is no NPY file');
  await page.close();

  const again = await Watched.open(browser, `${link}&play=0`);
  await pause(1);
  await again.key('s', 'Control');
  const linked = (await again.download('.toml')).toString();
  expect(linked.includes('stroke'), `the link leads elsewhere:\n${linked}`);
  await again.picture(`${name}-linked`);
  await again.close();

  const broken = await Watched.open(browser, `${base}#scene=${link.slice(-40)}`);
  await pause(1);
  await broken.picture(`${name}-broken-link`);
  await broken.close();
}

async function looks(browser, base, name) {
  for (const [what, query, size] of [
    ['first', '', [1280, 720]],
    ['phone', '?preset=double-slit', [390, 844]],
    ['bare', '?preset=double-slit&panels=none', [640, 360]],
    ['space', '?preset=clap-3d', [1280, 720]],
  ]) {
    const page = await Watched.open(browser, base + query, size);
    await pause(6);
    await page.picture(`${name}-${what}`);
    await page.close();
  }
}

/// The dialogue for films, in a window of 1280 × 720: where its controls stand.
const DIALOGUE = { format: [688, 251], apng: [557, 348], width: [697, 283], height: [767, 283], lasts: [523, 379], choose: [460, 538] };

/// How close pictures of an MP4 come to those without loss, in dB.
const LIKE = 35;

/// Has a film of one second made, of 480 × 270 pixels.
async function film(page, format) {
  const click = async place => {
    await page.page.mouse.click(...DIALOGUE[place]);
    await page.frames();
  };
  await page.command('export film');
  await page.frames();
  // It opens with what was asked for last.
  if (!page.filmed) {
    // From right to left: a number moves what stands behind it.
    for (const [place, value] of [['lasts', '1'], ['height', '270'], ['width', '480']]) {
      await click(place);
      await page.page.keyboard.type(value);
      await page.frames();
      await page.key('Enter');
    }
    page.filmed = true;
  }
  if (format === 'apng') {
    await click('format');
    await click('apng');
  }
  await click('choose');
  return page.download(`.${format}`, 300);
}

/// Films: MP4 by the browser's encoder, held beside an animated PNG of the same pictures; none where the browser has no encoder.
async function films(browser, base, name) {
  const page = await Watched.open(browser, `${base}?preset=double-slit&play=0`);
  await pause(2);
  const mp4 = await film(page, 'mp4');
  expect(mp4.subarray(4, 8).toString() === 'ftyp' && mp4.includes('[[packet]]'), 'the film is no MP4 with its scene');
  const apng = await film(page, 'apng');
  await page.close();
  const [coded, exact] = ['mp4', 'apng'].map(format => join(pictures, `${name}.${format}`));
  writeFileSync(coded, mp4);
  writeFileSync(exact, apng);
  if (spawnSync('ffprobe', ['-version']).error) {
    console.log('   skipped: ffmpeg is not here to look into the film');
  } else {
    const asked = 'stream=codec_name,width,height,r_frame_rate,nb_read_frames,duration';
    const text = execFileSync('ffprobe', ['-v', 'error', '-count_frames', '-show_entries', asked, '-of', 'default=nk=1:nw=1', coded], { encoding: 'utf8' });
    expect(text.split('\n').slice(0, 6).join(' ') === 'h264 480 270 30/1 1.000000 30', `the film is another: ${text}`);
    // Means over all pictures, in three colours: a level and a half of 255 is 44.6 dB.
    const compared = spawnSync('ffmpeg', ['-i', coded, '-f', 'apng', '-i', exact, '-lavfi', '[0:v]scale=in_color_matrix=bt601:in_range=tv,format=gbrp[a];[1:v]format=gbrp[b];[a][b]psnr', '-f', 'null', '-'], { encoding: 'utf8' });
    const [, average, least] = /average:(\S+) min:(\S+)/.exec(compared.stderr);
    expect(Number(least) > LIKE, `the film's pictures are ${average} dB, at the least ${least} dB beside those without loss, not ${LIKE}`);
    console.log(`   30 pictures, ${mp4.length} bytes, ${average} dB (at the least ${least} dB) beside those without loss`);
  }
  const without = await Watched.open(browser, `${base}?preset=double-slit&play=0`, [1280, 720], () => { delete window.VideoEncoder; });
  await pause(2);
  const gif = await film(without, 'gif');
  expect(gif.subarray(0, 6).toString() === 'GIF89a', 'without an encoder a film is a GIF');
  await without.picture(`${name}-without-encoder`);
  await without.close();
}

/// Whether the browser gives a page an adapter.
async function hasAdapter(browser, base) {
  const page = await browser.newPage();
  await page.goto(`${base}icon.png`);
  const found = await page.evaluate(async () => Boolean(await navigator.gpu?.requestAdapter()));
  await page.close();
  return found;
}

/// Steps on the adapter of WebGPU.
async function onAdapter(browser, base, name) {
  const there = await hasAdapter(browser, base);
  await withoutAsking(Watched, browser, base, there);
  if (!there) {
    console.log(`   skipped: ${name} has no adapter for WebGPU here`);
    return;
  }
  await everyMethod(Watched, browser, base, name, ripplon);
  if (name === 'chromium-webgpu') return;
  await isMeasured(Watched, browser, base);
  await losesDevice(Watched, browser, base);
}

const server = await serve();
const base = `http://127.0.0.1:${server.address().port}/`;
const expected = Object.fromEntries(['room-modes', 'free-packet'].map(preset => [preset, printed(preset)]));
let failed = 0;
const launches = browsers.map(browser => browser.split('=')).flatMap(([name, path]) => (name === 'chromium' ? [[name, path], ['chromium-webgpu', path]] : [[name, path]]));
for (const [name, path] of launches) {
  const browser = await launch(name, path);
  console.log(`== ${await browser.version()}`);
  const only = process.env.ONLY?.split(',');
  const adapter = ['adapter', () => onAdapter(browser, base, name)];
  // SwiftShader takes seconds a picture: the rest is tested without it.
  const steps = name === 'chromium-webgpu' ? [adapter] : [
    adapter,
    ['looks', () => looks(browser, base, name)],
    ['edits', () => edits(browser, base, name)],
    ['touches', () => touches(browser, base, name)],
    ['films', () => films(browser, base, name)],
    ...Object.keys(expected).map(preset => [preset, () => measures(browser, base, preset, expected[preset], name)]),
  ];
  for (const [step, work] of steps.filter(([step]) => !only || only.includes(step))) {
    try {
      await work();
      console.log(`ok ${name} ${step}`);
    } catch (fault) {
      failed += 1;
      console.log(`FAILED ${name} ${step}: ${fault.message}`);
    }
  }
  await browser.close();
}
server.close();
process.exit(failed === 0 ? 0 : 1);
