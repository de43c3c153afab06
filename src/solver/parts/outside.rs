//! Ghost rows that other processes own: by NCCL from device to device where every process has it, else by messages through the host.

use super::Cut;
use super::member::Member;
#[cfg(feature = "cuda")]
use crate::backend::cuda::{DevicesOfProcess, LockedBytes, Nccl, Pieces};
use crate::backend::ranks::Ranks;
use crate::solver::SolverError;
use crate::solver::cut::Plan;
use std::ops::{Deref, DerefMut, Range};
#[cfg(feature = "cuda")]
use std::sync::Arc;

/// What travels between this process and those before and behind it.
pub(super) struct Outside {
    ranks: &'static dyn Ranks,
    /// Whether the processes before and behind have neighbouring rows.
    there: [bool; 2],
    /// To the process before, and to the next one.
    given: [Message; 2],
    /// From them.
    come: [Message; 2],
    #[cfg(feature = "cuda")]
    between: Between,
}

/// How ghost rows of devices travel.
#[cfg(feature = "cuda")]
enum Between {
    /// By messages of the processes, and why.
    Host(Option<String>),
    /// From device to device; those of the next exchange, `[given, come]`.
    Devices(Arc<Nccl>, Option<Box<[[Option<Pieces>; 2]; 2]>>),
}

impl Outside {
    /// Of a process that holds these parts. All processes come to this call.
    pub(super) fn new<S: Cut>(ranks: &'static dyn Ranks, plan: &Plan, members: &mut [Member<S>], lines: usize) -> Self {
        let (rank, count) = (ranks.rank(), ranks.count());
        #[cfg(not(feature = "cuda"))]
        let _ = (members, lines);
        Self {
            ranks,
            there: [plan.ring || rank > 0, plan.ring || rank + 1 < count],
            given: Default::default(),
            come: Default::default(),
            #[cfg(feature = "cuda")]
            between: Between::of(ranks, members, lines),
        }
    }

    /// How ghost rows travel, for the user.
    pub(super) fn describe(&self) -> String {
        let processes = format!(" in {} processes", self.ranks.count());
        #[cfg(feature = "cuda")]
        match &self.between {
            Between::Devices(nccl, _) => return format!("{processes} by NCCL {}", nccl.version()),
            // One clause: others follow in a report.
            Between::Host(Some(reason)) => {
                return format!("{processes} through the host ({})", reason.replace("; ", ", "));
            }
            Between::Host(None) => {}
        }
        processes
    }

    /// Takes what neighbours need: the lowest rows of the first part, and the highest ones of the last.
    pub(super) fn take<S: Cut>(
        &mut self,
        members: &mut [Member<S>],
        [ghosts, lines]: [usize; 2],
    ) -> Result<(), SolverError> {
        let last = members.len() - 1;
        let [given, come] = ranges(members, ghosts);
        #[cfg(feature = "cuda")]
        if let Between::Devices(_, next) = &mut self.between {
            let mut of = |n: usize, rows: &Range<usize>| {
                let member = &mut members[if n > 0 { last } else { 0 }];
                let there = self.there[n].then(|| on_device(member, rows.clone(), lines));
                there.transpose()
            };
            *next = Some(Box::new([
                [of(0, &given[0])?, of(1, &given[1])?],
                [of(0, &come[0])?, of(1, &come[1])?],
            ]));
            return Ok(());
        }
        for n in [0, 1] {
            let member = &mut members[if n > 0 { last } else { 0 }];
            if !self.there[n] {
                self.given[n] = Message::default();
                self.come[n] = Message::default();
                continue;
            }
            self.come[n].make_room(member, come[n].clone(), lines)?;
            self.given[n].fill(member, given[n].clone(), lines)?;
        }
        Ok(())
    }

    /// Exchanges it with other processes; `meanwhile` runs during the transfer.
    #[cfg_attr(
        not(feature = "cuda"),
        allow(clippy::unnecessary_wraps, reason = "devices may refuse, and this build knows none")
    )]
    pub(super) fn swap(&mut self, meanwhile: Option<&mut dyn FnMut()>) -> Result<(), SolverError> {
        #[cfg(feature = "cuda")]
        if let Between::Devices(nccl, next) = &mut self.between {
            let (rank, count) = (self.ranks.rank(), self.ranks.count());
            if let Some(next) = next.take() {
                let [given, come] = &*next;
                nccl.swap(given, come, [(rank + count - 1) % count, (rank + 1) % count])?;
            }
            if let Some(meanwhile) = meanwhile {
                meanwhile();
            }
            return Ok(());
        }
        let [down, up] = &self.given;
        let [below, above] = &mut self.come;
        self.ranks.swap([down, up], [below, above], meanwhile);
        Ok(())
    }

    /// Writes what came into the ghost rows of the first and the last part.
    pub(super) fn put<S: Cut>(&self, members: &mut [Member<S>], lines: usize) -> Result<(), SolverError> {
        #[cfg(feature = "cuda")]
        if matches!(self.between, Between::Devices(..)) {
            return Ok(());
        }
        let last = members.len() - 1;
        let [_, [below, above]] = ranges(members, 0);
        #[cfg(feature = "cuda")]
        {
            // Both before either is written: what is written first would end the marks of the other.
            let pieces = [(0, &below), (last, &above)].map(|(n, rows)| members[n].pieces(rows.clone(), lines));
            if let [Some(low), Some(high)] = pieces {
                for (pieces, message) in [low, high].iter().zip(&self.come) {
                    if !message.is_empty() {
                        pieces.write(message)?;
                    }
                }
                return Ok(());
            }
        }
        for (n, rows, message) in [(0, below, &self.come[0]), (last, above, &self.come[1])] {
            if !message.is_empty() {
                members[n].write(rows, lines, message)?;
            }
        }
        Ok(())
    }
}

/// Rows along the axis that is cut, `[given, come]`: the lowest of the first part and the highest of the last that neighbours have as ghosts, and the ghost rows below the first and above
/// the last part.
fn ranges<S>(members: &[Member<S>], ghosts: usize) -> [[Range<usize>; 2]; 2] {
    let [first, last] = [&members[0], &members[members.len() - 1]];
    let (low, high) = (first.core.start, last.core.end);
    [[low..low + ghosts, high - ghosts..high], [0..low, high..last.rows]]
}

/// Where some rows of a run on devices lie.
#[cfg(feature = "cuda")]
fn on_device<S: Cut>(member: &mut Member<S>, rows: Range<usize>, lines: usize) -> Result<Pieces, SolverError> {
    match member.pieces(rows.clone(), lines) {
        Some(pieces) => Ok(pieces),
        // Reading them has the error.
        None => Err(
            (member.read(rows, lines, &mut Vec::new()).err()).unwrap_or_else(|| SolverError::Backend {
                backend: "cuda",
                message: "ghost rows are not on the device".to_owned(),
            }),
        ),
    }
}

#[cfg(feature = "cuda")]
impl Between {
    fn of<S: Cut>(ranks: &dyn Ranks, members: &mut [Member<S>], lines: usize) -> Self {
        let mut devices = DevicesOfProcess::None;
        for member in members {
            let first = member.core.start;
            let own = member.pieces(first..first + 1, lines).map(|pieces| pieces.device());
            devices = match (devices, own) {
                (DevicesOfProcess::None, Some(own)) => DevicesOfProcess::One(own),
                (DevicesOfProcess::One(known), Some(own)) if !known.is(own) => DevicesOfProcess::Several,
                (known, _) => known,
            };
        }
        match Nccl::among(ranks, devices) {
            Ok(nccl) => Self::Devices(nccl, None),
            Err(_) if matches!(devices, DevicesOfProcess::None) => Self::Host(None),
            Err(reason) => Self::Host(Some(reason)),
        }
    }
}

/// A message, in memory that stays from one exchange to the next.
enum Message {
    Host(Vec<u8>),
    #[cfg(feature = "cuda")]
    Locked(LockedBytes),
}

impl Default for Message {
    fn default() -> Self {
        Self::Host(Vec::new())
    }
}

impl Deref for Message {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Host(bytes) => bytes,
            #[cfg(feature = "cuda")]
            Self::Locked(bytes) => bytes,
        }
    }
}

impl DerefMut for Message {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Host(bytes) => bytes,
            #[cfg(feature = "cuda")]
            Self::Locked(bytes) => bytes,
        }
    }
}

impl Message {
    /// Takes the state of some rows.
    fn fill<S: Cut>(&mut self, member: &mut Member<S>, rows: Range<usize>, lines: usize) -> Result<(), SolverError> {
        #[cfg(feature = "cuda")]
        if let Some(pieces) = member.pieces(rows.clone(), lines) {
            self.lock(&pieces);
            return Ok(pieces.read_into(self)?);
        }
        let mut bytes = match std::mem::take(self) {
            Self::Host(bytes) => bytes,
            #[cfg(feature = "cuda")]
            Self::Locked(_) => Vec::new(),
        };
        member.read(rows, lines, &mut bytes)?;
        *self = Self::Host(bytes);
        Ok(())
    }

    /// Room for the state of some rows.
    fn make_room<S: Cut>(
        &mut self,
        member: &mut Member<S>,
        rows: Range<usize>,
        lines: usize,
    ) -> Result<(), SolverError> {
        #[cfg(feature = "cuda")]
        if let Some(pieces) = member.pieces(rows.clone(), lines) {
            self.lock(&pieces);
            return Ok(());
        }
        self.fill(member, rows, lines)
    }

    /// Room for pieces of a device.
    #[cfg(feature = "cuda")]
    fn lock(&mut self, pieces: &Pieces) {
        if !matches!(self, Self::Locked(bytes) if bytes.len() == pieces.bytes()) {
            *self = Self::Locked(LockedBytes::new(pieces.device(), pieces.bytes()));
        }
    }
}
