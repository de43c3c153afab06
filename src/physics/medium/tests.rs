use super::super::expression::{SPACE, TIME};
use super::super::layer::{Samples, Shape};
use super::*;
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

fn layer(shape: Shape, value: &str, mode: Mode) -> Layer {
    Layer {
        mode,
        ..Layer::new(
            Sets::Potential,
            shape,
            value.parse().map_or_else(
                |_| Value::Expression(Expression::parse(value, SPACE).unwrap()),
                Value::Number,
            ),
        )
    }
}

/// The definition: every layer at every site, in order.
fn by_definition(medium: &Medium, group: Option<usize>, site: [usize; 3]) -> f64 {
    let mut value = 0.0;
    for (layer, layer_group) in medium.layers.iter().zip(&medium.groups) {
        if let Some(level) = layer.level(site, &medium.grid) {
            value = match (layer.mode, *layer_group == group) {
                (Mode::Set, true) => level,
                (Mode::Set, false) => 0.0,
                (Mode::Add, true) => value + level,
                (Mode::Add, false) => value,
            };
        }
    }
    value
}

fn assert_rows(medium: &Medium) {
    let [nx, ny, nz] = medium.grid.size();
    for group in [None, Some(0)] {
        for k in 0..nz {
            for j in 0..ny {
                // A part of the row, so that offsets are seen.
                let x = 1..nx - 1;
                let mut row = vec![f64::NAN; x.len()];
                medium.potential_row(group, j, k, x.clone(), &mut row);
                for (value, i) in row.iter().zip(x) {
                    let expected = by_definition(medium, group, [i, j, k]);
                    assert_eq!(
                        value.to_bits(),
                        expected.to_bits(),
                        "site {i} {j} {k}: {value} {expected}"
                    );
                }
            }
        }
    }
}

fn shapes(rank: usize) -> BoxedStrategy<Shape> {
    let coordinate = || -4.0..24.0f64;
    let point = move || [coordinate(), coordinate(), coordinate()];
    let pixels = Arc::new(Samples {
        size: [3, 2, 1],
        values: vec![0.0, 0.5, 1.0, 0.25, 0.0, 0.75],
        file: PathBuf::from("map.png"),
    });
    let round = prop_oneof![
        Just(Shape::Everywhere),
        (point(), point()).prop_map(|(a, b)| Shape::Box {
            min: [0, 1, 2].map(|n| a[n].min(b[n]).round()),
            max: [0, 1, 2].map(|n| a[n].max(b[n]).round()),
        }),
        (point(), 0.1..12.0f64).prop_map(|(center, radius)| Shape::Disk { center, radius }),
        (point(), 0.0..8.0f64, 0.5..5.0f64).prop_map(|(center, inner, width)| Shape::Ring {
            center: center.map(f64::round),
            inner: inner.round(),
            outer: inner.round() + width,
        }),
    ];
    if rank == 1 {
        return round.boxed();
    }
    prop_oneof![
        round,
        Just(Shape::Image(pixels)),
        prop::collection::vec([coordinate(), coordinate()], 3..7).prop_map(|points| Shape::Polygon { points }),
        // Corners on sites.
        prop::collection::vec([-3..25i32, -3..25i32], 3..7).prop_map(|points| Shape::Polygon {
            points: points.iter().map(|point| point.map(|at| f64::from(at) * 0.9)).collect(),
        }),
        (prop::collection::vec([coordinate(), coordinate()], 1..5), 0.1..6.0f64)
            .prop_map(|(points, radius)| { Shape::Stroke { points, radius } }),
        (
            coordinate(),
            0.1..6.0f64,
            prop::collection::vec(coordinate(), 0..4),
            0.5..5.0f64
        )
            .prop_map(|(x, thickness, centers, opening)| Shape::Slits {
                x,
                thickness,
                centers,
                opening
            }),
    ]
    .boxed()
}

fn layers(rank: usize) -> impl Strategy<Value = Vec<Layer>> {
    let value = prop_oneof![Just("0.7"), Just("x - 0.5*y^2 + z"), Just("sin(r) + r"), Just("2*y")];
    let mode = prop_oneof![Just(Mode::Set), Just(Mode::Add)];
    let one = (shapes(rank), value, mode, any::<bool>()).prop_map(|(shape, value, mode, driven)| Layer {
        drive: driven.then(|| Expression::parse("cos(t)", TIME).unwrap()),
        ..layer(shape, value, mode)
    });
    prop::collection::vec(one, 0..5)
}

/// Whatever the rounding of its corners, a polygon with corners on sites has the sites on its edges: as many in all as Pick's theorem says, area + half of those on the edges + 1.
#[test]
fn edges_of_polygons_belong_to_them() {
    let figures: [(&[[i32; 2]], usize); 4] = [
        (&[[10, 10], [20, 10], [20, 20], [10, 20]], 121),
        // A diamond: 2·5² + 2·5 + 1.
        (&[[15, 10], [20, 15], [15, 20], [10, 15]], 61),
        // Area 30, 12 sites on the edges.
        (&[[3, 4], [13, 4], [8, 10]], 30 + 6 + 1),
        // A spike upwards: area 8, 8 sites on the edges.
        (&[[4, 4], [8, 4], [6, 8]], 8 + 4 + 1),
    ];
    for a in [0.1, 0.02, 0.3, 0.7, 0.05, 0.013] {
        let grid = Grid::new(&[30, 30], a);
        for (points, count) in figures {
            // As they are written in a file: a decimal near the site.
            let written = |at: i32| format!("{:.10}", f64::from(at) * a).parse::<f64>().unwrap();
            let points: Vec<[f64; 2]> = points.iter().map(|point| point.map(written)).collect();
            let shape = Shape::Polygon { points };
            let inside = (0..grid.sites())
                .filter(|n| shape.contains(grid.site(*n), &grid))
                .count();
            assert_eq!(inside, count, "{shape:?}");
            let medium = Medium::new(grid.clone(), vec![layer(shape, "1", Mode::Set)]);
            assert_rows(&medium);
        }
    }
}

/// Of a picture with one bright pixel, on grids finer and coarser than it: whether a site lies there. A black one holds none.
#[test]
fn a_bright_pixel_may_lie_between_sites() {
    for (size, pixels) in [([7, 5], [3, 2, 1]), ([4, 6], [9, 13, 1]), ([3, 2], [3, 5, 1])] {
        let grid = Grid::new(&size, 0.9);
        let mut told = [false; 2];
        for bright in 0..=pixels[0] * pixels[1] {
            let mut values = vec![0.0; pixels[0] * pixels[1]];
            values.iter_mut().skip(bright).take(1).for_each(|level| *level = 0.5);
            let shape = Shape::Image(Arc::new(Samples {
                size: pixels,
                values,
                file: PathBuf::from("map.png"),
            }));
            let held = (0..grid.sites()).any(|n| shape.contains(grid.site(n), &grid));
            assert_eq!(shape.holds_a_site(&grid), held, "{size:?} {pixels:?} {bright}");
            told[usize::from(held)] = true;
        }
        assert_eq!(told, [true; 2]);
    }
}

/// Of a picture that is its own mirror image each site and its mirror image have the same, whichever of the two is finer; of three pixels a site the middle one.
#[test]
fn a_symmetric_picture_stays_symmetric() {
    for (size, pixels) in [
        ([7, 5], [14, 10]),
        ([7, 5], [21, 15]),
        ([4, 6], [9, 13]),
        ([8, 6], [3, 4]),
        ([7, 5], [7, 5]),
    ] {
        let grid = Grid::new(&size, 0.5);
        let [width, height] = pixels;
        let beside = |at: usize, count: usize| at.min(count - 1 - at);
        let number = |at: usize, count: usize| u32::try_from(beside(at, count)).unwrap();
        let level = |column: usize, row: usize| f64::from(1 + number(column, width) + 100 * number(row, height));
        let values = (0..width * height).map(|n| level(n % width, n / width)).collect();
        let shape = Shape::Image(Arc::new(Samples {
            size: [width, height, 1],
            values,
            file: PathBuf::from("map.png"),
        }));
        let factor = |i: usize, j: usize| shape.factor([i, j, 0], &grid).unwrap();
        for (i, j) in (0..size[0]).flat_map(|i| (0..size[1]).map(move |j| (i, j))) {
            let mirrored = [factor(size[0] - 1 - i, j), factor(i, size[1] - 1 - j)];
            assert_eq!([factor(i, j); 2], mirrored, "{size:?} {pixels:?} {i} {j}");
            if width == 3 * size[0] {
                assert_eq!(factor(i, j), level(3 * i + 1, 3 * (size[1] - 1 - j) + 1));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: prop::test_runner::RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    /// Rows by ranges and row-wise formulas are bit by bit the sites one by one.
    #[test]
    fn rows_follow_the_definition(rank in 1usize..=3, all in [layers(1), layers(2), layers(3)]) {
        let grid = Grid::new(&[23, 17, 5][..rank], 0.9);
        for Layer { shape, .. } in &all[rank - 1] {
            let held = (0..grid.sites()).any(|n| shape.contains(grid.site(n), &grid));
            prop_assert_eq!(shape.holds_a_site(&grid), held, "{:?}", shape);
        }
        assert_rows(&Medium::new(grid, all[rank - 1].clone()));
    }
}

#[test]
fn walls_follow_the_last_layer() {
    let grid = Grid::new(&[8, 4], 1.0);
    let wall = |min: f64, max: f64, value: &str| Layer {
        sets: Sets::Wall,
        ..layer(
            Shape::Box {
                min: [min, 0.0, 0.0],
                max: [max, 9.0, 0.0],
            },
            value,
            Mode::Set,
        )
    };
    let medium = Medium::new(grid, vec![wall(2.0, 5.0, "1"), wall(4.0, 4.0, "0")]);
    let mut row = [false; 8];
    medium.wall_row(1, 0, 0..8, &mut row);
    assert_eq!(row, [false, false, true, true, false, true, false, false]);
}

/// W of absorbing edges follows the hopping of the bonds inwards, on both sides alike and each axis by itself: H of a uniform factor is that factor times H, and reflects as much.
#[test]
fn absorbing_edges_follow_the_hopping() {
    let grid = Grid::new(&[12, 10], 1.0).with_edges([Edge::Absorb, Edge::Absorb, Edge::Wall], 3);
    let hopping = |axis: Option<usize>, shape: Shape, value: f64| Layer {
        axis,
        ..Layer::new(Sets::Hopping, shape, Value::Number(value))
    };
    let absorption = |layers: Vec<Layer>| {
        let medium = Medium::new(grid.clone(), layers);
        let mut all = vec![0.0; grid.sites()];
        for (j, row) in all.chunks_mut(12).enumerate() {
            // In two pieces, so that offsets are seen.
            let (left, right) = row.split_at_mut(10);
            medium.absorption_row(0.7, j, 0, 0..10, left);
            medium.absorption_row(0.7, j, 0, 10..12, right);
        }
        all
    };
    let plain = absorption(Vec::new());
    assert!(plain[0] > 0.0 && plain[grid.index([6, 5, 0])] == 0.0);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-14 * plain[0];
    for factor in [0.03, 1.0, -10.0] {
        let all = absorption(vec![hopping(None, Shape::Everywhere, factor)]);
        let same = all.iter().zip(&plain);
        assert!(
            same.into_iter().all(|(own, plain)| close(*own, factor.abs() * plain)),
            "{factor}"
        );
    }
    // Bonds along x alone, of the left half: what y absorbs, and the right edge, stay.
    let half = Shape::Box {
        min: [0.0; 3],
        max: [5.0, 9.0, 0.0],
    };
    let all = absorption(vec![hopping(Some(0), half, 2.0)]);
    let at = |all: &[f64], i: usize, j: usize| all[grid.index([i, j, 0])];
    assert!(close(at(&all, 1, 5), 2.0 * at(&plain, 1, 5)));
    for [i, j] in [[10, 5], [11, 0], [6, 1]] {
        assert!(close(at(&all, i, j), at(&plain, i, j)), "{i} {j}");
    }
    assert!(close(at(&all, 0, 0), at(&plain, 0, 0) + at(&plain, 0, 5)));
    // The bond from the last site but one, over which waves come, and not the one that leaves the grid.
    let last = |from: f64, to: f64| Shape::Box {
        min: [from, 0.0, 0.0],
        max: [to, 9.0, 0.0],
    };
    let inwards = absorption(vec![hopping(Some(0), last(10.0, 10.0), 3.0)]);
    assert!(close(at(&inwards, 11, 5), 3.0 * at(&plain, 11, 5)));
    let outwards = absorption(vec![hopping(Some(0), last(11.0, 11.0), 3.0)]);
    assert!(close(at(&outwards, 11, 5), at(&plain, 11, 5)));
}
