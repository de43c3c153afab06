//! Formulas in scene files: functions of x, y, z, r and t.
//!
//! A formula is parsed once into a postfix programme. It is evaluated for one point ([`Expression::eval`]) or for a whole row of
//! sites at once ([`Expression::eval_row`]): what does not change along the row is computed once, the rest in loops over
//! the row without a branch per site.
//!
//! Language: numbers, `+ - * /`, `^` (binds tighter than a sign and to the right: `-x^2` is −(x²), `2^3^2` is 2⁹), comparisons that give
//! 1 or 0, `pi`, `e`, and the functions of [`FUNCTIONS`]. Named constants may stand in front, each with a `;` behind it: `a = 0.5 in [0, 1]; a*x^2`.

pub mod constants;
mod parse;

use super::noise::scramble;
use std::fmt;
use std::sync::Arc;

pub use parse::ExpressionError;

/// Variables of a formula over space: position and distance from the shape's centre.
pub const SPACE: &[&str] = &["x", "y", "z", "r"];
/// Those of both.
pub const SPACE_AND_TIME: &[&str] = &["x", "y", "z", "r", "t"];
/// Variables of a formula over time.
pub const TIME: &[&str] = &["t"];

/// The largest number of values that a programme keeps at a time.
const STACK: usize = 32;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unary {
    Negate,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
    Sqrt,
    Cbrt,
    Abs,
    Sign,
    Step,
    Floor,
    Ceil,
    Round,
    Fract,
    Random,
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Min,
    Max,
    Mod,
    Atan2,
    Hypot,
    /// Combines two arguments of `random`.
    Mix,
}

/// One step of a programme.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Number(f64),
    Variable(u8),
    Unary(Unary),
    Binary(Binary),
    /// Condition, then, else.
    Select,
}

/// What a function does with its arguments.
#[derive(Clone, Copy, Debug)]
enum Function {
    One(Unary),
    Two(Binary),
    /// Two or more arguments, from the left.
    Fold(Binary),
    /// One or more arguments, mixed.
    Random,
    /// Three arguments.
    Select,
}

/// Every function: name, what it does, and how the reference describes it.
const FUNCTIONS: &[(&str, Function)] = &[
    ("sin", Function::One(Unary::Sin)),
    ("cos", Function::One(Unary::Cos)),
    ("tan", Function::One(Unary::Tan)),
    ("asin", Function::One(Unary::Asin)),
    ("acos", Function::One(Unary::Acos)),
    ("atan", Function::One(Unary::Atan)),
    ("atan2", Function::Two(Binary::Atan2)),
    ("sinh", Function::One(Unary::Sinh)),
    ("cosh", Function::One(Unary::Cosh)),
    ("tanh", Function::One(Unary::Tanh)),
    ("exp", Function::One(Unary::Exp)),
    ("ln", Function::One(Unary::Ln)),
    ("log10", Function::One(Unary::Log10)),
    ("sqrt", Function::One(Unary::Sqrt)),
    ("cbrt", Function::One(Unary::Cbrt)),
    ("abs", Function::One(Unary::Abs)),
    ("sign", Function::One(Unary::Sign)),
    ("step", Function::One(Unary::Step)),
    ("floor", Function::One(Unary::Floor)),
    ("ceil", Function::One(Unary::Ceil)),
    ("round", Function::One(Unary::Round)),
    ("fract", Function::One(Unary::Fract)),
    ("min", Function::Fold(Binary::Min)),
    ("max", Function::Fold(Binary::Max)),
    ("mod", Function::Two(Binary::Mod)),
    ("hypot", Function::Two(Binary::Hypot)),
    ("random", Function::Random),
    ("if", Function::Select),
];

impl Unary {
    fn apply(self, x: f64) -> f64 {
        match self {
            Self::Negate => -x,
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Tan => x.tan(),
            Self::Asin => x.asin(),
            Self::Acos => x.acos(),
            Self::Atan => x.atan(),
            Self::Sinh => x.sinh(),
            Self::Cosh => x.cosh(),
            Self::Tanh => x.tanh(),
            Self::Exp => x.exp(),
            Self::Ln => x.ln(),
            Self::Log10 => x.log10(),
            Self::Sqrt => x.sqrt(),
            Self::Cbrt => x.cbrt(),
            Self::Abs => x.abs(),
            Self::Sign if x == 0.0 => 0.0,
            Self::Sign => x.signum(),
            Self::Step if x.is_nan() => x,
            Self::Step => f64::from(x >= 0.0),
            Self::Floor => x.floor(),
            Self::Ceil => x.ceil(),
            Self::Round => x.round(),
            Self::Fract => x - x.floor(),
            Self::Random => uniform(x),
        }
    }
}

impl Binary {
    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => power(a, b),
            Self::Less => f64::from(a < b),
            Self::LessEqual => f64::from(a <= b),
            Self::Greater => f64::from(a > b),
            Self::GreaterEqual => f64::from(a >= b),
            Self::Equal => f64::from(a == b),
            Self::NotEqual => f64::from(a != b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Mod => a - b * (a / b).floor(),
            Self::Atan2 => a.atan2(b),
            Self::Hypot => a.hypot(b),
            Self::Mix => mix(a, b),
        }
    }
}

/// a^b; small whole powers by multiplication, so that a row of squares costs one product a site and 0^0 = 1.
fn power(a: f64, b: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of at most 16")]
    if b.fract() == 0.0 && b.abs() <= 16.0 {
        a.powi(b as i32)
    } else {
        a.powf(b)
    }
}

/// A number in [0, 1) that looks random and is the same on every machine.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn uniform(x: f64) -> f64 {
    // +0.0 makes −0 and 0 the same.
    (scramble((x + 0.0).to_bits()) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A number that depends on both, for `random` of several arguments.
fn mix(a: f64, b: f64) -> f64 {
    // The exponent is that of 1: any bits make a finite number.
    let bits = scramble(scramble((a + 0.0).to_bits()) ^ (b + 0.0).to_bits().rotate_left(23));
    f64::from_bits((bits >> 12) | (1023 << 52))
}

/// A formula of named variables, parsed once and evaluated per row of sites or per step.
#[derive(Clone)]
pub struct Expression {
    text: Arc<str>,
    variables: &'static [&'static str],
    program: Arc<[Op]>,
}

/// An argument of a formula over a row.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// The same at every site.
    Same(f64),
    /// One value per site.
    Row(&'a [f64]),
}

/// Rows that evaluation keeps from call to call.
#[derive(Debug, Default)]
pub struct Scratch {
    rows: Vec<Vec<f64>>,
}

/// A value on the stack of a row evaluation; rows stand in the scratch row of the same height.
#[derive(Clone, Copy)]
enum Held {
    Same(f64),
    Row,
}

impl Expression {
    /// Parses `text`; `variables` are the names it may use.
    ///
    /// # Errors
    /// If it is not a formula or uses another name.
    pub fn parse(text: &str, variables: &'static [&'static str]) -> Result<Self, ExpressionError> {
        Ok(Self {
            text: text.into(),
            variables,
            program: parse::program(text, variables)?.into(),
        })
    }

    /// The value where the variables have `values`, in the order given to [`Expression::parse`]. Not finite where the
    /// formula is not; NaN if a value is missing.
    pub fn eval(&self, values: &[f64]) -> f64 {
        let mut stack = [0.0; STACK];
        let mut height = 0;
        for op in self.program.iter() {
            match *op {
                Op::Number(number) => {
                    stack[height] = number;
                    height += 1;
                }
                Op::Variable(slot) => {
                    stack[height] = values.get(usize::from(slot)).copied().unwrap_or(f64::NAN);
                    height += 1;
                }
                Op::Unary(unary) => stack[height - 1] = unary.apply(stack[height - 1]),
                Op::Binary(binary) => {
                    height -= 1;
                    stack[height - 1] = binary.apply(stack[height - 1], stack[height]);
                }
                Op::Select => {
                    height -= 2;
                    let chosen = if stack[height - 1] == 0.0 {
                        stack[height + 1]
                    } else {
                        stack[height]
                    };
                    stack[height - 1] = chosen;
                }
            }
        }
        stack[0]
    }

    /// The values at every site of a row. Rows among the arguments have the length of `out`.
    pub fn eval_row(&self, arguments: &[Argument<'_>], scratch: &mut Scratch, out: &mut [f64]) {
        let sites = out.len();
        let mut held: Vec<Held> = Vec::with_capacity(STACK);
        for op in self.program.iter() {
            match *op {
                Op::Number(number) => held.push(Held::Same(number)),
                Op::Variable(slot) => match arguments.get(usize::from(slot)) {
                    Some(Argument::Row(row)) => {
                        scratch.row(held.len(), sites).copy_from_slice(row);
                        held.push(Held::Row);
                    }
                    Some(Argument::Same(number)) => held.push(Held::Same(*number)),
                    None => held.push(Held::Same(f64::NAN)),
                },
                Op::Unary(unary) => {
                    let top = held.len() - 1;
                    match &mut held[top] {
                        Held::Same(number) => *number = unary.apply(*number),
                        Held::Row => unary_row(unary, scratch.row(top, sites)),
                    }
                }
                Op::Binary(binary) => {
                    let right = held.pop().unwrap_or(Held::Same(f64::NAN));
                    let top = held.len() - 1;
                    held[top] = scratch.binary(binary, top, held[top], right, sites);
                }
                Op::Select => {
                    let no = held.pop().unwrap_or(Held::Same(f64::NAN));
                    let yes = held.pop().unwrap_or(Held::Same(f64::NAN));
                    let top = held.len() - 1;
                    held[top] = scratch.select(top, held[top], yes, no, sites);
                }
            }
        }
        match held.first() {
            Some(Held::Row) => out.copy_from_slice(scratch.row(0, sites)),
            Some(Held::Same(number)) => out.fill(*number),
            None => out.fill(f64::NAN),
        }
    }

    /// Whether the value depends on this variable (by position in the list given to [`Expression::parse`]).
    pub fn uses(&self, variable: usize) -> bool {
        self.program
            .iter()
            .any(|op| matches!(op, Op::Variable(slot) if usize::from(*slot) == variable))
    }

    /// The formula as written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Scratch {
    /// The scratch row of a height, at least `sites` long.
    fn row(&mut self, height: usize, sites: usize) -> &mut [f64] {
        if self.rows.len() <= height {
            self.rows.resize_with(height + 1, Vec::new);
        }
        let row = &mut self.rows[height];
        if row.len() < sites {
            row.resize(sites, 0.0);
        }
        &mut row[..sites]
    }

    /// `left` stands at height `top`, `right` one above; the result takes the place of `left`.
    fn binary(&mut self, binary: Binary, top: usize, left: Held, right: Held, sites: usize) -> Held {
        match (left, right) {
            (Held::Same(a), Held::Same(b)) => return Held::Same(binary.apply(a, b)),
            (Held::Row, Held::Same(b)) => {
                let row = self.row(top, sites);
                // The operator is chosen outside the loop, so that the loop is one instruction or call a site.
                match binary {
                    Binary::Add => row.iter_mut().for_each(|a| *a += b),
                    Binary::Subtract => row.iter_mut().for_each(|a| *a -= b),
                    Binary::Multiply => row.iter_mut().for_each(|a| *a *= b),
                    Binary::Divide => row.iter_mut().for_each(|a| *a /= b),
                    Binary::Power if b == 2.0 => row.iter_mut().for_each(|a| *a *= *a),
                    _ => row.iter_mut().for_each(|a| *a = binary.apply(*a, b)),
                }
            }
            (Held::Same(a), Held::Row) => {
                self.row(top, sites);
                let (low, high) = self.rows.split_at_mut(top + 1);
                let (out, right) = (&mut low[top][..sites], &high[0][..sites]);
                match binary {
                    Binary::Add => out.iter_mut().zip(right).for_each(|(out, b)| *out = a + b),
                    Binary::Subtract => out.iter_mut().zip(right).for_each(|(out, b)| *out = a - b),
                    Binary::Multiply => out.iter_mut().zip(right).for_each(|(out, b)| *out = a * b),
                    _ => out
                        .iter_mut()
                        .zip(right)
                        .for_each(|(out, b)| *out = binary.apply(a, *b)),
                }
            }
            (Held::Row, Held::Row) => {
                let (low, high) = self.rows.split_at_mut(top + 1);
                let (left, right) = (&mut low[top][..sites], &high[0][..sites]);
                match binary {
                    Binary::Add => left.iter_mut().zip(right).for_each(|(a, b)| *a += b),
                    Binary::Subtract => left.iter_mut().zip(right).for_each(|(a, b)| *a -= b),
                    Binary::Multiply => left.iter_mut().zip(right).for_each(|(a, b)| *a *= b),
                    _ => left.iter_mut().zip(right).for_each(|(a, b)| *a = binary.apply(*a, *b)),
                }
            }
        }
        Held::Row
    }

    /// The condition stands at height `top`, the two values above it.
    fn select(&mut self, top: usize, condition: Held, yes: Held, no: Held, sites: usize) -> Held {
        if let (Held::Same(condition), Held::Same(yes), Held::Same(no)) = (condition, yes, no) {
            return Held::Same(if condition == 0.0 { no } else { yes });
        }
        for (height, value) in [(top, condition), (top + 1, yes), (top + 2, no)] {
            let row = self.row(height, sites);
            if let Held::Same(number) = value {
                row.fill(number);
            }
        }
        if let [condition, yes, no] = &mut self.rows[top..top + 3] {
            for ((condition, yes), no) in condition[..sites].iter_mut().zip(&*yes).zip(&*no) {
                *condition = if *condition == 0.0 { *no } else { *yes };
            }
        }
        Held::Row
    }
}

fn unary_row(unary: Unary, row: &mut [f64]) {
    match unary {
        Unary::Negate => row.iter_mut().for_each(|x| *x = -*x),
        Unary::Sqrt => row.iter_mut().for_each(|x| *x = x.sqrt()),
        Unary::Abs => row.iter_mut().for_each(|x| *x = x.abs()),
        _ => row.iter_mut().for_each(|x| *x = unary.apply(*x)),
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({:?} of {:?})", self.text, self.variables)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.variables == other.variables
    }
}

#[cfg(test)]
mod tests;
