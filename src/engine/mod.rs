//! Runs a scenario: without a thread ([`Engine`], for the command line, films and tests) or on one ([`Worker`], for the
//! window).

pub mod bench;
pub mod build;
pub mod checkpoint;
pub mod command;
pub mod comparison;
pub mod dispersion;
pub mod eigen;
#[expect(clippy::module_inception, reason = "a file is named after its main type")]
pub mod engine;
pub mod error;
pub mod expectations;
pub mod frame;
mod gram;
pub mod link;
pub mod log;
pub mod maps;
pub mod mirror;
pub mod pacing;
pub mod range;
pub mod records;
pub mod resolution;
mod resume;
pub mod room;
mod runner;
pub mod selftest;
mod spectra;
mod state_watch;
pub mod sweep;
mod task;
pub mod trajectories;
pub mod worker;

pub use build::{Estimate, path_bytes, record_bytes, records_of};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use command::{Command, Job, Work};
pub use comparison::{Compared, difference};
pub use engine::{Change, Engine, Progress, RunEnd};
pub use error::EngineError;
pub use expectations::Verdict;
pub use frame::{Frame, Notice, Status};
pub use link::{Link, LinkState};
pub use mirror::gain::Replay;
pub use mirror::shown::{MirrorFrame, Moment, Signals};
pub use mirror::{MirrorStatus, Phase};
pub use range::{RangeKeeper, hues_have_room, shown_quantity};
pub use records::Records;
pub use task::{Task, ends};
pub use worker::{End, Worker};
