//! `ripplon selftest`: every method compared with the double-precision reference, on this machine.

use super::InputError;
use super::terminal::say;
use crate::engine::selftest::{Selftest, cases};
use crate::solver::{Backend, order_word};
use anyhow::bail;
use clap::Args;

/// What to test.
#[derive(Args, Debug)]
pub struct SelftestArgs {
    /// Only this back end
    #[arg(long, value_name = "B")]
    backend: Option<String>,
    /// Only this method
    #[arg(long, value_name = "M")]
    method: Option<String>,
}

/// Why a requested back end is not available.
fn missing(word: Option<&str>) -> Option<String> {
    let backend = Backend::ALL
        .into_iter()
        .find(|backend| Some(backend.as_str()) == word)?;
    let reason = backend.availability().err()?;
    Some(format!("--backend {}: it cannot be used: {reason}", backend.as_str()))
}

pub(super) fn run(args: &SelftestArgs) -> anyhow::Result<()> {
    super::allow_software(args.backend.as_deref());
    let wanted = |option: &Option<String>, word: &str| option.as_ref().is_none_or(|name| name == word);
    let mut cases = cases(|backend| wanted(&args.backend, backend.as_str()));
    cases.retain(|(case, _, _)| wanted(&args.method, case.method.id));
    if cases.is_empty() {
        if let Some(reason) = missing(args.backend.as_deref()) {
            return Err(InputError(reason).into());
        }
        let given = [("--backend", &args.backend), ("--method", &args.method)];
        let given: Vec<String> = given
            .into_iter()
            .filter_map(|(option, word)| Some(format!("{option} {}", word.as_ref()?)))
            .collect();
        return Err(InputError(format!(
            "{}: there are no such cases; `ripplon list methods` lists the methods and the back ends of each",
            given.join(" ")
        ))
        .into());
    }
    say!(
        "{:<18} {:<11} {:<7} {:<9} {:>5} {:>10} {:<11} {:>9} {:>9}",
        "method",
        "variant",
        "backend",
        "precision",
        "order",
        "size",
        "scene",
        "error",
        "allowed"
    );
    let mut selftest = Selftest::default();
    let mut wrong = 0;
    for (case, rank, trial) in &cases {
        let check = selftest.check(case, *rank, *trial);
        let sides: Vec<String> = trial.grid(*rank).iter().map(ToString::to_string).collect();
        let verdict = if check.passed() { "ok" } else { "WRONG" };
        let read = say!(
            "{:<18} {:<11} {:<7} {:<9} {:>5} {:>10} {:<11} {:>9.1e} {:>9.1e}  {verdict}",
            case.method.id,
            case.variant,
            case.backend.as_str(),
            case.precision.as_str(),
            order_word(case.order),
            sides.join("x"),
            trial.as_str(),
            check.error,
            check.tolerance
        );
        if !read {
            return Ok(());
        }
        if !check.passed() {
            wrong += 1;
            say!("    {}", check.details.trim().replace('\n', "\n    "));
        }
    }
    let total = cases.len();
    if wrong > 0 {
        bail!(
            "{wrong} of {total} checks are wrong: do not trust these methods on this machine, and report it with the table above"
        );
    }
    say!("{total} checks, all within their tolerances");
    Ok(())
}
