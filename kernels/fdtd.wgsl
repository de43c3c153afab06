// What the kernels of finite differences for sound share: edges as mirrors. It stands before each of them; their `p` has size and edges.

const RIGID = 0;
const SOFT = 1;
const PERIODIC = 2;

// After how many sites an axis comes again, mirror images included
fn period_of(axis: i32) -> i32 {
    let n = p.size[axis];
    let edge = p.edges[axis];
    return select(select(2 * (n + 1), 2 * n, edge == RIGID), n, edge == PERIODIC);
}

// The site that stands for site `to` of an axis, and its sign (0: the zero one spacing outside a soft edge)
fn ghost(axis: i32, to: i32) -> vec2i {
    let n = p.size[axis];
    if (to >= 0 && to < n) { return vec2i(to, 1); }
    let edge = p.edges[axis];
    let period = period_of(axis);
    var turn = select(to, to + 1, edge == SOFT) % period;
    if (turn < 0) { turn += period; }
    if (edge == PERIODIC) { return vec2i(turn, 1); }
    if (edge == RIGID) { return vec2i(min(turn, 2 * n - 1 - turn), 1); }
    if (turn == 0 || turn == n + 1) { return vec2i(0, 0); }
    if (turn <= n) { return vec2i(turn - 1, 1); }
    return vec2i(2 * (n + 1) - turn - 1, -1);
}
