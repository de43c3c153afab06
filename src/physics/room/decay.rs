//! Schroeder's curve of a response, and what is read off it.

/// Pieces of a response whose energies are compared to find its floor.
const PIECES: usize = 64;

/// A sound that begins by itself arrives where its record first exceeds −20 dB of its largest value (ISO 3382-1, A.2).
pub(super) const ONSET: f64 = 0.1;

/// If the energies of the last two eighths are closer than this, the record ends in a noise floor rather than in a decay, unless it is far too short.
const FLAT: f64 = 0.8;

/// An energy below this share of the largest is far below it.
const FLOOR: f64 = 1e-3;

/// Pieces, each as long as echoes need ([`Decay::with_echoes`]), that a record must have to tell how it decays: its end is compared with what comes before, and both with the rest.
const ECHOES: f64 = 4.0;

/// Early sound of speech (C50, D50) and of music (C80), s.
const EARLY_SPEECH: f64 = 0.05;
const EARLY_MUSIC: f64 = 0.08;

/// A record whose decay is too short for a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooShort {
    /// Decay that the line needs, dB.
    pub needs: f64,
    /// Decay that the record has, dB.
    pub has: f64,
    /// What it takes to have more.
    pub remedy: Remedy,
}

/// What a record lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remedy {
    /// How much longer it would have to be, s.
    Longer(f64),
    /// It ends in a floor of noise.
    Louder,
    /// It hardly decays: more than ten times its length would be needed.
    None,
    /// It ends before its echoes can tell how it decays: what falls there is the end of the record.
    Echoes {
        /// Seconds after the arrival that it takes.
        needs: f64,
        /// Seconds after the arrival that there are.
        has: f64,
    },
}

impl std::fmt::Display for TooShort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decay = format!("needs {:.0} dB of decay and the record has {:.1}", self.needs, self.has);
        match self.remedy {
            Remedy::Longer(time) => write!(f, "{decay}; record about {time:.3} s more"),
            Remedy::Louder => write!(
                f,
                "{decay} above its floor of noise; take double precision or a stronger source"
            ),
            Remedy::None => write!(f, "{decay}; it hardly falls here"),
            Remedy::Echoes { needs, has } => write!(
                f,
                "needs {needs:.3} s of the record after the arrival, four echoes or twelve periods, and there are {has:.3}; record at least {:.3} s more",
                needs - has
            ),
        }
    }
}

/// A straight line through the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The time in which it falls by 60 dB, s.
    pub time: f64,
    /// Its level when the sound comes, dB.
    pub start: f64,
}

/// The decay of a response.
#[derive(Clone, Debug, PartialEq)]
pub struct Decay {
    /// Seconds between two samples.
    pub step: f64,
    /// The arrival of the sound, s from the first sample.
    pub onset: f64,
    /// L from the onset to the last sample that is used, dB; first 0, less what filters bring forward.
    pub levels: Vec<f64>,
    /// Decay before the end, dB: the extrapolated part is this far below the start. 0 where the record is too short to tell ([`Decay::echoes`]).
    pub range: f64,
    /// Whether the record was cut where it meets a floor of noise.
    pub cut: bool,
    /// Early decay time, 0 to −10 dB.
    pub edt: Result<Line, TooShort>,
    /// −5 to −25 dB.
    pub t20: Result<Line, TooShort>,
    /// −5 to −35 dB.
    pub t30: Result<Line, TooShort>,
    /// How the energy is spread over time; it needs 10 dB of decay, so that at most a tenth of the energy comes after the record.
    pub balance: Result<Balance, TooShort>,
}

/// How the energy of a response is spread over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// Clarity: energy of the first 50 ms over the rest, dB; `None` if the part of the record that is used is shorter.
    pub c50: Option<f64>,
    /// The same with 80 ms.
    pub c80: Option<f64>,
    /// Definition: share of the energy in the first 50 ms; `None` as for C50.
    pub d50: Option<f64>,
    /// Centre time, s.
    pub centre: f64,
}

/// The first sample with this share of the largest or more, 0 if there is none.
pub(super) fn first_within(values: &[f64], share: f64) -> usize {
    let largest = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let heard = |value: &f64| value.abs() >= share * largest;
    values.iter().position(heard).unwrap_or(0)
}

impl Decay {
    /// The decay of a response sampled every `step` s from the sample `arrival` on, in which the sound arrives; `None` for silence.
    ///
    /// What lies before is a part of the response that filters without a phase bring forward, and early energy.
    #[must_use]
    pub fn of(response: &[f64], step: f64, arrival: usize) -> Option<Self> {
        Self::with_echoes(response, step, arrival, 0.0)
    }

    /// The same where `piece` s of a response have to be taken together for their energy to fall as the sound does: the time between echoes, or some periods of a band. The tail is found from pieces that are no shorter,
    /// and a record of fewer than four of them tells no decay.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of samples")]
    pub fn with_echoes(response: &[f64], step: f64, arrival: usize, piece: f64) -> Option<Self> {
        let largest = response.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        if largest <= 0.0 || !largest.is_finite() {
            return None;
        }
        let first = arrival.min(response.len() - 1);
        let mut squares: Vec<f64> = response.iter().map(|value| (value / largest).powi(2)).collect();
        let before: Vec<f64> = squares.drain(..first).collect();
        let after = squares.len() as f64 * step;
        let echoes = (after < ECHOES * piece).then_some(Remedy::Echoes {
            needs: ECHOES * piece,
            has: after,
        });
        let piece = crate::rounding::truncated((piece / step).ceil());
        let (end, cut) = end_of(&squares, piece);
        let tail = Tail::of(&squares[..end], step, if cut { 0 } else { piece });
        let mut sum = tail.energy;
        let mut energies: Vec<f64> = squares[..end]
            .iter()
            .rev()
            .map(|square| {
                sum += square;
                sum
            })
            .collect();
        energies.reverse();
        let whole = energies.first().copied()? + before.iter().sum::<f64>();
        let levels: Vec<f64> = energies.iter().map(|energy| 10.0 * (energy / whole).log10()).collect();
        let range = if echoes.is_some() {
            0.0
        } else if tail.energy > 0.0 {
            10.0 * (whole / tail.energy).log10()
        } else {
            f64::INFINITY
        };
        let lacks = |needs: f64| TooShort {
            needs,
            has: range,
            remedy: echoes.unwrap_or(match (needs - range) / tail.rate {
                _ if cut || range >= needs => Remedy::Louder,
                longer if longer > 10.0 * end as f64 * step => Remedy::None,
                longer => Remedy::Longer(longer),
            }),
        };
        let reaches = |needs: f64| if range < needs { Err(lacks(needs)) } else { Ok(()) };
        let line = |from: f64, to: f64| {
            let needs = 10.0 - to;
            reaches(needs)?;
            fit(&levels, step, [from, to]).ok_or(lacks(needs))
        };
        let late = |seconds: f64| {
            let place = seconds / step;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            let n = place.round() as usize;
            // Behind the end nothing is known: what the tail would leave there is no measurement.
            let at_end = (n == energies.len()).then_some(tail.energy);
            energies.get(n).copied().or(at_end)
        };
        let clarity = |seconds: f64| late(seconds).map(|late| 10.0 * ((whole - late) / late).log10());
        let (edt, t20, t30) = (line(0.0, -10.0), line(-5.0, -25.0), line(-5.0, -35.0));
        let after = squares[..end].iter().enumerate();
        let moments = after.map(|(n, square)| n as f64 * step * square);
        let early = before.iter().rev().enumerate();
        let early = early.map(|(n, square)| (n as f64 + 1.0) * step * square);
        // ∫ t e^(−kt) beyond the end: its energy times the end and 1/k.
        let of_tail = if tail.energy > 0.0 {
            tail.energy * (end as f64 * step + 10.0 / (std::f64::consts::LN_10 * tail.rate))
        } else {
            0.0
        };
        let balance = reaches(10.0).map(|()| Balance {
            c50: clarity(EARLY_SPEECH),
            c80: clarity(EARLY_MUSIC),
            d50: late(EARLY_SPEECH).map(|late| 1.0 - late / whole),
            centre: (moments.sum::<f64>() - early.sum::<f64>() + of_tail) / whole,
        });
        Some(Self {
            step,
            onset: first as f64 * step,
            range,
            cut,
            edt,
            t20,
            t30,
            balance,
            levels,
        })
    }

    /// Why nothing is known of the decay: the record ends before its echoes tell.
    #[must_use]
    pub fn echoes(&self) -> Option<TooShort> {
        (self.balance.as_ref().err())
            .filter(|short| matches!(short.remedy, Remedy::Echoes { .. }))
            .copied()
    }

    /// By how many per cent T30 exceeds T20: above 10 the decay is curved (ISO 3382-2, B.3), e.g. in coupled rooms.
    pub fn curvature(&self) -> Option<f64> {
        let (t20, t30) = (self.t20.ok()?, self.t30.ok()?);
        Some(100.0 * (t30.time / t20.time - 1.0))
    }

    /// Why C80, or C50, D50 and C80, are not known: what is used of the record ends before the early sound does.
    #[expect(clippy::cast_precision_loss, reason = "counts of samples")]
    pub fn too_short_for_clarity(&self) -> Option<String> {
        let balance = self.balance.ok()?;
        let needs = match (balance.c50, balance.c80) {
            (_, Some(_)) => return None,
            (Some(_), None) => "C80 needs 80 ms",
            (None, None) => "C50 and D50 need 50 ms and C80 needs 80 ms",
        };
        let used = self.levels.len() as f64 * self.step;
        let remedy = if self.cut {
            "it meets its floor of noise there; take double precision or a stronger source".to_owned()
        } else {
            format!("record about {:.3} s more", EARLY_MUSIC - used)
        };
        Some(format!(
            "{needs} of the record after the arrival, and {:.1} ms are used; {remedy}",
            1e3 * used
        ))
    }
}

/// What is taken to follow the end.
struct Tail {
    energy: f64,
    /// dB/s by which it falls.
    rate: f64,
}

impl Tail {
    /// The exponential through the energies of the last two eighths, or pieces of so many samples where these are longer.
    #[expect(clippy::cast_precision_loss, reason = "counts of samples")]
    fn of(squares: &[f64], step: f64, piece: usize) -> Self {
        let piece = (squares.len() / 8).max(piece).max(1);
        let end = squares.len();
        let energy = |back: usize| -> f64 {
            let to = end.saturating_sub(back * piece);
            squares[to.saturating_sub(piece)..to].iter().sum()
        };
        let (last, before) = (energy(0), energy(1));
        // What does not fall is not extrapolated to infinity: a record that has decayed by 1e-3 dB is as good as none. What does not fall and lies far below the rest is a floor, of
        // which as much is taken to follow as the last eighth has: it is no part of the decay.
        let largest = squares
            .chunks(piece)
            .map(|piece| piece.iter().sum())
            .fold(0.0, f64::max);
        let floor = last > FLAT * before && last < FLOOR * largest;
        let most = if floor { 0.5 } else { 0.9999 };
        let ratio = if before > 0.0 { (last / before).min(most) } else { 0.0 };
        let rate = if ratio > 0.0 {
            -10.0 * ratio.log10() / (piece as f64 * step)
        } else {
            f64::INFINITY
        };
        Self {
            energy: last * ratio / (1.0 - ratio),
            rate,
        }
    }
}

/// How many samples are used, and whether that is fewer than all: if the last quarter does not fall and lies far below
/// the rest, they end as soon as the energy is within 5 dB of it. An eighth of fewer samples than `echo` may lie between two echoes, and is no floor.
fn end_of(squares: &[f64], echo: usize) -> (usize, bool) {
    let piece = squares.len() / PIECES;
    if piece == 0 || squares.len() / 8 < echo {
        return (squares.len(), false);
    }
    let energies: Vec<f64> = squares.chunks_exact(piece).map(|piece| piece.iter().sum()).collect();
    let eighth = PIECES / 8;
    let part = |back: usize| -> f64 {
        let to = energies.len() - back * eighth;
        energies[to - eighth..to].iter().sum()
    };
    let (last, before) = (part(0), part(1));
    #[expect(clippy::cast_precision_loss, reason = "8")]
    let floor = last / eighth as f64;
    let largest = energies.iter().copied().fold(0.0, f64::max);
    if last < FLAT * before || floor > FLOOR * largest || floor <= 0.0 {
        return (squares.len(), false);
    }
    let limit = 10f64.sqrt() * floor;
    let loudest = energies.iter().position(|energy| *energy >= largest).unwrap_or(0);
    // From where it stays below for a while: what has been divided by a source's spectrum may rise again at its end.
    let below = |n: &usize| energies[*n..].iter().take(eighth / 2).all(|energy| *energy <= limit);
    let above = (loudest + 1..energies.len()).find(below);
    let end = above.map_or(squares.len(), |above| above * piece);
    (end, end < squares.len())
}

/// The line of least squares through the levels between two, dB; `None` if it does not fall.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn fit(levels: &[f64], step: f64, [from, to]: [f64; 2]) -> Option<Line> {
    let first = levels.iter().position(|level| *level <= from)?;
    let last = levels.iter().position(|level| *level < to).unwrap_or(levels.len());
    let part = levels.get(first..last).filter(|part| part.len() > 1)?;
    let count = part.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let mean = part.iter().sum::<f64>() / count;
    let (mut along, mut across) = (0.0, 0.0);
    for (n, level) in part.iter().enumerate() {
        let x = n as f64 - middle;
        along += x * x;
        across += x * (level - mean);
    }
    let slope = across / (along * step);
    let start = mean - slope * step * (first as f64 + middle);
    (slope < 0.0).then_some(Line {
        time: -60.0 / slope,
        start,
    })
}
