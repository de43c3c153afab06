//! Which part of the grid the picture shows: pan, zoom at the pointer, fit.

use crate::scene::scenario::Quantity;
use crate::solver::ImageRequest;
use egui::{Pos2, Rect, Vec2, vec2};

/// Most points per site: single sites are then plainly seen.
const CLOSEST: f32 = 64.0;

/// The view of a plane of sites, x to the right and y up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The place in sites (site n covers n..n+1) at the middle of the window.
    center: [f64; 2],
    /// Points per site.
    scale: f32,
    /// Follows the window's size, so that the whole grid is seen.
    fits: bool,
    /// What it follows instead of the whole grid: first site and the one after the last, along x and y.
    part: Option<[[f64; 2]; 2]>,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            center: [0.0, 0.0],
            scale: 1.0,
            fits: true,
            part: None,
        }
    }
}

impl Camera {
    /// Shows the whole grid from now on.
    pub fn fit(&mut self) {
        self.fits = true;
        self.part = None;
    }

    /// Shows a part of the grid from now on, however large the window is.
    pub fn fit_part(&mut self, [x, y]: [std::ops::Range<usize>; 2]) {
        let [x, y] = [x, y].map(|sites| [sites.start as f64, sites.end as f64]);
        self.fits = true;
        self.part = Some([[x[0], y[0]], [x[1], y[1]]]);
    }

    /// Whether the whole grid is shown.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.fits
    }

    /// Points per site.
    #[must_use]
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Follows the window: call it before anything is drawn.
    pub fn settle(&mut self, area: Rect, sites: [usize; 2]) {
        let whole = fitting(area, sites.map(|n| n as f64));
        if self.fits {
            let [from, to] = self.part.unwrap_or([[0.0; 2], sites.map(|n| n as f64)]);
            self.scale = fitting(area, [0, 1].map(|axis| to[axis] - from[axis]));
            self.center = [0, 1].map(|axis| f64::midpoint(from[axis], to[axis]));
        }
        self.scale = self.scale.clamp(whole.min(CLOSEST) * 0.5, CLOSEST.max(whole));
        for (center, n) in self.center.iter_mut().zip(sites) {
            *center = center.clamp(0.0, n as f64);
        }
    }

    /// As [`Camera::settle`] for a single row of sites that fills the width; the height does not matter.
    pub fn settle_row(&mut self, area: Rect, sites: usize) {
        let whole = area.width() / sites as f32;
        if self.fits {
            let [from, to] = self.part.map_or([0.0, sites as f64], |[from, to]| [from[0], to[0]]);
            self.scale = area.width() / (to - from) as f32;
            self.center = [f64::midpoint(from, to), 0.5];
        }
        self.scale = self.scale.clamp(whole.min(CLOSEST) * 0.9, CLOSEST.max(whole));
        self.center = [self.center[0].clamp(0.0, sites as f64), 0.5];
    }

    /// Moves the picture by `delta` points.
    pub fn pan(&mut self, delta: Vec2) {
        if delta == Vec2::ZERO {
            return;
        }
        self.fits = false;
        self.center[0] -= f64::from(delta.x / self.scale);
        self.center[1] += f64::from(delta.y / self.scale);
    }

    /// Zooms so that what is under `pointer` stays there.
    pub fn zoom(&mut self, area: Rect, sites: [usize; 2], pointer: Pos2, factor: f32) {
        if (factor - 1.0).abs() < 1e-4 {
            return;
        }
        let whole = fitting(area, sites.map(|n| n as f64));
        let before = self.site_at(area, pointer);
        self.scale = (self.scale * factor).clamp(whole.min(CLOSEST) * 0.5, CLOSEST.max(whole));
        self.fits = false;
        let after = self.site_at(area, pointer);
        self.center[0] += before[0] - after[0];
        self.center[1] += before[1] - after[1];
    }

    /// The place in sites under a point of the screen.
    #[must_use]
    pub fn site_at(&self, area: Rect, point: Pos2) -> [f64; 2] {
        let from_center = (point - area.center()) / self.scale;
        [
            self.center[0] + f64::from(from_center.x),
            self.center[1] - f64::from(from_center.y),
        ]
    }

    /// The point of the screen where a place in sites stands.
    #[must_use]
    pub fn point_at(&self, area: Rect, site: [f64; 2]) -> Pos2 {
        let x = (site[0] - self.center[0]) as f32 * self.scale;
        let y = (self.center[1] - site[1]) as f32 * self.scale;
        area.center() + vec2(x, y)
    }

    /// The rectangle on screen of sites `from` to `to`.
    #[must_use]
    pub fn rect(&self, area: Rect, from: [f64; 2], to: [f64; 2]) -> Rect {
        Rect::from_two_pos(self.point_at(area, from), self.point_at(area, to))
    }

    /// The sites that are seen, along x and y.
    #[must_use]
    pub fn seen(&self, area: Rect, sites: [usize; 2]) -> [std::ops::Range<usize>; 2] {
        let low = self.site_at(area, area.left_bottom());
        let high = self.site_at(area, area.right_top());
        [0, 1].map(|n| {
            let first = low[n].floor().clamp(0.0, sites[n] as f64 - 1.0);
            let last = high[n].ceil().clamp(first + 1.0, sites[n] as f64);
            first as usize..last as usize
        })
    }

    /// What the worker is asked for: the visible sites with a margin, so that a small pan shows no gap, at the window's
    /// resolution. Bounds are rounded to the reduction and the margin, so that panning does not ask anew each frame.
    #[must_use]
    pub fn request(
        &self,
        area: Rect,
        pixels_per_point: f32,
        sites: [usize; 2],
        z: usize,
        quantity: Quantity,
    ) -> ImageRequest {
        let low = self.site_at(area, area.left_bottom());
        let high = self.site_at(area, area.right_top());
        let axis = |n: usize| {
            let visible = (high[n] - low[n]).max(1.0);
            // A quarter of the view, as a power of two, so that it changes rarely.
            let block = (2f64.powf((visible / 4.0).log2().floor())).max(1.0);
            let first = ((low[n] / block).floor() * block).clamp(0.0, sites[n] as f64 - 1.0);
            let last = ((high[n] / block).ceil() * block).clamp(first + 1.0, sites[n] as f64);
            first as usize..last as usize
        };
        let (x, y) = (axis(0), axis(1));
        // Texels no smaller than a pixel; a whole number of sites each.
        let per_texel = (1.0 / (self.scale * pixels_per_point)).max(1.0).floor() as usize;
        let most = |n: usize| n.div_ceil(per_texel).max(1);
        let max_size = [most(x.len()), most(y.len())];
        ImageRequest::new(quantity, [x, y], z, max_size)
    }
}

fn fitting(area: Rect, [nx, ny]: [f64; 2]) -> f32 {
    // A line of the canvas stays seen around the whole grid.
    let room = (area.size() - vec2(4.0, 4.0)).max(vec2(8.0, 8.0));
    (room.x / nx as f32).min(room.y / ny as f32).max(1e-6)
}

/// The rectangle of the sites that a picture covers.
#[must_use]
pub fn covered(image: &crate::solver::FieldImage) -> ([f64; 2], [f64; 2]) {
    let from = image.origin.map(|n| n as f64);
    let reach = |n: usize| from[n] + (image.size[n] * image.reduction) as f64;
    (from, [reach(0), reach(1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    fn area() -> Rect {
        Rect::from_min_max(pos2(100.0, 50.0), pos2(900.0, 650.0))
    }

    #[test]
    fn the_place_under_the_pointer_stays_while_zooming() {
        let mut camera = Camera::default();
        camera.settle(area(), [512, 256]);
        let pointer = pos2(321.0, 234.0);
        let before = camera.site_at(area(), pointer);
        camera.zoom(area(), [512, 256], pointer, 3.0);
        let after = camera.site_at(area(), pointer);
        // Places of a few hundred sites in single precision on screen: 512 · 2⁻²³ and a little.
        assert!((before[0] - after[0]).abs() < 1e-3 && (before[1] - after[1]).abs() < 1e-3);
        assert!(!camera.fits());
        let back = camera.point_at(area(), after);
        assert!((back - pointer).length() < 1e-2);
    }

    #[test]
    fn a_huge_field_is_asked_for_at_the_windows_resolution() {
        let mut camera = Camera::default();
        camera.settle(area(), [16384, 16384]);
        let request = camera.request(area(), 1.0, [16384, 16384], 0, Quantity::Density);
        assert_eq!((request.x.clone(), request.y.clone()), (0..16384, 0..16384));
        assert!(request.max_size[0] <= 800 && request.max_size[1] <= 800, "{request:?}");
        // Close up, only what is seen (and a margin) is asked for, site by site.
        camera.zoom(area(), [16384, 16384], area().center(), 1000.0);
        let request = camera.request(area(), 1.0, [16384, 16384], 0, Quantity::Density);
        assert_eq!(request.reduction(), 1);
        assert!(request.x.len() < 128 && request.y.len() < 128, "{request:?}");
    }

    #[test]
    fn panning_a_little_asks_for_nothing_new() {
        let mut camera = Camera::default();
        camera.settle(area(), [4096, 4096]);
        camera.zoom(area(), [4096, 4096], area().center(), 20.0);
        let ask = |camera: &Camera| camera.request(area(), 1.0, [4096, 4096], 0, Quantity::Density);
        let mut changes = 0;
        let mut last = ask(&camera);
        for _ in 0..50 {
            camera.pan(vec2(1.0, 0.0));
            let next = ask(&camera);
            changes += usize::from(next != last);
            last = next;
        }
        assert!(changes <= 2, "{changes} requests for 50 points");
    }
}
