//! `[[note]]` and `[[theory]]` as they are written.

use super::look::Quantity;

/// A value that may be a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueFile {
    /// A number.
    Number(f64),
    /// A formula; of what is said where it stands.
    Formula(String),
}

impl Default for ValueFile {
    fn default() -> Self {
        Self::Number(0.0)
    }
}

/// One `[[note]]`, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NoteFile {
    /// When it appears.
    pub at: f64,
    /// When it goes; `None` = with the next note, or at the end.
    pub until: Option<f64>,
    /// What it says.
    pub text: String,
    /// What it points at.
    pub mark: Option<MarkFile>,
}

/// `mark` of a `[[note]]`: a circle in a plane, an interval of a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkFile {
    /// Its middle, lengths or formulas of t.
    pub center: Vec<ValueFile>,
    /// Its radius, likewise.
    pub radius: ValueFile,
}

/// What a `[[theory]]` draws, as written; lengths and values are numbers or formulas of t.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawnFile {
    /// Over the plot of a detector.
    Detector {
        /// Its name.
        detector: String,
        /// A formula of t.
        value: ValueFile,
    },
    /// Over the line cut, or the graph of a scene on a line.
    Cut {
        /// Along x (0) or y (1).
        axis: usize,
        /// What of the field it predicts; `None` = density, or pressure of sound.
        quantity: Option<Quantity>,
        /// A formula of x, y and t.
        value: ValueFile,
    },
    /// A straight line in the picture.
    Line {
        /// One end.
        from: Vec<ValueFile>,
        /// The other.
        to: Vec<ValueFile>,
    },
    /// A circle in the picture.
    Circle {
        /// Its middle.
        center: Vec<ValueFile>,
        /// Its radius.
        radius: ValueFile,
    },
}

/// One `[[theory]]`, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TheoryFile {
    /// What is drawn.
    pub drawn: DrawnFile,
    /// A word beside it; empty = none.
    pub label: String,
    /// When it appears; `None` = at the start.
    pub at: Option<f64>,
    /// When it goes; `None` = never.
    pub until: Option<f64>,
}
