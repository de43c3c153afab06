//! A three-dimensional field drawn on the processor, like `kernels/volume.wgsl` without a graphics adapter.
//!
//! [`crate::space::stage`] says what is drawn; keep this file and the shader alike. Cost: one trilinear sample (eight texels) a step of a ray;
//! steps through blocks whose sizes are all below what shows are skipped, which changes nothing.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "pixels, texels and sites are far below 2^24"
)]

use crate::colormap::{Kind, direction_entry, srgb_decode, srgb_encode};
use crate::solver::FieldVolume;
use crate::space::stage::{AMBIENT, OPAQUE, SURFACE, Tints};
use crate::space::{MediumVolume, Mode, Stage, Vec3, dot};
use rayon::prelude::*;

/// Texels along each side of a block whose largest size is known.
const BLOCK: usize = 8;
/// Most ranks of numbers per texel.
type Pair = [f32; 2];

/// A volume of pairs with trilinear samples; places are texture coordinates, 0…1.
struct Solid<'a> {
    size: [usize; 3],
    channels: usize,
    values: &'a [f32],
    scale: Vec3,
    bias: Vec3,
}

impl<'a> Solid<'a> {
    fn new(half: Vec3, extent: [f32; 3], size: [usize; 3], channels: usize, values: &'a [f32]) -> Self {
        Self {
            size,
            channels,
            values,
            scale: std::array::from_fn(|axis| 0.5 * extent[axis] / half[axis]),
            bias: std::array::from_fn(|axis| 0.5 * extent[axis]),
        }
    }

    /// From the world to texture coordinates.
    fn place(&self, at: Vec3) -> Vec3 {
        std::array::from_fn(|axis| at[axis] * self.scale[axis] + self.bias[axis])
    }

    /// Texels below and above a place along an axis, and how far it is between them.
    fn between(&self, axis: usize, place: f32) -> (usize, usize, f32) {
        let at = place * self.size[axis] as f32 - 0.5;
        let low = at.floor();
        let last = self.size[axis] - 1;
        let clamped = |n: f32| (n.max(0.0) as usize).min(last);
        (clamped(low), clamped(low + 1.0), at - low)
    }

    fn sample(&self, place: Vec3) -> Pair {
        let (i0, i1, fx) = self.between(0, place[0]);
        let (j0, j1, fy) = self.between(1, place[1]);
        let (k0, k1, fz) = self.between(2, place[2]);
        let [nx, ny, _] = self.size;
        let rows = [
            nx * (j0 + ny * k0),
            nx * (j1 + ny * k0),
            nx * (j0 + ny * k1),
            nx * (j1 + ny * k1),
        ];
        let mix = |a: f32, b: f32, part: f32| a + (b - a) * part;
        let of = |channel: usize| {
            let value = |i: usize, row: usize| self.values[self.channels * (i + row) + channel];
            let along = |row: usize| mix(value(i0, row), value(i1, row), fx);
            mix(
                mix(along(rows[0]), along(rows[1]), fy),
                mix(along(rows[2]), along(rows[3]), fy),
                fz,
            )
        };
        [of(0), if self.channels == 2 { of(1) } else { 0.0 }]
    }

    /// Differences of samples a texel before and behind a place, along each axis.
    fn differences(&self, place: Vec3) -> [[Pair; 2]; 3] {
        std::array::from_fn(|axis| {
            let step = 1.0 / self.size[axis] as f32;
            [step, -step].map(|step| {
                let mut there = place;
                there[axis] += step;
                self.sample(there)
            })
        })
    }
}

/// The share of the light that a surface with this gradient reflects along the ray.
fn facing(gradient: Vec3, ray: Vec3) -> f32 {
    let steep = length(gradient);
    if steep < 1e-5 {
        1.0
    } else {
        dot(gradient, ray).abs() / steep
    }
}

fn length(a: Vec3) -> f32 {
    dot(a, a).sqrt()
}

/// Lays a colour behind what a ray has gathered.
fn behind(gathered: &mut [f32; 4], color: Vec3, opacity: f32) {
    let part = (1.0 - gathered[3]) * opacity;
    for (sum, channel) in gathered.iter_mut().zip([color[0], color[1], color[2], 1.0]) {
        *sum += part * channel;
    }
}

/// A stage with its field and medium, ready for rays.
pub struct Marcher<'a> {
    stage: &'a Stage,
    field: Solid<'a>,
    medium: Option<Solid<'a>>,
    /// Whether anything shows in each block of the field.
    shows: Vec<bool>,
    blocks: [usize; 3],
}

/// The numbers of field and medium in single precision, as [`Marcher`] wants them.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    field: Vec<f32>,
    medium: Vec<f32>,
}

impl Numbers {
    /// Those of a field; the medium's are kept.
    pub fn take_field(&mut self, field: &FieldVolume) {
        self.field = field.widened();
    }

    /// Those of a medium.
    #[must_use]
    pub fn of_medium(medium: &MediumVolume) -> Self {
        let wide = |number: &i8| (f32::from(*number) / 127.0).max(-1.0);
        Self {
            field: Vec::new(),
            medium: medium.texels.iter().flatten().map(wide).collect(),
        }
    }
}

impl<'a> Marcher<'a> {
    /// Rays through `field`, whose numbers are in `numbers`, as those of `medium` are.
    #[must_use]
    pub fn new(stage: &'a Stage, field: &FieldVolume, medium: &MediumVolume, numbers: &'a Numbers) -> Self {
        let half = stage.shape.half;
        let solid = Solid::new(half, field.extent(), field.size, field.channels(), &numbers.field);
        let medium = stage
            .medium
            .then(|| Solid::new(half, medium.extent(), medium.size, 2, &numbers.medium));
        let mut marcher = Self {
            stage,
            field: solid,
            medium,
            shows: Vec::new(),
            blocks: field.size.map(|n| n.div_ceil(BLOCK)),
        };
        if stage.mode == Mode::Volume {
            marcher.shows = marcher.find_blocks();
        }
        marcher
    }

    /// Whether any sample in a block can show: samples lie between texels, so they are at most the largest of the block's and its neighbours'.
    fn find_blocks(&self) -> Vec<bool> {
        // The least size that shows, of both signs, and whether opacity falls to nothing above.
        let showing: Vec<bool> = self.stage.table.iter().map(|entry| entry[3] > 0.0).collect();
        let [bx, by, bz] = self.blocks;
        let size = self.field.size;
        (0..bx * by * bz)
            .into_par_iter()
            .map(|n| {
                let block = [n % bx, n / bx % by, n / (bx * by)];
                let from = block.map(|b| (b * BLOCK).saturating_sub(1));
                let to: [usize; 3] = std::array::from_fn(|axis| ((block[axis] + 1) * BLOCK + 1).min(size[axis]));
                let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
                for k in from[2]..to[2] {
                    for j in from[1]..to[1] {
                        for i in from[0]..to[0] {
                            let at = self.field.channels * (i + size[0] * (j + size[1] * k));
                            let value = self.field.values[at];
                            if self.stage.kind == Kind::Cyclic {
                                // Between texels the sum of phasors can be anything down to zero.
                                low = 0.0;
                                high = high.max(value.hypot(self.field.values[at + 1]));
                            } else {
                                low = low.min(value);
                                high = high.max(value);
                            }
                        }
                    }
                }
                showing[self.entry(low)..=self.entry(high)].contains(&true)
            })
            .collect()
    }

    fn entry(&self, value: f32) -> usize {
        let [offset, scale] = self.stage.mapping;
        (offset + scale * value + 0.5).floor().clamp(0.0, 255.0) as usize
    }

    fn color(&self, value: Pair) -> [f32; 4] {
        if self.stage.kind == Kind::Cyclic {
            let [r, g, b, _] = self.stage.table[direction_entry(value[0], value[1])];
            let opacity = self.stage.table[self.entry(value[0].hypot(value[1]))][3];
            return [r, g, b, opacity];
        }
        self.stage.table[self.entry(value[0])]
    }

    fn size_of(&self, value: Pair) -> f32 {
        if self.stage.kind == Kind::Cyclic {
            value[0].hypot(value[1])
        } else {
            value[0].abs()
        }
    }

    fn light(&self, place: Vec3, ray: Vec3) -> f32 {
        if !self.stage.shading {
            return 1.0;
        }
        let gradient = self
            .field
            .differences(place)
            .map(|[a, b]| self.size_of(a) - self.size_of(b));
        AMBIENT + (1.0 - AMBIENT) * facing(gradient, ray)
    }

    /// What the ray through a place of the viewport gathers: sRGB 0…1 times opacity, and the opacity.
    pub fn ray(&self, at: [f32; 2]) -> [f32; 4] {
        let ray = self.stage.camera.ray(at);
        match self.stage.mode {
            Mode::Slices => self.slices(ray),
            Mode::Volume => self.volume(ray),
        }
    }

    fn slices(&self, ray: Vec3) -> [f32; 4] {
        let Some((_, at)) = self.stage.slice(ray) else {
            return [0.0; 4];
        };
        let value = self.field.sample(self.field.place(at));
        let [r, g, b, _] = self.color(value);
        let mut color = [r, g, b];
        if self.stage.kind == Kind::Cyclic {
            let [offset, scale] = self.stage.mapping;
            let bright = f64::from(((offset + scale * self.size_of(value)) / 255.0).clamp(0.0, 1.0));
            color = color.map(|channel| srgb_encode(srgb_decode(f64::from(channel)) * bright.powi(3)) as f32);
        }
        if let Some(medium) = &self.medium {
            let [wall, level] = medium.sample(medium.place(at));
            let tints = self.stage.tints;
            let tint = if level < 0.0 { tints.well } else { tints.hill };
            color = std::array::from_fn(|n| color[n] + (tint[n] - color[n]) * 0.16 * level.abs());
            if wall >= 0.5 {
                color = tints.wall.map(|channel| channel * 0.7);
            }
        }
        [color[0], color[1], color[2], 1.0]
    }

    fn volume(&self, ray: Vec3) -> [f32; 4] {
        let mut gathered = [0.0; 4];
        let Some([near, far]) = self.stage.span(ray) else {
            return gathered;
        };
        let step = self.stage.step;
        let steps = ((far - near) / step + 0.5) as usize;
        let mut last = [0.0; 2];
        for n in 0..steps {
            let way = near + (n as f32 + 0.5) * step;
            let at: Vec3 = std::array::from_fn(|axis| self.stage.camera.eye[axis] + way * ray[axis]);
            if let Some(medium) = &self.medium {
                let place = medium.place(at);
                let here = medium.sample(place);
                surfaces(&mut gathered, (medium, self.stage.tints), (last, here), place, ray);
                last = here;
            }
            let place = self.field.place(at);
            if !self.block_shows(place) {
                continue;
            }
            let [r, g, b, opacity] = self.color(self.field.sample(place));
            if opacity > 0.0 {
                let light = self.light(place, ray);
                behind(&mut gathered, [r * light, g * light, b * light], opacity);
                if gathered[3] > OPAQUE {
                    break;
                }
            }
        }
        gathered
    }

    fn block_shows(&self, place: Vec3) -> bool {
        let [bx, by, _] = self.blocks;
        let [i, j, k]: [usize; 3] = std::array::from_fn(|axis| {
            let texel = (place[axis] * self.field.size[axis] as f32).max(0.0) as usize;
            (texel / BLOCK).min(self.blocks[axis] - 1)
        });
        self.shows[i + bx * (j + by * k)]
    }

    /// Every pixel of the viewport, rows from the top.
    pub fn picture(&self) -> Vec<[f32; 4]> {
        self.picture_while(&|| true)
    }

    /// The same, asking before each row whether it is still wanted; the rest stays empty where it is not.
    pub fn picture_while(&self, wanted: &(dyn Fn() -> bool + Sync)) -> Vec<[f32; 4]> {
        let [width, height] = self.stage.camera.viewport.map(|n| n as usize);
        let mut pixels = vec![[0.0; 4]; width * height];
        pixels.par_chunks_mut(width.max(1)).enumerate().for_each(|(y, row)| {
            if wanted() {
                for (x, pixel) in row.iter_mut().enumerate() {
                    *pixel = self.ray([x as f32 + 0.5, y as f32 + 0.5]);
                }
            }
        });
        pixels
    }
}

/// Lays the medium's surfaces between two samples behind what a ray has gathered.
fn surfaces(
    gathered: &mut [f32; 4],
    (medium, tints): (&Solid<'_>, Tints),
    (last, here): (Pair, Pair),
    place: Vec3,
    ray: Vec3,
) {
    let wall = (last[0] < 0.5) != (here[0] < 0.5);
    let level = (last[1].abs() < 0.5) != (here[1].abs() < 0.5);
    if !wall && !level {
        return;
    }
    let differences = medium.differences(place);
    let opacity = |channel: usize| {
        let edge = 1.0 - facing(differences.map(|[a, b]| a[channel] - b[channel]), ray);
        SURFACE[0] + SURFACE[1] * edge * edge
    };
    if wall {
        behind(gathered, tints.wall, opacity(0));
    }
    if level {
        let below = last[1] + here[1] < 0.0;
        behind(gathered, if below { tints.well } else { tints.hill }, opacity(1));
    }
}
