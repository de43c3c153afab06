// What kernels/sound_sums.wgsl sums of finite differences. kernels/fdtd.wgsl and kernels/fdtd_sites.wgsl stand before it, and numbers of its own are what multiplies the newer level, the spacing, and the density where
// there is one; src/solver/fdtd/energy.rs has the energy and its flux. Both take a newer level in `now`: p with the older level in `old`, or what the velocity follows from with
// p in `old`. Memory: 4 B a site, 8 for energies, 12 with a speed a site.

@group(0) @binding(6) var<storage, read_write> numbers: array<f32>;
@group(0) @binding(7) var<uniform> region: Region;

// A level, and what it is more than the level before it, times the scale; over the step where `now` is what the velocity follows from, so that both are pressures and their products stay in range
fn level(site: i32) -> vec2f {
    let newer = region.own.x * now[site];
    let other = region.scale * old[site];
    return vec2f(newer, select(newer - other, other, region.sound != 0));
}

// 1/rho between two sites
fn bond(here: i32, there: i32) -> f32 {
    if (DENSITY) { return 2.0 / (density[here] + density[there]); }
    return 1.0 / region.own.z;
}

// What a bond to a place with its sign holds; that to the zero outside a soft edge is counted by no other site.
fn bond_energy(own: vec2f, to: vec2i) -> f32 {
    let both = f32(to.y) * level(to.x) - own;
    let weight = select(1.0, 2.0, to.y == 0) * bond(place, select(place, to.x, to.y > 0));
    return weight * both.x * (both.x - both.y);
}

// The energy of the site, times a^2 / a^d and the square of the scale, over the square of the step where `now` is what the velocity follows from
fn energy() -> f32 {
    let marked = mark(place);
    if ((marked & WALL) != 0u) { return 0.0; }
    let own = level(place);
    var kappa = p.square;
    if (SQUARES) { kappa = squares[place]; }
    if (!DENSITY) { kappa *= region.own.z; }
    var bonds = 0.0;
    for (var axis = 0; axis < RANK; axis++) {
        if ((marked & BESIDE) != 0u) {
            let below = walked(axis, -1);
            let above = walked(axis, 1);
            for (var k = 0; k < HALF; k++) { bonds += p.coefficients[k] * (bond_energy(own, below[k]) + bond_energy(own, above[k])); }
        } else {
            for (var k = 0; k < HALF; k++) { bonds += p.coefficients[k] * (bond_energy(own, placed(axis, -1 - k)) + bond_energy(own, placed(axis, 1 + k))); }
        }
    }
    if (kappa == 0.0) { return bonds / 4.0; }
    return own.y * own.y / (2.0 * kappa) + bonds / 4.0;
}

// What flows to the next site along the region's axis, per a^(d - 1) and unit of time, times the square of the scale and over the step: the bonds across the face, those to images of sites on its other side among them
fn flux() -> f32 {
    let axis = region.across;
    let n = p.size[axis];
    let ring = p.edges[axis] == PERIODIC;
    if (!ring && at[axis] + 1 >= n) { return 0.0; }
    var sum = 0.0;
    for (var below = 0; below < HALF; below++) {
        var start = at[axis] - below;
        if (ring) { start = (start % n + n) % n; }
        if (start < 0) { break; }
        let here = place + (start - at[axis]) * stride(axis);
        if ((mark(here) & WALL) != 0u) { continue; }
        let a = level(here);
        for (var towards = -1; towards <= 1; towards += 2) {
            // As in `walked`; `shift` counts sites from `start` on, which a ring does not wrap.
            var direction = towards;
            var sign = 1;
            var on_node = false;
            var to = start;
            var shift = 0;
            for (var k = 0; k < HALF; k++) {
                if (on_node) {
                    on_node = false;
                } else {
                    let next = ghost(axis, to + direction);
                    let beyond = to + direction < 0 || to + direction >= n;
                    let other = place + (next.x - at[axis]) * stride(axis);
                    if (next.y == 0) {
                        on_node = true;
                        direction = -direction;
                        sign = -sign;
                    } else if ((!ring && beyond) || (mark(other) & WALL) != 0u) {
                        direction = -direction;
                    } else {
                        to = next.x;
                        shift += direction;
                    }
                }
                if (on_node || shift <= below) { continue; }
                let there = place + (to - at[axis]) * stride(axis);
                let b = f32(sign) * level(there);
                let pressure = (a.y + b.y) / 2.0;
                let slope = (2.0 * (b.x - a.x) - (b.y - a.y)) / (2.0 * region.own.y);
                sum -= p.coefficients[k] * bond(here, there) * pressure * slope;
            }
        }
    }
    return sum;
}

fn pressure() -> f32 { return now[place]; }
