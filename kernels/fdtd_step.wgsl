// One step of finite differences for sound, a thread a site, in place over the older level (src/solver/fdtd/mod.rs has the scheme): of all sites, or of those of a list
// while kernels/fdtd_march.wgsl takes the others; or of all sites with what happens at single ones, in one launch. kernels/fdtd.wgsl and kernels/fdtd_sites.wgsl stand
// before it.

// What the medium holds beside: absorption, absorbing edges
override DAMPING: bool = false;
override LAYERS: bool = false;

@group(0) @binding(6) var<storage, read> damping: array<f32>;
// Per axis with absorbing layers: A of the faces below and above a site and of the site, B of these, then psi of those faces, then zeta (src/solver/fdtd/cpml.rs)
@group(0) @binding(7) var<storage, read_write> layers: array<f32>;
//@ if OPERATES
@group(0) @binding(8) var<uniform> moment: Moment;
@group(0) @binding(9) var<storage, read_write> record: array<f32>;

// Of one step of a batch: where in `operations` what is added stands, and the values that sites are overwritten with (0: none are in this step); where in `record` what
// is gathered goes
struct Moment { added: u32, overwritten: u32, record: u32 }

// Of a site that is not overwritten
const NONE = 0xffffffffu;
//@ else
@group(0) @binding(8) var<storage, read> list: array<u32>;
//@ end

// What stands 1 ... HALF sites away in both directions of an axis
var<private> low: array<f32, 4>;
var<private> high: array<f32, 4>;

// p at a place, with its sign
fn mirrored(there: vec2i) -> f32 {
    if (there.y == 0) { return 0.0; }
    return f32(there.y) * now[there.x];
}

// p at a distance along an axis
fn value(axis: i32, offset: i32) -> f32 {
    return mirrored(placed(axis, offset));
}

// The density there; beyond a soft edge it is the site's own
fn density_at(axis: i32, offset: i32) -> f32 {
    let to = placed(axis, offset);
    return density[select(place, to.x, to.y > 0)];
}

// What stands around along an axis
fn look(axis: i32, beside: bool) {
    if (beside) {
        let below = walked(axis, -1);
        let above = walked(axis, 1);
        for (var k = 0; k < HALF; k++) {
            low[k] = mirrored(below[k]);
            high[k] = mirrored(above[k]);
        }
        return;
    }
    if (at[axis] >= HALF && at[axis] < p.size[axis] - HALF) {
        let next = stride(axis);
        for (var k = 0; k < HALF; k++) {
            low[k] = now[place - (k + 1) * next];
            high[k] = now[place + (k + 1) * next];
        }
        return;
    }
    for (var k = 0; k < HALF; k++) {
        low[k] = value(axis, -1 - k);
        high[k] = value(axis, 1 + k);
    }
}

// Term k of L p, `pairs` being the sum of what stands k + 1 sites away and `level` what that is in a constant field: differences round less
fn term(k: i32, pairs: f32, level: f32, sum: f32) -> f32 {
    return fma(p.coefficients[k], pairs - level, sum);
}

// L p where one density holds
fn stencil(here: f32, beside: bool) -> f32 {
    let level = f32(2 * RANK) * here;
    var sum = 0.0;
    if (beside) {
        var pairs: array<f32, 4>;
        for (var axis = 0; axis < RANK; axis++) {
            look(axis, true);
            for (var k = 0; k < HALF; k++) { pairs[k] += low[k] + high[k]; }
        }
        for (var k = 0; k < HALF; k++) { sum = term(k, pairs[k], level, sum); }
        return sum;
    }
    if (inner()) {
        let row = p.size.x;
        let plane = row * p.size.y;
        for (var k = 1; k <= HALF; k++) {
            var pairs = now[place - k] + now[place + k];
            if (RANK > 1) { pairs += now[place - k * row] + now[place + k * row]; }
            if (RANK > 2) { pairs += now[place - k * plane] + now[place + k * plane]; }
            sum = term(k - 1, pairs, level, sum);
        }
        return sum;
    }
    for (var k = 1; k <= HALF; k++) {
        var pairs = value(0, -k) + value(0, k);
        if (RANK > 1) { pairs += value(1, -k) + value(1, k); }
        if (RANK > 2) { pairs += value(2, -k) + value(2, k); }
        sum = term(k - 1, pairs, level, sum);
    }
    return sum;
}

// What flows in through both faces of an axis with a density per site, order 2
fn faces(axis: i32, here: f32) -> f32 {
    let rho = density[place];
    let below = (value(axis, -1) - here) / (rho + density_at(axis, -1));
    let above = (value(axis, 1) - here) / (rho + density_at(axis, 1));
    return below + above;
}

fn conservative(here: f32) -> f32 {
    var sum = faces(0, here);
    for (var axis = 1; axis < RANK; axis++) { sum += faces(axis, here); }
    return sum + sum;
}

// The slot of the site in the layers of an axis, or less than 0
fn slot(axis: i32) -> i32 {
    let width = p.widths[axis];
    let n = p.size[axis];
    let i = at[axis];
    if (i < width) { return i; }
    if (i >= n - width) { return i + 2 * p.ends[axis] - n; }
    return -1;
}

fn in_layers() -> bool {
    var any = slot(0) >= 0;
    if (RANK > 1) { any = any || slot(1) >= 0; }
    if (RANK > 2) { any = any || slot(2) >= 0; }
    return any;
}

// A (memory + g) + B g of a memory, which becomes that minus g
fn renew(decay: f32, shift: f32, memory: i32, g: f32) -> f32 {
    let sum = fma(shift, g, decay * (layers[memory] + g));
    layers[memory] = sum - g;
    return sum;
}

// How many sites have memories in the layers of an axis
fn remembered(axis: i32) -> i32 {
    return 2 * p.ends[axis] * (p.size.x * p.size.y * p.size.z / p.size[axis]);
}

// Where psi of the face below the site is, `own` being its slot; one by one `remembered` further come that of the face above and zeta
fn memory_of(axis: i32, own: i32) -> i32 {
    let slots = 2 * p.ends[axis];
    var n = (own * p.size.y + at.y) * p.size.x + at.x;
    if (axis == 0) { n = (at.z * p.size.y + at.y) * slots + own; }
    if (axis == 1) { n = (at.z * slots + own) * p.size.x + at.x; }
    return p.bases[axis] + 6 * slots + n;
}

// The part of L p of an axis whose layer holds the site; its memories go on by a step
fn absorbed(axis: i32, own: i32, here: f32) -> f32 {
    var below = p.fluxes[0] * (here - low[0]);
    var above = p.fluxes[0] * (high[0] - here);
    for (var m = 1; m < HALF; m++) {
        below = fma(p.fluxes[m], high[m - 1] - low[m], below);
        above = fma(p.fluxes[m], high[m] - low[m - 1], above);
    }
    if (DENSITY) {
        // The site's own over that of a face: 1, since the density goes on along the layer's normal; as the processor has it.
        let twice = 2.0 * density[place];
        below *= twice / (density[place] + density_at(axis, -1));
        above *= twice / (density[place] + density_at(axis, 1));
    }
    let slots = 2 * p.ends[axis];
    let values = remembered(axis);
    let factors = p.bases[axis] + own;
    let memory = memory_of(axis, own);
    below = renew(layers[factors], layers[factors + 3 * slots], memory, below);
    above = renew(layers[factors + slots], layers[factors + 4 * slots], memory + values, above);
    let z = renew(layers[factors + 2 * slots], layers[factors + 5 * slots], memory + 2 * values, above - below);
    if (DENSITY) { return z / density[place]; }
    return z;
}

// The part of L p of an axis at a site in layers
fn change(axis: i32, here: f32, beside: bool) -> f32 {
    let own = slot(axis);
    if (own < 0 && DENSITY) { return 2.0 * faces(axis, here); }
    look(axis, beside);
    if (own >= 0) { return absorbed(axis, own, here); }
    var sum = 0.0;
    for (var k = 0; k < HALF; k++) { sum = term(k, low[k] + high[k], here + here, sum); }
    return sum;
}

// Lets zeta take over what rounding put into the pressure, `missed`, as the processor does (src/solver/fdtd/cpml.rs): it is a change of the speed too, which nothing in a layer
// pulls back.
fn take(square: f32, missed: f32) {
    var losses = 0.0;
    for (var axis = 0; axis < RANK; axis++) {
        let own = slot(axis);
        if (own >= 0) { losses += 1.0 - layers[p.bases[axis] + 4 * p.ends[axis] + own]; }
    }
    var part = missed / max(square * losses, 1e-30);
    if (DENSITY) { part *= density[place]; }
    for (var axis = 0; axis < RANK; axis++) {
        let own = slot(axis);
        if (own < 0) { continue; }
        let decay = layers[p.bases[axis] + 4 * p.ends[axis] + own];
        layers[memory_of(axis, own) + 2 * remembered(axis)] -= part * (1.0 - decay) * (1.0 - decay) / decay;
    }
}

fn next() -> f32 {
    let marked = mark(place);
    if ((marked & WALL) != 0u) { return 0.0; }
    let beside = (marked & BESIDE) != 0u;
    let here = now[place];
    let before = here - old[place];
    let layered = LAYERS && in_layers();
    var sum = 0.0;
    if (layered) {
        sum = change(0, here, beside);
        for (var axis = 1; axis < RANK; axis++) { sum += change(axis, here, beside); }
    } else if (DENSITY) {
        sum = conservative(here);
    } else {
        sum = stencil(here, beside);
    }
    var square = p.square;
    if (SQUARES) { square = squares[place]; }
    // The inner bracket is small where the wave is well resolved: one rounding a step and not two
    var step = fma(square, sum, before);
    if (DAMPING) {
        let rate = damping[place];
        if (rate != 0.0) { step = (step - rate * before) / (1.0 + rate); }
    }
    let after = here + step;
    if (layered) {
        // As it was rounded: compilers may take (here + step) - here for step.
        let rounded = bitcast<f32>(bitcast<i32>(after) ^ p.zero);
        take(square, (rounded - here) - step);
    }
    return after;
}

//@ if OPERATES
// What a site holds after what happens there: signals are added in their order, it is overwritten, its value is recorded. Its description: from which to which value of
// a step's additions, which of the values that sites are overwritten with, from where to where in `operations` the numbers of its records stand.
fn settled(after: f32) -> f32 {
    let own = operations[place] >> 2u;
    if (own == 0u) { return after; }
    var sum = after;
    for (var n = operations[own]; n < operations[own + 1u]; n++) { sum += bitcast<f32>(operations[moment.added + n]); }
    let value = operations[own + 2u];
    if (moment.overwritten != 0u && value != NONE) { sum = bitcast<f32>(operations[moment.overwritten + value]); }
    for (var n = operations[own + 3u]; n < operations[own + 4u]; n++) { record[moment.record + operations[n]] = sum; }
    return sum;
}
//@ else
fn settled(after: f32) -> f32 { return after; }
//@ end

@compute @workgroup_size(64, 4) fn step(
    @builtin(local_invocation_id) thread: vec3u,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let row = (i32(block.z) * p.rows_y + i32(block.y)) * 4 + i32(thread.y);
    if (row >= p.size.y * p.size.z) { return; }
    for (var x = i32(block.x) * 64 + i32(thread.x); x < p.size.x; x += 64 * i32(blocks.x)) {
        at = vec3i(x, row % p.size.y, row / p.size.y);
        place = row * p.size.x + x;
        old[place] = settled(next());
    }
}

//@ if OPERATES
//@ else
@compute @workgroup_size(256) fn step_listed(
    @builtin(local_invocation_index) thread: u32,
    @builtin(workgroup_id) block: vec3u,
    @builtin(num_workgroups) blocks: vec3u,
) {
    let n = i32((block.y * blocks.x + block.x) * 256u + thread);
    if (n >= p.listed) { return; }
    place = i32(list[n]);
    let row = place / p.size.x;
    at = vec3i(place % p.size.x, row % p.size.y, row / p.size.y);
    old[place] = next();
}
//@ end
