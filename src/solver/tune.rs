//! One tuner for everything that only a measurement decides: a key and some plans in, the fastest plan out.
//!
//! A result is kept for the process, and in one file of the user's cache folder, so that later runs decide the same way without measuring. The key holds all that the speed depends on: method,
//! size, precision, kind of medium, and by itself the processor, its vectors, threads and this version of the program. Plans are told apart by what `{:?}` writes of them.
//! A result contains the scatter of repeated measurements. If that is more than [`DISTURBED`], other programs were running: the result holds for the process only, and the next process measures again.

use crate::backend::simd::Level;
use crate::backend::{machine, threads};
use crate::platform::Instant;
use std::fmt::Debug;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Size of the file in bytes beyond which it is started again.
const MOST_BYTES: u64 = 1 << 20;

/// Repeated measurements of one plan differ by less than this share on a machine at rest.
const DISTURBED: f64 = 0.1;

/// What the speed of plans depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TuningKey(String);

impl TuningKey {
    /// The key of a choice of a method; `what` is everything that it depends on, beside the machine.
    pub(super) fn new(method: &str, what: &impl Debug) -> Self {
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        let (version, level, threads) = (env!("CARGO_PKG_VERSION"), Level::best().as_str(), threads::count());
        let processor = machine::processor_name();
        Self(format!(
            "{version} {build} {processor} {level} {threads} {method} {what:?}"
        ))
    }
}

/// The result of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fastest<P> {
    /// The plan that took least time.
    pub plan: P,
    /// Relative scatter of the repeated measurements of a plan, the largest of all.
    pub scatter: f64,
}

/// Known results.
static KNOWN: Mutex<Vec<(TuningKey, String)>> = Mutex::new(Vec::new());

/// The fastest of some plans: the only one, the one known for this key, or the one that `measure` finds in the thread pool. `None` where there are none.
pub(super) fn fastest<P: Clone + Debug + Send>(
    key: &TuningKey,
    plans: Vec<P>,
    measure: impl FnOnce(Vec<P>) -> Option<Fastest<P>> + Send,
) -> Option<P> {
    fastest_in(file().as_deref(), key, plans, measure)
}

fn fastest_in<P: Clone + Debug + Send>(
    file: Option<&Path>,
    key: &TuningKey,
    mut plans: Vec<P>,
    measure: impl FnOnce(Vec<P>) -> Option<Fastest<P>> + Send,
) -> Option<P> {
    if plans.len() < 2 {
        return plans.pop();
    }
    let named = |text: &str| plans.iter().find(|plan| format!("{plan:?}") == text).cloned();
    if let Some(plan) = recall(key).and_then(|text| named(&text)) {
        return Some(plan);
    }
    if let Some(plan) = file.and_then(|file| read(file, key)).and_then(|text| named(&text)) {
        return named(&keep(key, format!("{plan:?}")));
    }
    // Not under the lock: while a thread of the pool measures, it may be given another choice to make.
    let all = plans.clone();
    let found = threads::run(|| measure(all))?;
    let text = format!("{:?}", found.plan);
    let first = keep(key, text.clone());
    if first == text
        && found.scatter <= DISTURBED
        && let Some(file) = file
    {
        write(file, key, &text, found.scatter);
    }
    named(&first)
}

fn recall(key: &TuningKey) -> Option<String> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .iter()
        .find(|(other, _)| other == key)
        .map(|(_, text)| text.clone())
}

/// Keeps a result, unless another thread was faster; returns the one that is kept.
fn keep(key: &TuningKey, text: String) -> String {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, first)) = known.iter().find(|(other, _)| other == key) {
        return first.clone();
    }
    known.push((key.clone(), text.clone()));
    text
}

/// The file that later runs read.
fn file() -> Option<PathBuf> {
    Some(machine::cache_folder()?.join("plans"))
}

fn read(file: &Path, key: &TuningKey) -> Option<String> {
    let bytes = crate::input_file::read(file, MOST_BYTES + (1 << 16)).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let answer = |line: &str| {
        let (plan, _) = line.strip_prefix(&key.0)?.strip_prefix(" = ")?.rsplit_once(" ± ")?;
        Some(plan.to_owned())
    };
    text.lines().find_map(answer)
}

/// Errors are ignored: without a cache the next run measures again.
fn write(file: &Path, key: &TuningKey, answer: &str, scatter: f64) {
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let full = std::fs::metadata(file).is_ok_and(|data| data.len() > MOST_BYTES);
    let mut options = std::fs::OpenOptions::new();
    let options = if full {
        options.write(true).truncate(true)
    } else {
        options.create(true).append(true)
    };
    if let Ok(mut file) = options.open(file) {
        // One call, so that lines of several programs do not mix.
        let _ = file.write_all(format!("{} = {answer} ± {scatter:.3}\n", key.0).as_bytes());
    }
}

/// The fastest of some plans, none of which begins to be timed after `longest`; `seconds(plan, passes)` gives the least time a step of so many passes, `None` where a
/// plan cannot be tried.
pub(super) fn quickest<P>(
    plans: Vec<P>,
    longest: Duration,
    mut seconds: impl FnMut(&P, u32) -> Option<f64>,
) -> Option<Fastest<P>> {
    let start = Instant::now();
    let mut timed: Vec<(f64, P)> = Vec::new();
    for plan in plans {
        if (timed.is_empty() || start.elapsed() < longest)
            && let Some(least) = seconds(&plan, 3)
        {
            timed.push((least, plan));
        }
    }
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Other programs disturb: the two best run once more.
    timed.truncate(2);
    let mut scatter = 0.0f64;
    for (least, plan) in &mut timed {
        if let Some(again) = seconds(plan, 2) {
            scatter = scatter.max(apart(*least, again));
            *least = least.min(again);
        }
    }
    let (_, plan) = timed.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Fastest { plan, scatter })
}

/// Relative difference of two times, over the smaller one.
pub(super) fn apart(one: f64, other: f64) -> f64 {
    (one - other).abs() / one.min(other)
}

/// The least time a step of `passes` passes of `steps` steps.
pub(super) fn least_time(passes: u32, steps: usize, mut pass: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..passes {
        let begin = Instant::now();
        pass();
        #[expect(clippy::cast_precision_loss, reason = "a small number of steps")]
        let seconds = begin.elapsed().as_secs_f64() / steps as f64;
        least = least.min(seconds);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_measured_once_and_its_answer_outlives_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("below").join("plans");
        let key = TuningKey::new("test", &("first", 3));
        let asked = |key: &TuningKey, plan: u32| {
            fastest_in(Some(&file), key, vec![1, 2, 3], |_| {
                Some(Fastest { plan, scatter: 0.02 })
            })
        };
        assert_eq!(asked(&key, 2), Some(2));
        assert_eq!(asked(&key, 3), Some(2), "measured again");
        // Results of other processes are read; plans that no longer exist are not.
        let other = TuningKey::new("test", &("second", 3));
        write(&file, &other, "3", 0.02);
        assert_eq!(asked(&other, 1), Some(3));
        let stale = TuningKey::new("test", &("third", 3));
        write(&file, &stale, "77", 0.02);
        assert_eq!(asked(&stale, 1), Some(1));
        assert_ne!(key, other);
    }

    #[test]
    fn an_answer_of_a_machine_at_work_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("plans");
        let key = |name: &str| TuningKey::new("test", &("at work", name));
        let found = |name: &str, scatter: f64| {
            let plan = 2;
            fastest_in(Some(&file), &key(name), vec![1, 2, 3], |_| {
                Some(Fastest { plan, scatter })
            })
        };
        assert_eq!(found("busy", 0.3), Some(2));
        // Kept for the process, so that all its runs decide alike, but not in the file.
        assert_eq!(recall(&key("busy")).as_deref(), Some("2"));
        assert_eq!(read(&file, &key("busy")), None);
        assert_eq!(found("quiet", 0.03), Some(2));
        assert_eq!(read(&file, &key("quiet")).as_deref(), Some("2"));
        // Entries without a scatter may have been measured while other programs ran.
        let old = format!("{} = 3\n", key("old").0);
        std::fs::write(&file, old).unwrap();
        assert_eq!(read(&file, &key("old")), None);
    }

    #[test]
    fn what_is_measured_twice_says_how_far_it_lies_apart() {
        let found = |second: f64| {
            let mut times = [2.0, 1.0, 3.0, second, 2.0].into_iter();
            quickest(vec!['a', 'b', 'c'], Duration::MAX, |_, _| times.next()).unwrap()
        };
        assert_eq!(found(1.05).plan, 'b');
        assert!((found(1.05).scatter - 0.05).abs() < 1e-12);
        assert!((found(0.8).scatter - 0.25).abs() < 1e-12);
        // The second look was the slow one, by chance.
        assert_eq!(found(9.0).plan, 'b');
        assert!(found(9.0).scatter > DISTURBED);
    }

    #[test]
    fn one_plan_is_not_measured_and_none_is_none() {
        let key = TuningKey::new("test", &"alone");
        let never = |_| -> Option<Fastest<u32>> { unreachable!("nothing to choose from") };
        assert_eq!(fastest_in(None, &key, vec![7], never), Some(7));
        assert_eq!(fastest_in(None, &key, Vec::new(), never), None);
    }

    #[test]
    fn the_least_time_wins_and_what_cannot_be_tried_is_left_out() {
        let seconds = |plan: &i32, _| (*plan != 4).then(|| f64::from((*plan - 2).abs()));
        let plan = |plans, longest| quickest(plans, longest, seconds).map(|found| found.plan);
        assert_eq!(plan(vec![5, 4, 3, 1, 2], Duration::MAX), Some(2));
        assert_eq!(plan(vec![5, 2], Duration::ZERO), Some(5));
        assert_eq!(plan(vec![4], Duration::MAX), None);
    }
}
