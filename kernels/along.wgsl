// What kernels of pairs of sites share that look beyond edges: their `p` has size and periodic. It stands before each of them.

// The number of a site of an axis, or -1 beyond its edge
fn along(axis: i32, at: i32) -> i32 {
    let n = p.size[axis];
    if (at >= 0 && at < n) { return at; }
    if (p.periodic[axis] == 0) { return -1; }
    return ((at % n) + n) % n;
}
