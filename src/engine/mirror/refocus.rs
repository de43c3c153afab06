//! Measures of the focus of a mirror.

use crate::field::FieldData;
use crate::grid::Grid;
use crate::physics::Refocus;
use num_complex::Complex64;

/// ‖ψ‖/‖ψ(0)‖ over the sites inside.
pub(super) fn residual(inside: &[bool], reference: &[Complex64], field: &FieldData) -> f64 {
    let own = || (0..reference.len()).filter(|&n| inside[n]);
    let left: f64 = own().map(|n| field.at(n).norm_sqr()).sum();
    let first: f64 = own().map(|n| reference[n].norm_sqr()).sum();
    if first > 0.0 { (left / first).sqrt() } else { 0.0 }
}

/// The present field against the one at t = 0, over the sites inside or all; `turned` takes the complex conjugate of
/// the latter. `open` of the grid's sites are not walls.
pub(super) fn measure(
    grid: &Grid,
    inside: Option<&[bool]>,
    reference: &[Complex64],
    field: &FieldData,
    turned: bool,
    (focus, open): (usize, usize),
) -> Refocus {
    let wanted = |n: usize| if turned { reference[n].conj() } else { reference[n] };
    let own = || (0..reference.len()).filter(|&n| inside.is_none_or(|inside| inside[n]));
    let (mut overlap, mut squares, mut first, mut apart) = (Complex64::ZERO, 0.0, 0.0, 0.0);
    for n in own() {
        let (here, there) = (field.at(n), wanted(n));
        overlap += here.conj() * there;
        squares += here.norm_sqr();
        first += there.norm_sqr();
        apart += (here - there).norm_sqr();
    }
    let mut found = Refocus {
        width: width(grid, field, focus),
        contrast: contrast(field, focus, open),
        ..Refocus::default()
    };
    if first > 0.0 {
        found.error = (apart / first).sqrt();
        found.scaled_error = 1.0;
    }
    if first > 0.0 && squares > 0.0 {
        found.fidelity = overlap.norm_sqr() / (first * squares);
        let scale = overlap / squares;
        let rest: f64 = own().map(|n| (scale * field.at(n) - wanted(n)).norm_sqr()).sum();
        found.scaled_error = (rest / first).sqrt();
    }
    found
}

/// |ψ|², or p times the sign of the pressure in the focus.
fn brightness(field: &FieldData, focus: usize) -> impl Fn(usize) -> f64 + '_ {
    let complex = matches!(field, FieldData::Complex64(_) | FieldData::Complex128(_));
    let sign = field.at(focus).re.signum();
    move |n| {
        let value = field.at(n);
        if complex { value.norm_sqr() } else { sign * value.re }
    }
}

/// Full width at half the value in the focus, straight lines between sites, mean over the axes of three sites and more along which it falls to a half on both sides; `None` if there is no such axis.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn width(grid: &Grid, field: &FieldData, focus: usize) -> Option<f64> {
    let value = brightness(field, focus);
    let most = value(focus);
    let half = most / 2.0;
    if half <= 0.0 {
        return None;
    }
    let site = grid.site(focus);
    // Spacings from the focus to where it has fallen to a half.
    let side = |axis: usize, up: bool| {
        let sites = grid.size()[axis];
        let mut here = most;
        for far in 1..sites {
            let place = if up { site[axis] + far } else { site[axis] + sites - far };
            if (place >= sites) == up && !grid.is_periodic(axis) {
                return None;
            }
            let mut at = site;
            at[axis] = place % sites;
            let there = value(grid.index(at));
            if there <= half {
                return Some((far - 1) as f64 + (here - half) / (here - there));
            }
            here = there;
        }
        None
    };
    let widths: Vec<f64> = (0..grid.rank())
        .filter(|&axis| grid.size()[axis] > 2)
        .filter_map(|axis| Some(side(axis, false)? + side(axis, true)?))
        .collect();
    (!widths.is_empty()).then(|| widths.iter().sum::<f64>() * grid.spacing() / widths.len() as f64)
}

/// |ψ| in the focus over its root mean square where there are no walls.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn contrast(field: &FieldData, focus: usize, open: usize) -> f64 {
    let squares = (0..field.len()).map(|n| field.at(n).norm_sqr());
    let mean = squares.sum::<f64>() / open.max(1) as f64;
    if mean > 0.0 {
        field.at(focus).norm() / mean.sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Edge;

    #[test]
    fn a_turned_field_is_its_conjugate() {
        let grid = Grid::new(&[5], 0.5);
        let start: Vec<Complex64> = [0.0, 1.0, 4.0, 1.0, 0.0].map(|x| Complex64::from_polar(x, x)).to_vec();
        let back = FieldData::Complex128(start.iter().map(Complex64::conj).collect());
        let found = measure(&grid, None, &start, &back, true, (2, 5));
        assert!((found.fidelity - 1.0).abs() < 1e-15 && found.error == 0.0 && found.scaled_error < 1e-15);
        // |ψ|² is 16 in the middle and 1 beside it: half of it lies 8/15 of a spacing away.
        assert!((found.width.unwrap() - 2.0 * 0.5 * 8.0 / 15.0).abs() < 1e-15);
        assert!((found.contrast - 4.0 / (18.0f64 / 5.0).sqrt()).abs() < 1e-14);
        // Twice as much: an error of 1, none after scaling; and the half outside does not count.
        let twice = FieldData::Complex128(
            start
                .iter()
                .enumerate()
                .map(|(n, x)| if n > 2 { Complex64::ONE } else { 2.0 * x.conj() })
                .collect(),
        );
        let inside = [true, true, true, false, false];
        let found = measure(&grid, Some(&inside), &start, &twice, true, (2, 5));
        assert!((found.error - 1.0).abs() < 1e-15 && found.scaled_error < 1e-15);
        assert!((residual(&inside, &start, &twice) - 2.0).abs() < 1e-15);
    }

    /// A tent that falls by a quarter of its height a site along x and by an eighth a site along y: half of it lies 2 and 4 sites away.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "a small grid")]
    fn a_focus_is_as_wide_as_the_axes_tell_along_which_it_falls() {
        let tent = |grid: &Grid, [x, y]: [usize; 2]| {
            let value = |n: usize| {
                let site = grid.site(n).map(|at| at as f64);
                let way = |axis: usize, from: usize| grid.way(axis, from as f64, site[axis]).abs();
                (1.0 - way(0, x) / 4.0 - way(1, y) / 8.0).max(0.0)
            };
            FieldData::Float64((0..grid.sites()).map(value).collect())
        };
        let found = |grid: &Grid, at: [usize; 2]| width(grid, &tent(grid, at), grid.index([at[0], at[1], 0]));
        let [wall, ring] = [Edge::Wall, Edge::Periodic];
        let grid = |size: &[usize], x: Edge, y: Edge| Grid::new(size, 1.0).with_edges([x, y, wall], 0);
        let inside = grid(&[12, 20], wall, wall);
        assert_eq!(found(&inside, [6, 9]), Some(6.0));
        // Beside the end of x only y tells; in a corner none does.
        assert_eq!(found(&inside, [1, 9]), Some(8.0));
        assert_eq!(found(&inside, [11, 9]), Some(8.0));
        assert_eq!(found(&inside, [1, 19]), None);
        // Round a ring both do.
        assert_eq!(found(&grid(&[12, 20], ring, ring), [1, 19]), Some(6.0));
        assert_eq!(found(&grid(&[12, 20], ring, wall), [0, 9]), Some(6.0));
        // Narrower than the field round a ring: it falls nowhere to a half.
        assert_eq!(found(&grid(&[3, 20], ring, wall), [0, 9]), Some(8.0));
        // Two components have no width along their axis.
        assert_eq!(found(&grid(&[12, 2], wall, wall), [6, 1]), Some(4.0));
    }
}
