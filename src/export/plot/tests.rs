//! Plots: points, lines, cells and legends stand where they should.

use super::*;

fn colored(picture: &Picture, color: [u8; 3]) -> Vec<(usize, usize)> {
    let all = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
    all.filter(|(x, y)| picture.at(*x, *y) == color).collect()
}

#[test]
fn points_rise_with_their_values_and_theory_has_gaps() {
    let curve = |points: Vec<[f64; 2]>, shown, color| Curve {
        label: String::new(),
        points,
        shown,
        color,
    };
    let plot = Plot {
        title: "T".to_owned(),
        along: "k".to_owned(),
        up: "T".to_owned(),
        curves: vec![
            curve(vec![[0.0, 0.0], [1.0, f64::NAN], [2.0, 1.0]], Shown::Points, 0),
            curve(vec![[0.0, 0.5], [1.0, 0.5], [2.0, 0.5]], Shown::Dashed, 1),
        ],
        ..Plot::default()
    };
    let picture = plot.draw(800, 500);
    let points = colored(&picture, COLORS[0]);
    let (left, right): (Vec<_>, Vec<_>) = points.iter().partition(|(x, _)| *x < 400);
    let mean = |points: &[(usize, usize)]| points.iter().map(|(_, y)| y).sum::<usize>() / points.len().max(1);
    assert!(!left.is_empty() && !right.is_empty());
    assert!(mean(&left) > mean(&right) + 200);
    // More than a third and less than two thirds of the columns are drawn.
    let middle = usize::midpoint(mean(&left), mean(&right));
    let apart = |x: usize, y: usize, color: [u8; 3]| -> u32 {
        let pairs = picture.at(x, y).into_iter().zip(color);
        pairs.map(|(a, b)| u32::from(a.abs_diff(b))).sum()
    };
    let ground = picture.at(0, 0);
    let is_dash = |x: usize| (middle - 12..middle + 12).any(|y| apart(x, y, COLORS[1]) < apart(x, y, ground));
    let columns: Vec<usize> = (120..picture.width).filter(|x| is_dash(*x)).collect();
    assert!((200..520).contains(&columns.len()), "{}", columns.len());
}

/// The lowest row of cells lies below, its first cell on the left, and a negative value has another colour than a positive one.
#[test]
fn cells_lie_where_their_values_are() {
    let plot = Plot {
        title: String::new(),
        along: "x".to_owned(),
        up: "k".to_owned(),
        ground: Some(Ground {
            values: vec![1.0, 0.0, 0.0, -1.0],
            size: [2, 2],
            x: [0.0, 2.0],
            y: [-1.0, 1.0],
            levels: [-1.0, 1.0],
            signed: true,
            sign: "W".to_owned(),
        }),
        ..Plot::default()
    };
    let picture = plot.draw(600, 400);
    let table = colormap::auto_on_paper(Kind::Diverging).table();
    let [most, least] = [255, 1].map(|entry| colored(&picture, table[entry]));
    let inside = |cells: &[(usize, usize)], left: bool, below: bool| {
        let many = cells
            .iter()
            .filter(|(x, y)| (*x < 310) == left && (*y > 200) == below)
            .count();
        many * 10 > cells.len() * 9 && cells.len() > 20_000
    };
    assert!(inside(&most, true, true), "{}", most.len());
    assert!(inside(&least, false, false), "{}", least.len());
}

/// Beside cells stands what their colours are: a bar with the values at both ends, its sign above it.
#[test]
fn cells_have_a_colour_bar() {
    let plot = |sign: &str, levels| Plot {
        ground: Some(Ground {
            values: vec![0.0],
            size: [1, 1],
            x: [0.0, 1.0],
            y: [0.0, 1.0],
            levels,
            signed: false,
            sign: sign.to_owned(),
        }),
        ..Plot::default()
    };
    let (size, unit) = ([1200, 900], 900.0 / 42.0);
    let right = size[0] - ceil(color_bar::ROOM * unit);
    let bar = right + ceil(0.9 * unit);
    let draw = |sign, levels| plot(sign, levels).draw(size[0], size[1]);
    let picture = draw("power (dB)", [-50.0, 0.0]);
    let column: std::collections::HashSet<[u8; 3]> = (120..780).map(|y| picture.at(bar + 3, y)).collect();
    assert!(column.len() > 50, "{} colours", column.len());
    // The numbers beside it, and the sign above it.
    let inked = |picture: &Picture, [x, y]: [std::ops::Range<usize>; 2]| {
        let all = y.flat_map(|y| x.clone().map(move |x| (x, y)));
        all.filter(|(x, y)| picture.at(*x, *y) != picture.at(0, 0)).count()
    };
    let numbers = [bar + ceil(1.3 * unit)..1200, 100..800];
    let above = [bar..1200, 50..105];
    assert!(inked(&picture, numbers) > 200);
    assert!(inked(&picture, above.clone()) > 100);
    assert_eq!(inked(&draw("", [-50.0, 0.0]), above), 0);
}

/// Lines that leave the axes end at the frame, and nothing joins their ends; nor does it across a point that is none.
#[test]
fn lines_end_where_they_leave_the_frame() {
    let curve = |points: &[[f64; 2]], shown, color| Curve {
        label: String::new(),
        points: points.to_vec(),
        shown,
        color,
    };
    let valley = [[-1.0, 3.0], [-0.2, -5.0], [0.2, -5.0], [1.0, 3.0]];
    let torn = [-1.0, -0.6, 0.0, 0.6, 1.0].map(|x| [x, if x == 0.0 { f64::NAN } else { 0.5 }]);
    let plot = Plot {
        ground: Some(Ground {
            values: vec![0.0],
            size: [1, 1],
            x: [-1.0, 1.0],
            y: [-1.0, 1.0],
            levels: [0.0, 1.0],
            signed: false,
            sign: String::new(),
        }),
        curves: vec![
            curve(&valley, Shown::Line, 0),
            curve(&torn, Shown::Line, 1),
            curve(&valley.map(|[x, y]| [x, y + 0.2]), Shown::Dashed, 2),
        ],
        ..Plot::default()
    };
    let picture = plot.draw(1200, 900);
    // The frame: 140 to 1058 across, 108 to 792 down, so that x = ±½ are at 369 and 829.
    for color in 0..3 {
        let places = colored(&picture, COLORS[color]);
        let middle = places.iter().filter(|(x, _)| (371..827).contains(x));
        assert_eq!(middle.count(), 0, "{color}");
        assert!(places.iter().any(|(x, _)| *x < 371) && places.iter().any(|(x, _)| *x > 827));
        assert!(places.iter().all(|(_, y)| (106..794).contains(y)), "{color}");
    }
    let valley = colored(&picture, COLORS[0]);
    assert!(valley.iter().any(|(_, y)| *y < 113) && valley.iter().any(|(_, y)| *y > 787));
}

/// Seven names, which one row has no room for: all of them are there, and none over the edge.
#[test]
fn a_long_legend_stands_in_rows() {
    let curve = |n: usize| Curve {
        label: format!("contrast(left | right)@30, layer.0.value={n}"),
        points: vec![[0.0, 1.0], [1.0, 2.0]],
        shown: [Shown::Points, Shown::Line, Shown::Dashed][n % 3],
        color: n,
    };
    let mut plot = Plot {
        title: "T".to_owned(),
        along: "k".to_owned(),
        up: "probability".to_owned(),
        curves: (0..7).map(curve).collect(),
        ..Plot::default()
    };
    let unit = 760.0 / 42.0;
    let across = 1360.0 - 8.5 * unit;
    let rows = plot.legend_rows(across, unit);
    assert!((2..5).contains(&rows.len()), "{}", rows.len());
    let named: Vec<&str> = rows.iter().flatten().map(|(_, label)| label.as_str()).collect();
    let labels: Vec<&str> = plot.curves.iter().map(|curve| curve.label.as_str()).collect();
    assert_eq!(named, labels);
    let picture = plot.draw(1360, 760);
    let ground = picture.at(0, 0);
    let beside = (0..40).flat_map(|x| (0..picture.height).map(move |y| (x, y)));
    assert_eq!(beside.filter(|(x, y)| picture.at(*x, *y) != ground).count(), 0);
    plot.title = "a title ".repeat(30);
    let picture = plot.draw(1360, 760);
    let end = (1346..1360).flat_map(|x| (0..40).map(move |y| (x, y)));
    assert_eq!(end.filter(|(x, y)| picture.at(*x, *y) != ground).count(), 0);
    // A name that no row has room for is cut.
    plot.curves[0].label = "a name without an end ".repeat(20);
    let rows = plot.legend_rows(across, unit);
    assert!(rows[0].len() == 1 && rows[0][0].1.ends_with('…'), "{rows:?}");
}

/// 1, 10, 100 are equally far apart; a place that has no ratio to others is left out.
#[test]
fn even_ratios_are_equally_far_apart() {
    let plot = Plot {
        has_ratios: true,
        curves: vec![Curve {
            label: String::new(),
            points: [0.0, 1.0, 10.0, 100.0].map(|x| [x, 1.0]).to_vec(),
            shown: Shown::Points,
            color: 0,
        }],
        ..Plot::default()
    };
    let mut columns: Vec<usize> = colored(&plot.draw(800, 500), COLORS[0])
        .iter()
        .map(|(x, _)| *x)
        .collect();
    columns.sort_unstable();
    columns.dedup();
    let discs = columns.chunk_by(|a, b| a + 1 == *b);
    let middles: Vec<usize> = discs
        .map(|disc| usize::midpoint(disc[0], disc[disc.len() - 1]))
        .collect();
    assert_eq!(middles.len(), 3, "{columns:?}");
    assert!((2 * middles[1]).abs_diff(middles[0] + middles[2]) <= 2, "{middles:?}");
}

#[test]
fn nothing_to_draw_is_no_fault() {
    assert_eq!(Plot::default().draw(300, 200).width, 300);
    assert_eq!(range([3.0].into_iter(), 0.1), Some([3.0 - 0.3, 3.0 + 0.3]));
    assert_eq!(range([f64::NAN].into_iter(), 0.1), None);
}
