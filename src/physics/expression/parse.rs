//! From a formula's text to its programme: a precedence-climbing parser with places in its errors.

use super::constants::{self, Constant};
use super::{Binary, FUNCTIONS, Function, Op, STACK, Unary};

/// Longest formula, in characters.
const LONGEST: usize = 4096;
/// Deepest nesting of parentheses, functions and signs; keeps the parser's own recursion small.
const DEEPEST: usize = 64;

/// Why a formula is refused. Places count characters of the formula from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// Not a formula.
    #[error("this is not a formula: {reason}")]
    Syntax {
        /// What does not fit.
        reason: String,
        /// What to write instead.
        remedy: String,
        /// The first character at fault, and the one after the last.
        place: (usize, usize),
    },
    /// A name that is nothing here.
    #[error("`{name}` is not a variable or constant here")]
    UnknownName {
        /// The name.
        name: String,
        /// What could stand there.
        known: String,
        /// The first character at fault, and the one after the last.
        place: (usize, usize),
    },
    /// It is too long or too deeply nested.
    #[error("the formula is too {what}; the limit is {limit}")]
    TooLarge {
        /// `long` or `deeply nested`.
        what: &'static str,
        /// The limit.
        limit: String,
    },
}

impl ExpressionError {
    /// What to change.
    pub fn remedy(&self) -> String {
        match self {
            Self::Syntax { remedy, .. } => remedy.clone(),
            Self::UnknownName { known, .. } => format!("possible are {known}"),
            Self::TooLarge { .. } => "split it into several layers with mode = \"add\", or use an array".to_owned(),
        }
    }

    /// The characters at fault: the first, and the one after the last.
    pub fn place(&self) -> Option<(usize, usize)> {
        match self {
            Self::Syntax { place, .. } | Self::UnknownName { place, .. } => Some(*place),
            Self::TooLarge { .. } => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Symbol(&'static str),
    End,
}

/// Longer symbols first.
const SYMBOLS: [&str; 15] = [
    "<=", ">=", "==", "!=", "**", "<", ">", "+", "-", "*", "/", "^", "(", ")", ",",
];

/// A token with its first character and the one after its last.
type Placed = (Token, (usize, usize));

struct Parser<'a> {
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
    variables: &'a [&'a str],
    constants: Vec<Constant>,
    program: Vec<Op>,
    /// Values on the stack after the programme so far.
    height: usize,
}

/// The programme of a formula.
pub(super) fn program(text: &str, variables: &[&str]) -> Result<Vec<Op>, ExpressionError> {
    if text.chars().count() > LONGEST {
        return Err(too_long());
    }
    let (constants, body) = constants::split(text, variables)?;
    let mut parser = Parser {
        tokens: tokens(&body)?,
        constants,
        at: 0,
        depth: 0,
        variables,
        program: Vec::new(),
        height: 0,
    };
    parser.comparison()?;
    match parser.peek() {
        Token::End => Ok(parser.program),
        Token::Name(_) | Token::Number(_) | Token::Symbol("(") => Err(parser.fault(
            "an operator is missing before this",
            "write * between factors, e.g. 2*x",
        )),
        Token::Symbol(")") => Err(parser.fault("there is no `(` for this", "remove it")),
        Token::Symbol(_) => Err(parser.fault("this does not belong here", "put parts in parentheses")),
    }
}

fn tokens(text: &str) -> Result<Vec<Placed>, ExpressionError> {
    let chars: Vec<char> = text.chars().take(LONGEST + 1).collect();
    if chars.len() > LONGEST {
        return Err(too_long());
    }
    let mut list = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let start = at;
        let token = if c.is_whitespace() {
            at += 1;
            continue;
        } else if c.is_ascii_digit() || c == '.' {
            at = number_end(&chars, at);
            let digits: String = chars[start..at].iter().collect();
            let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
            Token::Number(number.ok_or_else(|| ExpressionError::Syntax {
                reason: format!("`{digits}` is not a number"),
                remedy: "write e.g. 0.5 or 1e-3".to_owned(),
                place: (start, at),
            })?)
        } else if c.is_alphabetic() || c == '_' {
            while chars.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                at += 1;
            }
            Token::Name(chars[start..at].iter().collect())
        } else {
            let symbol = SYMBOLS
                .into_iter()
                .find(|symbol| symbol.chars().enumerate().all(|(n, s)| chars.get(at + n) == Some(&s)));
            match symbol {
                Some("**") => {
                    return Err(ExpressionError::Syntax {
                        reason: "`**` is not an operator".to_owned(),
                        remedy: "write ^ for a power".to_owned(),
                        place: (start, start + 2),
                    });
                }
                Some(symbol) => {
                    at += symbol.len();
                    Token::Symbol(symbol)
                }
                None => {
                    return Err(ExpressionError::Syntax {
                        reason: format!("`{}` is not a part of one", c.escape_debug()),
                        remedy: "operators are + - * / ^ < <= > >= == !=".to_owned(),
                        place: (start, start + 1),
                    });
                }
            }
        };
        list.push((token, (start, at)));
    }
    list.push((Token::End, (chars.len(), chars.len() + 1)));
    Ok(list)
}

/// The end of a number that starts at `at`: digits, a point, digits, an exponent.
fn number_end(chars: &[char], mut at: usize) -> usize {
    let digits = |mut at: usize| {
        while chars.get(at).is_some_and(char::is_ascii_digit) {
            at += 1;
        }
        at
    };
    at = digits(at);
    if chars.get(at) == Some(&'.') {
        at = digits(at + 1);
    }
    if matches!(chars.get(at), Some('e' | 'E')) {
        let sign = usize::from(matches!(chars.get(at + 1), Some('+' | '-')));
        if chars.get(at + 1 + sign).is_some_and(char::is_ascii_digit) {
            at = digits(at + 1 + sign);
        }
    }
    at
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn fault(&self, reason: &str, remedy: &str) -> ExpressionError {
        ExpressionError::Syntax {
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
            place: self.tokens.get(self.at).map_or((0, 1), |(_, place)| *place),
        }
    }

    fn take(&mut self, symbol: &str) -> bool {
        let there = matches!(self.peek(), Token::Symbol(next) if *next == symbol);
        self.at += usize::from(there);
        there
    }

    fn one_of(&mut self, table: &[(&str, Binary)]) -> Option<Binary> {
        table
            .iter()
            .find(|(symbol, _)| self.take(symbol))
            .map(|(_, binary)| *binary)
    }

    fn push(&mut self, op: Op) -> Result<(), ExpressionError> {
        match op {
            Op::Number(_) | Op::Variable(_) => self.height += 1,
            Op::Unary(_) => {}
            Op::Binary(_) => self.height -= 1,
            Op::Select => self.height -= 2,
        }
        // A constant part is computed once, here.
        let folded = match (op, &self.program[..]) {
            (Op::Unary(unary), [.., Op::Number(x)]) => Some((1, unary.apply(*x))),
            (Op::Binary(binary), [.., Op::Number(a), Op::Number(b)]) => Some((2, binary.apply(*a, *b))),
            _ => None,
        };
        match folded {
            Some((used, number)) => {
                self.program.truncate(self.program.len() - used);
                self.program.push(Op::Number(number));
            }
            None => self.program.push(op),
        }
        if self.height > STACK {
            Err(too_deep(STACK))
        } else {
            Ok(())
        }
    }

    /// Runs a rule one level deeper.
    fn deeper(&mut self, rule: fn(&mut Self) -> Result<(), ExpressionError>) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_deep(DEEPEST));
        }
        rule(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn comparison(&mut self) -> Result<(), ExpressionError> {
        let table = [
            ("<=", Binary::LessEqual),
            (">=", Binary::GreaterEqual),
            ("==", Binary::Equal),
            ("!=", Binary::NotEqual),
            ("<", Binary::Less),
            (">", Binary::Greater),
        ];
        self.sum()?;
        if let Some(binary) = self.one_of(&table) {
            self.sum()?;
            self.push(Op::Binary(binary))?;
            if table
                .iter()
                .any(|(symbol, _)| matches!(self.peek(), Token::Symbol(next) if next == symbol))
            {
                return Err(self.fault("comparisons do not chain", "multiply them: (0 < x)*(x < 1)"));
            }
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<(), ExpressionError> {
        self.product()?;
        while let Some(binary) = self.one_of(&[("+", Binary::Add), ("-", Binary::Subtract)]) {
            self.product()?;
            self.push(Op::Binary(binary))?;
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), ExpressionError> {
        self.signed()?;
        while let Some(binary) = self.one_of(&[("*", Binary::Multiply), ("/", Binary::Divide)]) {
            self.signed()?;
            self.push(Op::Binary(binary))?;
        }
        Ok(())
    }

    /// A sign binds less tightly than a power: −x^2 is −(x^2).
    fn signed(&mut self) -> Result<(), ExpressionError> {
        if self.take("-") {
            self.deeper(Self::signed)?;
            self.push(Op::Unary(Unary::Negate))
        } else if self.take("+") {
            self.deeper(Self::signed)
        } else {
            self.power()
        }
    }

    /// Right-associative, with a sign allowed in the exponent: 2^3^2 is 2^9, 2^-1 is a half.
    fn power(&mut self) -> Result<(), ExpressionError> {
        self.atom()?;
        if self.take("^") {
            self.deeper(Self::signed)?;
            self.push(Op::Binary(Binary::Power))?;
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), ExpressionError> {
        match self.peek().clone() {
            Token::Number(number) => {
                self.at += 1;
                self.push(Op::Number(number))
            }
            Token::Name(name) => self.name(&name),
            Token::Symbol("(") => {
                self.at += 1;
                self.deeper(Self::comparison)?;
                self.close()
            }
            Token::End => Err(self.fault("it ends too early", "write a number, a name or ( here")),
            Token::Symbol(_) => Err(self.fault("a number, a name or ( belongs here", "write e.g. 0.5*(x - 10)^2")),
        }
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        if self.take(")") {
            Ok(())
        } else {
            Err(self.fault("`)` is missing", "close the parenthesis"))
        }
    }

    fn name(&mut self, name: &str) -> Result<(), ExpressionError> {
        if let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
            return self.call(name, *function);
        }
        let op = match name {
            "pi" | "π" => Some(Op::Number(std::f64::consts::PI)),
            "e" => Some(Op::Number(std::f64::consts::E)),
            _ => {
                let slot = self.variables.iter().position(|known| *known == name);
                let variable = slot.and_then(|slot| u8::try_from(slot).ok()).map(Op::Variable);
                let constant = self.constants.iter().find(|known| known.name == name);
                variable.or(constant.map(|constant| Op::Number(constant.value)))
            }
        };
        let Some(op) = op else {
            let names = self
                .variables
                .iter()
                .copied()
                .chain(["pi", "e"])
                .collect::<Vec<_>>()
                .join(", ");
            let functions = FUNCTIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            return Err(ExpressionError::UnknownName {
                name: name.to_owned(),
                known: format!("{names} and the functions {functions}"),
                place: self.tokens[self.at].1,
            });
        };
        self.at += 1;
        self.push(op)
    }

    fn call(&mut self, name: &str, function: Function) -> Result<(), ExpressionError> {
        let place = self.tokens[self.at].1;
        self.at += 1;
        if !self.take("(") {
            return Err(self.fault(&format!("`(` is missing after {name}"), &format!("write {name}(...)")));
        }
        let mut count = 0;
        loop {
            self.deeper(Self::comparison)?;
            count += 1;
            match function {
                Function::Fold(binary) if count > 1 => self.push(Op::Binary(binary))?,
                Function::Random if count > 1 => self.push(Op::Binary(Binary::Mix))?,
                _ => {}
            }
            if !self.take(",") {
                break;
            }
        }
        self.close()?;
        let wanted = match function {
            Function::One(_) if count != 1 => Some("one argument"),
            Function::Two(_) if count != 2 => Some("two arguments"),
            Function::Fold(_) if count < 2 => Some("two arguments or more"),
            Function::Select if count != 3 => Some("three arguments: condition, then, else"),
            _ => None,
        };
        if let Some(wanted) = wanted {
            return Err(ExpressionError::Syntax {
                reason: format!("{name} has {count}"),
                remedy: format!("{name} takes {wanted}"),
                place,
            });
        }
        match function {
            Function::One(unary) => self.push(Op::Unary(unary)),
            Function::Two(binary) => self.push(Op::Binary(binary)),
            Function::Fold(_) => Ok(()),
            Function::Random => self.push(Op::Unary(Unary::Random)),
            Function::Select => self.push(Op::Select),
        }
    }
}

fn too_long() -> ExpressionError {
    ExpressionError::TooLarge {
        what: "long",
        limit: format!("{LONGEST} characters"),
    }
}

fn too_deep(limit: usize) -> ExpressionError {
    ExpressionError::TooLarge {
        what: "deeply nested",
        limit: format!("{limit} levels"),
    }
}
