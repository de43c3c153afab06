// Whole steps of Trotter-Suzuki in two dimensions, STEPS a launch, where nothing but edges stops a bond: no walls, no flux, whole axes one after the other. A subgroup
// steps a strip of columns, 4 a lane, and goes down the rows, two at once; every step is a stage that holds the pair of rows before in registers. Bonds between
// lanes go through shuffles. What no missing neighbour has reached is written: HALO lanes less on both sides, STEPS pairs of rows before and after a block's own.
// Memory: 24 B a site and launch, and what blocks read of each other's rows; no workgroup memory.
//
// Rows are multiples of 4 sites. Sites beyond an edge hold 0, and no bond with one is turned. kernels/trotter.wgsl, trotter_steps.wgsl and along.wgsl stand before it;
// what is written out, and how, is said by src/backend/wgpu/template.rs.

const STEPS = $STEPS;
// Lanes that 2 STEPS columns take
const HALO = $HALO;

@group(0) @binding(1) var<storage, read> field: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(3) var<storage, read> table: array<vec4f>;

// Two rows of a lane's columns
struct Pair {
//@ for c in 0..2
    a$c: vec4f,
    c$c: vec4f,
//@ end
}

// Where a row of a lane's columns begins, in pairs of sites, or -1; no row is further away than the grid is high.
fn begin(row: i32, column: i32) -> i32 {
    var y = row;
    if (p.periodic.y != 0) { y += select(0, p.size.y, y < 0) - select(0, p.size.y, y >= p.size.y); }
    return select((y * p.size.x + column) / 2, -1, y < 0 || y >= p.size.y || column < 0);
}

// A pair of rows of the field, and of the phases. Loads that wait for no decision come early: what is not there is 0.
//@ for k in 0..2
fn loaded$k(pair: i32, column: i32) -> Pair {
    let first = begin(2 * pair, column);
    let second = begin(2 * pair + 1, column);
    let a = max(first, 0);
    let c = max(second, 0);
//@ if k
    let found = Pair(table[a], table[c], table[a + 1], table[c + 1]);
//@ else
    let found = Pair(field[a], field[c], field[a + 1], field[c + 1]);
//@ end
    let none = vec4f();
    return Pair(
        select(found.a0, none, first < 0),
        select(found.c0, none, second < 0),
        select(found.a1, none, first < 0),
        select(found.c1, none, second < 0),
    );
}
//@ end

@compute @workgroup_size(64) fn steps(
    @builtin(workgroup_id) block: vec3u,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) own: u32,
) {
    let lanes = i32(size);
    let lane = i32(own);
    let core = 4 * (lanes - 2 * HALO);
    let start = i32(block.x * subgroups + subgroup) * core;
    let x = start + 4 * (lane - HALO);
    let pairs = (p.size.y + 1) / 2;
    let first = i32(block.y) * p.chunk;
    // Narrower subgroups than there might be leave nothing to the last blocks.
    let last = select(min(first + p.chunk, pairs), first - 2 * STEPS, start >= p.size.x);
    let column = along(0, x);
    let stores = lane >= HALO && lane < lanes - HALO && x < p.size.x;
    let stops_left = x == 0 && p.periodic.x == 0;
    let stops_right = x + 4 == p.size.x && p.periodic.x == 0;
    // Whether a lane of the strip has one of them
    let stops_x = p.periodic.x == 0 && (start <= 4 * HALO || start + core + 4 * HALO >= p.size.x);
    // The last pair may lack its second row, and there are no bonds between the first and the last.
    let none = first - 2 * STEPS - 1;
    let single = select(none, pairs - 1, p.size.y % 2 != 0);
    let top = select(0, none, p.periodic.y != 0);
    let bottom = select(pairs, none, p.periodic.y != 0);
//@ for s in 0..STEPS
//@ for c in 0..4
    var u$s_$c = vec2f();
    var v$s_$c = vec2f();
//@ end
//@ end
    var next = loaded0(first - STEPS, column);
    for (var j = first - STEPS; j < last + STEPS; j++) {
        var a0 = next.a0.xy;
        var a1 = next.a0.zw;
        var a2 = next.a1.xy;
        var a3 = next.a1.zw;
        var c0 = next.c0.xy;
        var c1 = next.c0.zw;
        var c2 = next.c1.xy;
        var c3 = next.c1.zw;
        next = loaded0(j + 1, column);
//@ for s in 0..STEPS
        {
            // The pair that enters this stage; the one before leaves it.
            let q = j - $s;
//@ for c in 0..4 step 2
            let xa$c = leaned(a$c, a$(c+1), p.x_even.x);
            let xc$c = leaned(c$c, c$(c+1), p.x_even.x);
//@ end
            var before_a = subgroupShuffleUp(xa2.zw, 1u);
            var after_a = subgroupShuffleDown(xa0.xy, 1u);
            var before_c = subgroupShuffleUp(xc2.zw, 1u);
            var after_c = subgroupShuffleDown(xc0.xy, 1u);
            var first_a = xa0.xy;
            var first_c = xc0.xy;
            var last_a = xa2.zw;
            var last_c = xc2.zw;
            if (stops_x) {
                if (stops_left) {
                    before_a = vec2f();
                    before_c = vec2f();
                    first_a *= p.x_odd.y;
                    first_c *= p.x_odd.y;
                }
                if (stops_right) {
                    after_a = vec2f();
                    after_c = vec2f();
                    last_a *= p.x_odd.y;
                    last_c *= p.x_odd.y;
                }
            }
            let inner_a = leaned(xa0.zw, xa2.xy, p.x_odd.x);
            let inner_c = leaned(xc0.zw, xc2.xy, p.x_odd.x);
            let za0 = leaned(lean(first_a, before_a, p.x_odd.x), inner_a.xy, p.x_even_again.x);
            let za2 = leaned(inner_a.zw, lean(last_a, after_a, p.x_odd.x), p.x_even_again.x);
            let zc0 = leaned(lean(first_c, before_c, p.x_odd.x), inner_c.xy, p.x_even_again.x);
            let zc2 = leaned(inner_c.zw, lean(last_c, after_c, p.x_odd.x), p.x_even_again.x);
            var t_even = p.y_even.x;
            var t_odd = p.y_odd.x;
            var t_even_again = p.y_even_again.x;
//@ for c in 0..4 step 2
            var za$(c)_0 = za$c.xy;
            var za$(c)_1 = za$c.zw;
//@ end
            if (q == single) {
                t_even = 0.0;
//@ for c in 0..4 step 2
                za$(c)_0 *= p.y_even.y;
                za$(c)_1 *= p.y_even.y;
//@ end
            }
//@ for c in 0..4 step 2
            let in$(c)_0 = leaned(za$(c)_0, zc$c.xy, t_even);
            let in$(c)_1 = leaned(za$(c)_1, zc$c.zw, t_even);
            var upper$(c)_0 = in$(c)_0.xy;
            var upper$(c)_1 = in$(c)_1.xy;
//@ end
            if (q == top || q == bottom) {
                t_odd = 0.0;
//@ for c in 0..4 step 2
                upper$(c)_0 *= p.y_odd.y;
                upper$(c)_1 *= p.y_odd.y;
                v$s_$c *= p.y_odd.y;
                v$s_$(c+1) *= p.y_odd.y;
//@ end
            }
            if (q - 1 == single) {
                t_even_again = 0.0;
//@ for c in 0..4
                u$s_$c *= p.y_even_again.y;
//@ end
            }
//@ for c in 0..4 step 2
            {
                let between = leaned(v$s_$c, upper$(c)_0, t_odd);
                let left = leaned(u$s_$c, between.xy, t_even_again);
                u$s_$c = between.zw;
                v$s_$c = in$(c)_0.zw;
                a$c = left.xy;
                c$c = left.zw;
            }
            {
                let between = leaned(v$s_$(c+1), upper$(c)_1, t_odd);
                let left = leaned(u$s_$(c+1), between.xy, t_even_again);
                u$s_$(c+1) = between.zw;
                v$s_$(c+1) = in$(c)_1.zw;
                a$(c+1) = left.xy;
                c$(c+1) = left.zw;
            }
//@ end
            let factors = loaded1(q - 1, column);
//@ for v in 0..2
            a$(2*v) = multiplied(a$(2*v), factors.a$v.xy, p.interaction);
            a$(2*v+1) = multiplied(a$(2*v+1), factors.a$v.zw, p.interaction);
            c$(2*v) = multiplied(c$(2*v), factors.c$v.xy, p.interaction);
            c$(2*v+1) = multiplied(c$(2*v+1), factors.c$v.zw, p.interaction);
//@ end
        }
//@ end
        let y = 2 * (j - STEPS);
        if (stores && j - STEPS >= first) {
            let at = (y * p.size.x + x) / 2;
            out[at] = vec4f(a0, a1);
            out[at + 1] = vec4f(a2, a3);
            if (y + 1 < p.size.y) {
                out[at + p.size.x / 2] = vec4f(c0, c1);
                out[at + p.size.x / 2 + 1] = vec4f(c2, c3);
            }
        }
    }
}
