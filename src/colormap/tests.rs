use super::curves::*;
use super::*;
use std::f64::consts::TAU;

/// Half a step of 8 bits moves Oklab by less than this anywhere outside the darkest shades.
const ROUNDING: f64 = 0.004;

#[test]
fn names_are_unique_and_auto_fits() {
    for (n, map) in COLORMAPS.iter().enumerate() {
        assert!(COLORMAPS[..n].iter().all(|other| other.id != map.id), "{}", map.id);
    }
    for kind in [Kind::Sequential, Kind::Diverging, Kind::Cyclic] {
        assert_eq!((auto(kind).kind, auto(kind).is_light()), (kind, false));
        assert_eq!(
            (auto_on_paper(kind).kind, auto_on_paper(kind).is_light()),
            (kind, kind != Kind::Cyclic)
        );
        assert!(resolve("auto", kind).is_ok());
    }
    let unknown = resolve("virdis", Kind::Sequential);
    assert!(matches!(unknown, Err(ColormapError::Unknown { .. })));
    for (name, kind) in [("hue", Kind::Sequential), ("viridis", Kind::Cyclic)] {
        assert!(matches!(resolve(name, kind), Err(ColormapError::Unfitting { .. })));
    }
}

#[test]
fn phases_are_equally_light_and_evenly_spaced() {
    let table = find("hue").unwrap().table();
    for n in 0..ENTRIES {
        let [l, a, b] = oklab(table[n]);
        assert!((l - HUE_LIGHTNESS).abs() < ROUNDING, "entry {n}: lightness {l}");
        assert!((a.hypot(b) - HUE_CHROMA).abs() < ROUNDING, "entry {n}: chroma");
        // Sixteen entries on, the step along the circle is 2 C sin(π/16), whatever the entry.
        let [_, a2, b2] = oklab(table[(n + 16) % ENTRIES]);
        let step = (a2 - a).hypot(b2 - b);
        assert!(
            (step - 2.0 * HUE_CHROMA * (TAU / 32.0).sin()).abs() < 2.0 * ROUNDING,
            "entry {n}: step {step}"
        );
    }
    let [r, g, b] = phase_color(find("hue").unwrap(), 0.0, 1.0);
    assert!(r > g && r > b, "a real positive value is red");
    let [r, g, b] = phase_color(find("hue").unwrap(), std::f32::consts::PI, 1.0);
    assert!(r < g && r < b, "a real negative value is cyan");
}

#[test]
fn every_cycle_closes_and_has_even_steps() {
    for map in COLORMAPS.iter().filter(|map| map.kind == Kind::Cyclic) {
        let table = map.table();
        let step = |n: usize| {
            let (p, q) = (oklab(table[n]), oklab(table[(n + 8) % ENTRIES]));
            (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>().sqrt()
        };
        let mean = (0..ENTRIES).map(step).sum::<f64>() / 256.0;
        for n in 0..ENTRIES {
            // Chords across a bend are a little shorter than along the straight.
            assert!(
                (step(n) / mean - 1.0).abs() < 0.25,
                "{} entry {n}: {} of {mean}",
                map.id,
                step(n)
            );
        }
    }
}

#[test]
fn brightness_scales_oklab() {
    let map = find("hue").unwrap();
    let full = oklab(phase_color(map, 1.0, 1.0));
    let half = oklab(phase_color(map, 1.0, 128.0 / 255.0));
    for axis in 0..3 {
        assert!((half[axis] - full[axis] * 128.0 / 255.0).abs() < 2.0 * ROUNDING);
    }
    assert_eq!(phase_color(map, 1.0, 0.0), [0, 0, 0]);
}

#[test]
fn zero_is_neutral_and_sides_mirror_each_other() {
    for map in COLORMAPS.iter().filter(|map| map.kind == Kind::Diverging) {
        let table = map.table();
        let [_, a, b] = oklab(table[128]);
        assert!(a.hypot(b) < 0.01, "{}: zero has chroma {}", map.id, a.hypot(b));
        // From zero outwards lightness only falls, or only rises, on both sides.
        let outwards = oklab(table[255])[0] - oklab(table[128])[0];
        for n in 4..128 {
            for (near, far) in [(132 - n, 128 - n), (124 + n, 128 + n)] {
                let step = oklab(table[far])[0] - oklab(table[near])[0];
                assert!(step * outwards.signum() > -ROUNDING, "{} entry {far}", map.id);
            }
        }
    }
    let tide = find("tide").unwrap().table();
    for n in 1..128 {
        // Equal by construction; outside sRGB a channel would be cut off and this would show it.
        assert!((oklab(tide[128 - n])[0] - oklab(tide[128 + n])[0]).abs() < 2.0 * ROUNDING);
    }
}

#[test]
fn even_maps_get_lighter_all_the_way() {
    for id in ["dawn", "viridis", "inferno", "magma", "plasma", "cividis", "greys"] {
        let table = find(id).unwrap().table();
        for n in 4..ENTRIES {
            assert!(oklab(table[n])[0] > oklab(table[n - 4])[0], "{id} entry {n}");
        }
    }
}

/// What eyes without red or green cones see (Viénot, Brettel and Mollon 1999, for sRGB's primaries): linear light in, linear light out.
fn dichromat([r, g, b]: [f64; 3], without_green: bool) -> [f64; 3] {
    let (long, middle, short) = (
        0.31399022 * r + 0.63951294 * g + 0.04649755 * b,
        0.15537241 * r + 0.75789446 * g + 0.08670142 * b,
        0.01775239 * r + 0.10944209 * g + 0.87256922 * b,
    );
    let (l, m) = if without_green {
        (long, 0.9513092 * long + 0.04866992 * short)
    } else {
        (1.05118294 * middle - 0.05116099 * short, middle)
    };
    [
        5.47221206 * l - 4.6419601 * m + 0.16963708 * short,
        -1.1252419 * l + 2.29317094 * m - 0.1678952 * short,
        0.02980165 * l - 0.19318073 * m + 1.16364789 * short,
    ]
}

#[test]
fn dawn_and_dusk_are_even_and_safe_for_colour_blind_eyes() {
    for (id, ground) in [("dawn", [8, 9, 10]), ("dusk", [255; 3])] {
        let table = find(id).unwrap().table();
        for (found, wanted) in table[0].iter().zip(ground) {
            assert!(found.abs_diff(wanted) <= 1, "{id} begins at {:?}", table[0]);
        }
        let colors: Vec<[f64; 3]> = table.iter().map(|color| oklab(*color)).collect();
        let step = |n: usize| {
            let (p, q) = (colors[n], colors[n + 16]);
            (0..3).map(|axis| (p[axis] - q[axis]).powi(2)).sum::<f64>().sqrt()
        };
        let mean = (0..ENTRIES - 16).map(step).sum::<f64>() / 240.0;
        for n in 0..ENTRIES - 16 {
            // Chords are a little shorter than the curve; a channel cut off at the edge of sRGB would show.
            assert!(
                (step(n) / mean - 1.0).abs() < 0.15,
                "{id} entry {n}: {} of {mean}",
                step(n)
            );
        }
        // Light all the way up or down, for every eye.
        let sign = if id == "dawn" { 1.0 } else { -1.0 };
        for without_green in [false, true] {
            let luminance = |n: usize| {
                let light = table[n].map(|channel: u8| srgb_decode(f64::from(channel) / 255.0));
                let [r, g, b] = dichromat(light, without_green);
                0.2126 * r + 0.7152 * g + 0.0722 * b
            };
            for n in 8..ENTRIES {
                assert!(sign * (luminance(n) - luminance(n - 8)) > 0.0, "{id} entry {n}");
            }
        }
    }
}

#[test]
fn entries_at_the_ends_and_at_zero() {
    let levels = Levels { low: -2.0, high: 2.0 };
    let signed = levels.mapping(Kind::Diverging);
    assert_eq!(
        [-9.0, -2.0, 0.0, 2.0, 9.0].map(|v| signed.entry(v)),
        [0, 1, 128, 255, 255]
    );
    // Zero stays neutral where the ends are not equally far from it, and equal sizes have colours of equal strength.
    for (low, high, ends) in [(-1.0, 3.0, [86, 255]), (-4.0, 1.0, [1, 160]), (0.0, 2.0, [128, 255])] {
        let uneven = Levels { low, high }.mapping(Kind::Diverging);
        assert_eq!([low, high].map(|v| uneven.entry(v)), ends);
        assert_eq!(uneven.entry(0.0), 128);
        assert_eq!(uneven.entry(0.5) - 128, 128 - uneven.entry(-0.5));
    }
    let above = Levels { low: 10.0, high: 90.0 }.mapping(Kind::Diverging);
    assert_eq!([10.0, 50.0, 90.0].map(|v| above.entry(v)), [1, 128, 255]);
    let plain = Levels { low: 0.0, high: 2.0 }.mapping(Kind::Sequential);
    assert_eq!(
        [-1.0, 0.0, 2.0, 3.0, f32::NAN].map(|v| plain.entry(v)),
        [0, 0, 255, 255, 0]
    );
    let empty = Levels { low: 0.0, high: 0.0 }.mapping(Kind::Diverging);
    assert_eq!(empty.entry(0.0), 128);
    assert_eq!(phase_entry(0.0), 0);
    assert_eq!(phase_entry(-std::f32::consts::PI), 128);
    assert_eq!(phase_entry(std::f32::consts::PI), 128);
    assert_eq!(phase_entry(-1e-9), 0);
}

#[test]
fn directions_have_the_entries_of_their_phases() {
    for n in 0..4096i16 {
        // Between the middles of entries, where rounding does not decide.
        let phase = (f32::from(n) + 0.5) / 4096.0 * std::f32::consts::TAU;
        for size in [1e-20, 1.0, 1e20] {
            let entry = direction_entry(size * phase.cos(), size * phase.sin());
            assert_eq!(entry, phase_entry(phase), "{phase}");
        }
    }
    assert_eq!(direction_entry(0.0, 0.0), 0);
    assert_eq!(
        [(1.0, 0.0), (0.0, 2.0), (-3.0, 0.0), (0.0, -4.0)].map(|(re, im)| direction_entry(re, im)),
        [0, 64, 128, 192]
    );
}
