// What the kernels of finite differences for sound share that take a thread a site: the medium, and which sites stand around one. kernels/fdtd.wgsl stands before it.
//
// A level is nx x ny x nz numbers, x fastest. What the medium has is said by constants, so that a kernel loads what it needs only.

// Half the order in space, and the axes
override HALF: i32 = 1;
override RANK: i32 = 2;
// What the medium holds beside one speed: a speed per site, a density, walls
override SQUARES: bool = false;
override DENSITY: bool = false;
override MARKS: bool = false;

const WALL = 1u;
const BESIDE = 2u; // the stencil reaches a wall
// Marks of a word, two bits each
const PACKED = 16;

struct Params {
    size: vec3i,
    square: f32,          // (c dt/a)^2, or rho c^2 dt^2/a^2 with a density per site
    ends: vec3i,          // slots of each end of an axis with absorbing layers; 0: none
    rows_y: i32,          // rows of blocks along the launch's y axis
    bases: vec3i,         // where in `layers` an axis begins
    zero: i32,            // 0, which compilers cannot know
    edges: vec3i,         // absorbing edges are closed by rigid ones
    listed: i32,          // sites of the list
    coefficients: vec4f,  // C_1 ... C_4 of the second difference (src/solver/fdtd/stencil.rs)
    fluxes: vec4f,        // the weights of the flux through a face
    widths: vec3i,        // sites of each end that absorb: the first or the last of its slots
    unused: i32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> now: array<f32>;
@group(0) @binding(2) var<storage, read_write> old: array<f32>;
@group(0) @binding(3) var<storage, read> squares: array<f32>;
@group(0) @binding(4) var<storage, read> density: array<f32>;
//@ if OPERATES
// Of each site its marks, and above these two bits where what happens there is described, or 0; then these descriptions (kernels/fdtd_step.wgsl). One array, since
// adapters grant eight.
@group(0) @binding(5) var<storage, read> operations: array<u32>;
//@ else
@group(0) @binding(5) var<storage, read> marks: array<u32>;
//@ end

// The site of this thread
var<private> at: vec3i;
var<private> place: i32;

fn stride(axis: i32) -> i32 {
    return select(select(p.size.x * p.size.y, p.size.x, axis == 1), 1, axis == 0);
}

fn mark(site: i32) -> u32 {
    if (!MARKS) { return 0u; }
    //@ if OPERATES
    return operations[site] & 3u;
    //@ else
    return (marks[site / PACKED] >> u32(2 * (site % PACKED))) & 3u;
    //@ end
}

// The place at a distance along an axis, and its sign (0: on the zero one spacing outside a soft edge, whose place is the site's own)
fn placed(axis: i32, offset: i32) -> vec2i {
    let to = ghost(axis, at[axis] + offset);
    return vec2i(select(place, place + (to.x - at[axis]) * stride(axis), to.y != 0), to.y);
}

// The places 1 ... HALF sites away in a direction and their signs, walls and edges being mirrors
fn walked(axis: i32, towards: i32) -> array<vec2i, 4> {
    var found: array<vec2i, 4>;
    var here = at[axis];
    var there = place;
    var direction = towards;
    var sign = 1;
    var on_node = false; // on the zero one spacing outside a soft edge
    let edge = p.edges[axis];
    let n = p.size[axis];
    for (var k = 0; k < HALF; k++) {
        if (on_node) {
            on_node = false; // back to the last site, with the other sign
        } else {
            let next = ghost(axis, here + direction);
            let beyond = here + direction < 0 || here + direction >= n;
            let other = there + (next.x - here) * stride(axis);
            if (next.y == 0) {
                on_node = true;
                direction = -direction;
                sign = -sign;
            } else if ((edge != PERIODIC && beyond) || (mark(other) & WALL) != 0u) {
                direction = -direction; // an even mirror: the site itself once more
            } else {
                here = next.x;
                there = other;
            }
        }
        found[k] = vec2i(there, select(sign, 0, on_node));
    }
    return found;
}

// Whether no stencil reaches beyond an edge
fn inner() -> bool {
    var all = at.x >= HALF && at.x < p.size.x - HALF;
    if (RANK > 1) { all = all && at.y >= HALF && at.y < p.size.y - HALF; }
    if (RANK > 2) { all = all && at.z >= HALF && at.z < p.size.z - HALF; }
    return all;
}
