//! What a mirror has made of a wave.

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

/// The present field against the one at t = 0, over the sites inside or all; `turned` takes the complex conjugate of the latter. Of the grid's sites `open` are no walls.
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

/// |ψ|², or p with the sign that it has in the focus.
fn brightness(field: &FieldData, focus: usize) -> impl Fn(usize) -> f64 + '_ {
    let complex = matches!(field, FieldData::Complex64(_) | FieldData::Complex128(_));
    let sign = field.at(focus).re.signum();
    move |n| {
        let value = field.at(n);
        if complex { value.norm_sqr() } else { sign * value.re }
    }
}

/// Full width at half the value in the focus, mean over the axes, straight lines between sites; 0 if it falls nowhere to a half.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn width(grid: &Grid, field: &FieldData, focus: usize) -> f64 {
    let value = brightness(field, focus);
    let half = value(focus) / 2.0;
    if half <= 0.0 {
        return 0.0;
    }
    let site = grid.site(focus);
    let mut sum = 0.0;
    for axis in 0..grid.rank() {
        for up in [false, true] {
            let (mut at, mut here) = (site, value(focus));
            let mut far = 0.0;
            loop {
                let next = if up { at[axis] + 1 } else { at[axis].wrapping_sub(1) };
                if next >= grid.size()[axis] {
                    return 0.0;
                }
                at[axis] = next;
                let there = value(grid.index(at));
                if there <= half {
                    sum += far + (here - half) / (here - there);
                    break;
                }
                here = there;
                far += 1.0;
            }
        }
    }
    sum * grid.spacing() / grid.rank() as f64
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

    #[test]
    fn a_turned_field_is_its_conjugate() {
        let grid = Grid::new(&[5], 0.5);
        let start: Vec<Complex64> = [0.0, 1.0, 4.0, 1.0, 0.0].map(|x| Complex64::from_polar(x, x)).to_vec();
        let back = FieldData::Complex128(start.iter().map(Complex64::conj).collect());
        let found = measure(&grid, None, &start, &back, true, (2, 5));
        assert!((found.fidelity - 1.0).abs() < 1e-15 && found.error == 0.0 && found.scaled_error < 1e-15);
        // |ψ|² is 16 in the middle and 1 beside it: half of it lies 8/15 of a spacing away.
        assert!((found.width - 2.0 * 0.5 * 8.0 / 15.0).abs() < 1e-15);
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
}
