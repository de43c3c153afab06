//! An RGB picture and the little that is drawn on it.

/// sRGB pixels, 8 bits a channel, row by row from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Pixels along x.
    pub width: usize,
    /// Pixels along y.
    pub height: usize,
    /// 3·width·height bytes.
    pub rgb: Vec<u8>,
}

/// A rectangle of pixels: left, top, width, height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub x: usize,
    /// First row.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Rect {
    /// Of its first column and row, and how many of them.
    pub const fn new(x: usize, y: usize, width: usize, height: usize) -> Self {
        Self { x, y, width, height }
    }
}

impl Picture {
    /// A picture of one colour.
    #[must_use]
    pub fn filled(width: usize, height: usize, color: [u8; 3]) -> Self {
        Self {
            width,
            height,
            rgb: color.repeat(width * height),
        }
    }

    /// Fills all of it with a colour, in the memory that it has.
    pub fn clear(&mut self, color: [u8; 3]) {
        let across = 3 * self.width;
        let Some(first) = self.rgb.get_mut(..across) else {
            return;
        };
        first.as_chunks_mut::<3>().0.fill(color);
        for row in 1..self.height {
            self.rgb.copy_within(..across, row * across);
        }
    }

    /// The colour of a pixel.
    pub fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let n = 3 * (x + self.width * y);
        [self.rgb[n], self.rgb[n + 1], self.rgb[n + 2]]
    }

    /// Sets a pixel.
    pub fn set(&mut self, x: usize, y: usize, color: [u8; 3]) {
        let n = 3 * (x + self.width * y);
        self.rgb[n..n + 3].copy_from_slice(&color);
    }

    /// Lays `color` over a pixel with a coverage of 0…1; pixels outside the picture are left out.
    pub fn blend(&mut self, x: i64, y: i64, color: [u8; 3], coverage: f32) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        if x < self.width && y < self.height && coverage > 0.0 {
            self.set(x, y, mixed(self.at(x, y), color, coverage));
        }
    }

    /// Fills a rectangle with a coverage of 0…1, clipped to the picture.
    pub fn fill(&mut self, rect: Rect, color: [u8; 3], coverage: f32) {
        let columns = rect.x.min(self.width)..(rect.x + rect.width).min(self.width);
        let rows = self.rgb.chunks_exact_mut(3 * self.width.max(1));
        for row in rows.skip(rect.y).take(rect.height) {
            for pixel in row[3 * columns.start..3 * columns.end].as_chunks_mut::<3>().0 {
                *pixel = mixed(*pixel, color, coverage);
            }
        }
    }
}

/// `over` laid on `under` with a coverage of 0…1, in sRGB values as browsers and viewers do.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0…255")]
pub fn mixed(under: [u8; 3], over: [u8; 3], coverage: f32) -> [u8; 3] {
    let part = coverage.clamp(0.0, 1.0);
    std::array::from_fn(|n| {
        let (a, b) = (f32::from(under[n]), f32::from(over[n]));
        (a + (b - a) * part + 0.5) as u8
    })
}
