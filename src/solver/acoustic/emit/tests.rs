use super::*;

#[test]
fn channels_play_what_sites_are_given() {
    use crate::physics::source::{Element, Signal};
    let grid = Grid::new(&[40, 30], 0.5);
    let source = |place: Place, velocity: [f64; 3]| Source {
        place,
        signal: Signal::Sine { frequency: 0.3 },
        pattern: Pattern::Monopole,
        amplitude: 7.0,
        delay: 0.2,
        phase: 0.3,
        velocity,
    };
    let element = |x: f64, delay: f64| Element {
        at: [x, 6.1, 0.0],
        delay,
    };
    let points = Place::Points(vec![element(3.0, 0.0), element(3.3, 0.4), element(4.0, 0.4)]);
    let line = Place::Line {
        from: [2.0, 3.0, 0.0],
        to: [6.0, 3.0, 0.0],
    };
    let still = [source(points, [0.0; 3]), source(line.clone(), [0.0; 3])];
    let emitters = Emitters::new(&grid, &still, &[]);
    let players = emitters.players().expect("nothing moves");
    for t in [0.3, 1.7, 40.0] {
        let strengths = emitters.strengths(t);
        // Two moments of the points, the line, and its ends, which have half a cell.
        assert_eq!(strengths.len(), 4);
        let (mut played, mut expected) = (Vec::new(), Vec::new());
        for (site, channel, share) in &players {
            played.push((*site, strengths[*channel] * share));
        }
        emitters.play(t, &[], |site, strength| expected.push((site, strength)));
        played.retain(|(_, strength)| *strength != 0.0);
        expected.retain(|(_, strength)| *strength != 0.0);
        assert_eq!(played, expected, "t = {t}");
    }
    assert!(
        Emitters::new(&grid, &[source(line, [1.0, 0.0, 0.0])], &[])
            .players()
            .is_none()
    );
}

/// A piston in a rigid edge, half a site outside of the first or behind the last, plays as well where it slides along the edge; at t = 0 what one at rest does.
#[test]
fn a_piston_slides_along_its_edge() {
    use crate::physics::source::Signal;
    let grid = Grid::new(&[12, 13, 9], 0.5);
    for center in [[3.0, 3.0, -0.25], [3.0, 3.0, 4.25]] {
        for pattern in [Pattern::Monopole, Pattern::Dipole([0.0, 0.0, 1.0])] {
            let played = |velocity: [f64; 3], t: f64| {
                let source = Source {
                    place: Place::Disk {
                        center,
                        radius: 1.4,
                        normal: 2,
                    },
                    signal: Signal::Sine { frequency: 0.3 },
                    pattern,
                    amplitude: 7.0,
                    delay: 0.0,
                    phase: 0.3,
                    velocity,
                };
                let mut field = vec![0.0; grid.sites()];
                Emitters::new(&grid, &[source], &[]).play(t, &[], |site, s| field[grid.index(site)] += s);
                field
            };
            // After a second it stands two sites further.
            let (slid, rests) = (played([0.0, 1.0, 0.0], 1.0), played([0.0; 3], 1.0));
            let most = rests.iter().fold(0.0f64, |most, s| most.max(s.abs()));
            assert!(most > 0.0);
            for n in 0..grid.sites() {
                let [i, j, k] = grid.site(n);
                let expected = if j < 2 { 0.0 } else { rests[grid.index([i, j - 2, k])] };
                assert!(
                    (slid[n] - expected).abs() < 1e-5 * most,
                    "{center:?} {pattern:?} at {i}, {j}, {k}"
                );
            }
        }
    }
}

#[test]
fn differences_are_those_of_their_order() {
    let all = |half: usize| -> Vec<(f64, f64)> { difference(half).collect() };
    assert_eq!(all(1), [(1.0, 0.5)]);
    let close = |(k, w): (f64, f64), (other, v): (f64, f64)| k == other && (w - v).abs() < 1e-15;
    assert!((all(2).into_iter().zip([(1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0)])).all(|(a, b)| close(a, b)));
    let eighth = [(1.0, 0.8), (2.0, -0.2), (3.0, 4.0 / 105.0), (4.0, -1.0 / 280.0)];
    assert!(all(4).into_iter().zip(eighth).all(|(a, b)| close(a, b)));
}

#[test]
fn a_disk_stands_for_its_area() {
    let grid = Grid::new(&[40, 40, 5], 0.5);
    let area = |center: [f64; 3], radius: f64| disk(&grid, center, radius, 2).iter().map(|(_, _, w)| w).sum::<f64>();
    // Cells are cut to 1/256, so that the rim has a radius of 256 parts: a circle holds some 256^⅔ = 40 points more or less than its area says (Gauss' circle
    // problem), each 0.25/256.
    let rim = 40.0 * 0.25 / 256.0;
    let whole = std::f64::consts::PI * 64.0;
    assert!((area([9.6, 10.1, 0.0], 8.0) - whole).abs() < rim);
    // A quarter before two mirrors half a site outside.
    assert!((area([-0.25, -0.25, 0.0], 8.0) - whole / 4.0).abs() < rim);
    // Wider than the grid it is all of its plane, a square metre a square metre.
    assert!((area([10.0, 10.0, 0.0], 100.0) - 400.0).abs() < 1e-9);
}

#[test]
fn edges_and_walls_mirror_what_stands_beside_a_place() {
    use crate::grid::Edge;
    let grid = Grid::new(&[10, 10], 1.0).with_edges([Edge::Wall, Edge::Soft, Edge::Wall], 0);
    let beside = |at: [f64; 3], beside: [f64; 3]| shares_beside(&grid, &at, beside, |[i, ..]| i == 6);
    assert_eq!(beside([0.0, 5.0, 0.0], [-1.0, 0.0, 0.0]), [([0, 5, 0], 1.0)]);
    assert_eq!(beside([9.0, 5.0, 0.0], [2.0, 0.0, 0.0]), [([8, 5, 0], 1.0)]);
    assert_eq!(beside([3.0, 0.0, 0.0], [0.0, -3.0, 0.0]), [([3, 1, 0], -1.0)]);
    assert_eq!(beside([5.0, 5.0, 0.0], [3.0, 0.0, 0.0]), [([3, 5, 0], 1.0)]);
    assert_eq!(beside([7.0, 5.0, 0.0], [-1.0, 0.0, 0.0]), [([7, 5, 0], 1.0)]);
    assert!(beside([-2.0, 5.0, 0.0], [1.0, 0.0, 0.0]).is_empty());
    assert!(beside([6.0, 5.0, 0.0], [1.0, 0.0, 0.0]).is_empty());
}

#[test]
fn a_line_stands_for_its_length() {
    let grid = Grid::new(&[20, 20], 0.5);
    let line = |from: [f64; 3], to: [f64; 3]| points(&grid, &Place::Line { from, to });
    let straight = line([2.0, 0.0, 0.0], [2.0, 9.5, 0.0]);
    assert_eq!(straight.len(), 20);
    assert!(straight.iter().all(|(at, _, weight)| *weight == 0.5 && at[0] == 2.0));
    // Half as far along y as along x: √(1 + ¼) · a each, and the points lie on the line between the sites.
    let oblique = line([1.0, 1.1, 0.0], [7.0, 4.1, 0.0]);
    assert_eq!(oblique.len(), 13);
    for (n, (at, _, weight)) in oblique.iter().enumerate() {
        // Ends on sites have half of their cells.
        let part = if n < 11 { 0.5 } else { 0.25 };
        assert!((weight - part * 1.25f64.sqrt()).abs() < 1e-12);
        assert!((at[1] - 1.1 - (at[0] - 1.0) / 2.0).abs() < 1e-12);
    }
}

/// Whatever its ends and the spacing, a line is as long as its ends are apart, and half a spacing longer at each that reaches an edge.
#[test]
fn a_line_is_as_long_as_it_is() {
    for spacing in [0.5, 0.3, 0.07] {
        let grid = Grid::new(&[200, 200], spacing);
        let length =
            |from: [f64; 3], to: [f64; 3]| -> f64 { line(&grid, from, to).iter().map(|(_, _, part)| part).sum() };
        for (from, to) in [
            ([1.0, 2.0], [1.0, 7.77]),
            ([9.3, 3.0], [2.1, 3.0]),
            ([2.0, 3.0], [6.0, 6.0]),
            ([3.0, 3.0], [3.01, 3.0]),
        ] {
            let [from, to] = [from, to].map(|[x, y]: [f64; 2]| [x, y, 0.0]);
            let expected = (to[0] - from[0]).hypot(to[1] - from[1]);
            assert!((length(from, to) - expected).abs() < 1e-7, "{spacing}: {from:?} {to:?}");
        }
        let across = length([2.0, 0.0, 0.0], [2.0, 199.0 * spacing, 0.0]);
        assert!((across - 200.0 * spacing).abs() < 1e-9, "{across}");
        let from_edge = length([2.0, 0.0, 0.0], [2.0, 3.0, 0.0]);
        assert!((from_edge - 3.0 - spacing / 2.0).abs() < 1e-7, "{from_edge}");
    }
    let grid = Grid::new(&[20, 20], 1.0);
    assert!(line(&grid, [3.0; 3], [3.0; 3]).is_empty());
}

/// An end on an outermost site reaches to the wall whatever the rounding of its place: 2.9/0.1 is 28.999999999999996. So do both ends of a diagonal, of which one lies on the edge of another axis than that which is looked along.
#[test]
fn ends_on_edges_reach_to_the_walls() {
    let length = |grid: &Grid, from: [f64; 3], to: [f64; 3]| -> f64 {
        let all = line(grid, from, to);
        assert!(all.iter().all(|(_, _, part)| *part == all[0].2), "{all:?}");
        all.iter().map(|(_, _, part)| part).sum()
    };
    let grid = Grid::new(&[25, 30], 0.1);
    for (from, to) in [(0.0, 2.9), (2.9, 0.0)] {
        let found = length(&grid, [2.0, from, 0.0], [2.0, to, 0.0]);
        assert!((found - 3.0).abs() < 1e-12, "{found}");
    }
    let diagonal = 0.1 * 2f64.sqrt();
    for (size, from, to, sites) in [
        (&[20, 18][..], [0.0; 3], [1.7, 1.7, 0.0], 18.0),
        (&[20, 18], [1.9, 0.0, 0.0], [0.2, 1.7, 0.0], 18.0),
        (&[18, 20], [1.7, 1.7, 0.0], [0.0; 3], 18.0),
        (&[18, 20], [0.0, 0.2, 0.0], [1.7, 1.9, 0.0], 18.0),
    ] {
        let found = length(&Grid::new(size, 0.1), from, to);
        assert!((found - sites * diagonal).abs() < 1e-12, "{size:?}: {found}");
    }
    // A line that runs along an edge ends where it does.
    let along: f64 = line(&grid, [0.3, 0.0, 0.0], [0.9, 0.0, 0.0])
        .iter()
        .map(|(_, _, part)| part)
        .sum();
    assert!((along - 0.6).abs() < 1e-12, "{along}");
}

/// An end that is typed with six decimals, of 4/3 with sites 1/3 apart, lies on the outermost site, and is no cell of its own; so do ends of a diagonal. One a thousandth of a spacing away does not.
#[test]
fn typed_ends_on_edges_reach_to_the_walls() {
    let a = 1.0 / 3.0;
    let grid = Grid::new(&[5, 8], a);
    let length = |from: [f64; 2], to: [f64; 2]| -> f64 {
        let all = line(&grid, [from[0], from[1], 0.0], [to[0], to[1], 0.0]);
        all.iter().map(|(_, _, part)| part).sum()
    };
    for (from, to) in [(0.0, 1.333_333), (1.333_333, 1e-6), (1.333_334, 0.0)] {
        let found = length([from, 1.0], [to, 1.0]);
        assert!((found - 5.0 * a).abs() < 1e-12, "{found}");
        let all = line(&grid, [from, 1.0, 0.0], [to, 1.0, 0.0]);
        assert!(all.iter().all(|(_, _, part)| *part == all[0].2), "{all:?}");
    }
    // From the lower to the upper edge of x, of which y has no edge.
    let oblique = length([0.0, 0.333_333], [1.333_333, 1.666_666]);
    assert!((oblique - 5.0 * a * 2f64.sqrt()).abs() < 1e-5, "{oblique}");
    // To the upper edge of y, along which the line is as long but for what was typed.
    let across = length([0.333_333, 1.666_667], [1.0, 2.333_333]);
    assert!((across - 2.5 * a * 2f64.sqrt()).abs() < 1e-5, "{across}");
    let short = length([0.0, 1.0], [1.333, 1.0]);
    assert!((short - 1.333 - 0.5 * a).abs() < 1e-9, "{short}");
}

/// What a constant signal has played by a time is that time, at steps and between two, from half a step before the first one on.
#[test]
fn what_was_played_is_the_trapezoidal_rule() {
    for until in [-0.5, 0.0, 0.5, 1.0, 3.0, 7.5] {
        let played = played_until(until * 0.3, 0.3, |_| 1.0);
        assert!((played - until * 0.3).abs() < 1e-15, "{played} by {until} steps");
    }
    // Of what begins at 0 every value before the last counts in full.
    assert!((played_until(3.0, 1.0, |t| t) - 4.5).abs() < 1e-15);
}
