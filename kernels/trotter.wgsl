// What all kernels of Trotter-Suzuki share: the turn of a pair of sites, as shears and in tan form, and rotations. It stands before each of them.

// What the scene holds: walls, bond phases of a flux, imaginary time, an interaction
override WALLS: bool = false;
override FLUX: bool = false;
override IMAGINARY: bool = false;
override INTERACTION: bool = false;

fn times(u: vec2f, v: vec2f) -> vec2f { return vec2f(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x); }

// Three shears of determinant 1
fn shear(u: vec2f, v: vec2f, turn: vec2f) -> vec4f {
    let once = u - turn.x * v;
    let other = v + turn.y * once;
    return vec4f(once - turn.x * other, other);
}

// Two sites of a bond after its turn, (tan(angle/2), sin(angle)) or (tanh, sinh); (0, 0) leaves them as they are
fn turned(u: vec2f, v: vec2f, turn: vec2f) -> vec4f {
    if (IMAGINARY) { return shear(u, v, vec2f(-turn.x, turn.y)); }
    // (u_re, v_im) and (v_re, u_im)
    let both = shear(vec2f(u.x, v.x), vec2f(v.y, u.y), turn);
    return vec4f(both.x, both.w, both.y, both.z);
}

// The same of a bond along x with a phase: with the conjugate phase on its far end it has none
fn turned_x(u: vec2f, v: vec2f, turn: vec2f, phase: vec2f) -> vec4f {
    if (!FLUX) { return turned(u, v, turn); }
    if (turn.y == 0.0) { return vec4f(u, v); }
    let both = turned(u, times(v, vec2f(phase.x, -phase.y)), turn);
    return vec4f(both.xy, times(both.zw, phase));
}

// The tangent half of a bond's turn, t = tan or tanh of its angle: a + i t b, or a + t b. The cosines stand in the phases, which lets whole steps do with a third of the
// latency of shears; a site without partner is multiplied by the secant instead.
fn lean(a: vec2f, b: vec2f, t: f32) -> vec2f {
    if (IMAGINARY) { return fma(vec2f(t), b, a); }
    return fma(vec2f(-t, t), b.yx, a);
}

// Both sites of a bond
fn leaned(u: vec2f, v: vec2f, t: f32) -> vec4f { return vec4f(lean(u, v, t), lean(v, u, t)); }

// The same of a bond along x with a phase
fn leaned_x(u: vec2f, v: vec2f, t: f32, phase: vec2f) -> vec4f {
    return vec4f(lean(u, times(v, vec2f(phase.x, -phase.y)), t), lean(v, times(u, phase), t));
}

// cos x and sin x to a rounding for |x| < 8192: the driver's own are good to 1e-4 only, by their specification. Reduction by pi/2 in three parts and the
// polynomials of S. L. Moshier's Cephes library.
fn rotation(x: f32) -> vec2f {
    let quarter = round(x * 0.63661977);
    let y = ((x - quarter * 1.5703125) - quarter * 4.837512969970703125e-4) - quarter * 7.54978995489188216e-8;
    let z = y * y;
    let sine = fma(fma(fma(-1.9515295891e-4, z, 8.3321608736e-3), z, -1.6666654611e-1) * z, y, y);
    let cosine = fma(fma(fma(2.443315711809948e-5, z, -1.388731625493765e-3), z, 4.166664568298827e-2) * z, z, fma(-0.5, z, 1.0));
    let turns = i32(quarter) & 3;
    if (turns == 0) { return vec2f(cosine, sine); }
    if (turns == 1) { return vec2f(-sine, cosine); }
    if (turns == 2) { return vec2f(-cosine, -sine); }
    return vec2f(sine, -cosine);
}

// A site times its phase, and the interaction's, of the densities after and before it
fn multiplied(value: vec2f, factor: vec2f, interaction: vec2f) -> vec2f {
    let product = times(value, factor);
    if (!INTERACTION) { return product; }
    let turns = rotation(fma(interaction.y, dot(value, value), interaction.x * dot(product, product)));
    return times(product, vec2f(turns.x, -turns.y));
}
