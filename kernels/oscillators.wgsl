// What all kernels of coupled oscillators share: the flow of a pair of masses and the spring between them (src/solver/oscillators/pair.rs has the formulas). It stands
// before each of them.
//
// A site that a sweep leaves alone at an end drifts, or swings on the spring of a soft edge: that is a bond to a phantom of q = p = 0 which B = 0 and its own A = 0 (or
// C = 0) keep at q = 0.

// What the medium holds: coefficients of every bond
override EACH: bool = false;

// (q, p) of both masses after a kick, a drift and a kick; w: kappa, A, B, C
fn turned(first: vec2f, second: vec2f, w: vec4f) -> vec4f {
    let r = first.x - second.x;
    let p1 = fma(-r, w.x, first.y);
    let p2 = fma(r, w.x, second.y);
    let q1 = fma(p2, w.z, fma(p1, w.y, first.x));
    let q2 = fma(p2, w.w, fma(p1, w.z, second.x));
    let s = q1 - q2;
    return vec4f(q1, fma(-s, w.x, p1), q2, fma(s, w.x, p2));
}

// The bond of a site at a high end to the phantom after it, and of the phantom before a low end: end = kappa, A of the site
fn at_high_end(end: vec2f) -> vec4f { return vec4f(end, 0.0, 0.0); }
fn at_low_end(end: vec2f) -> vec4f { return vec4f(end.x, 0.0, 0.0, end.y); }
