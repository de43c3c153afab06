//! Which part of the table is measured, at which sizes and with which settings.

use super::BenchArgs;
use crate::cli::InputError;
use crate::engine::bench::{self, Case};
use crate::solver::Backend;

/// The combinations selected by the arguments.
pub(super) fn chosen(args: &BenchArgs) -> Result<Vec<Case>, InputError> {
    // Graphics drivers are loaded where nobody names another back end alone.
    let others = [Backend::Cpu, Backend::Cuda].map(|backend| Some(backend.as_str()));
    let looked_for = |backend| backend != Backend::Wgpu || !others.contains(&args.backend.as_deref());
    let mut cases: Vec<Case> = Vec::new();
    for case in args.order.iter().flat_map(|order| bench::cases(*order, looked_for)) {
        let same = |known: &Case| {
            std::ptr::eq(known.method, case.method)
                && (known.backend, known.variant, known.precision, known.order)
                    == (case.backend, case.variant, case.precision, case.order)
        };
        if !cases.iter().any(same) {
            cases.push(case);
        }
    }
    keep(&mut cases, "--method", args.method.as_ref(), |case| case.method.id)?;
    keep(&mut cases, "--backend", args.backend.as_ref(), |case| {
        case.backend.as_str()
    })?;
    keep(&mut cases, "--variant", args.variant.as_ref(), |case| case.variant)?;
    keep(&mut cases, "--precision", args.precision.as_ref(), |case| {
        case.precision.as_str()
    })?;
    if let Some((key, _)) = (args.set.iter()).find(|(key, _)| !cases.iter().any(|case| case.takes(key))) {
        return Err(InputError(format!("--set: no method that is left has the key `{key}`")));
    }
    if args
        .size
        .iter()
        .all(|size| cases.iter().all(|case| !case.method.ranks.contains(&size.0.len())))
        && !args.size.is_empty()
    {
        return Err(InputError(
            "no method that is left works in the dimensions of --size".to_owned(),
        ));
    }
    Ok(cases)
}

/// Keeps the cases whose `word` is the wanted one; an unknown word is an error that lists the known ones.
pub(super) fn keep(
    cases: &mut Vec<Case>,
    option: &str,
    wanted: Option<&String>,
    word: impl Fn(&Case) -> &'static str,
) -> Result<(), InputError> {
    let Some(wanted) = wanted else {
        return Ok(());
    };
    let mut there: Vec<&str> = cases.iter().map(&word).collect();
    there.sort_unstable();
    there.dedup();
    if !there.contains(&wanted.as_str()) {
        return Err(InputError(format!(
            "{option} {wanted}: it is unknown; there are {}",
            there.join(", ")
        )));
    }
    cases.retain(|case| word(case) == wanted.as_str());
    Ok(())
}

/// The requested keys of `[solver]` that the method has.
pub(super) fn settings(case: &Case, args: &BenchArgs) -> String {
    let partition = [("blocks", args.blocks), ("levels", args.levels)]
        .into_iter()
        .filter_map(|(key, value)| Some((key, i64::from(value?))));
    let others = args.set.iter().map(|(key, value)| (key.as_str(), *value));
    partition
        .chain(others)
        .filter(|(key, _)| case.takes(key))
        .fold(String::new(), |text, (key, value)| text + &format!("{key} = {value}\n"))
}

/// The requested sizes, or those that show where caches end.
pub(super) fn sizes(args: &BenchArgs) -> Vec<Size> {
    if !args.size.is_empty() {
        return args.size.clone();
    }
    let sides: &[usize] = match (args.quick, args.backend.as_deref()) {
        (true, _) => &[1024, 2048],
        (false, Some("cuda")) => &[512, 1024, 2048, 4096, 8192, 16384],
        (false, Some("wgpu")) => &[512, 1024, 2048, 4096, 8192],
        (false, _) => &[512, 1024, 2048, 4096],
    };
    sides.iter().map(|&side| Size(vec![side, side])).collect()
}

/// Sites along each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Size(pub Vec<usize>);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sides: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.pad(&sides.join("x"))
    }
}

pub(super) fn parse_size(text: &str) -> Result<Size, String> {
    let sides: Option<Vec<usize>> = text
        .split(['x', 'X', '×'])
        .map(|side| side.trim().parse().ok().filter(|n| *n >= 4))
        .collect();
    match sides {
        Some(sides) if sides.len() <= 3 => Ok(Size(sides)),
        _ => Err("one to three numbers of sites of at least 4, e.g. 4096x4096".to_owned()),
    }
}

pub(super) fn parse_setting(text: &str) -> Result<(String, i64), String> {
    let pair = text
        .split_once('=')
        .and_then(|(key, value)| Some((key.trim().to_owned(), value.trim().parse().ok()?)));
    pair.ok_or_else(|| "a key and a whole number, e.g. tower=64".to_owned())
}

pub(super) fn parse_scale(text: &str) -> Result<usize, String> {
    let scale = text.parse().ok().filter(|scale| (1..=1024).contains(scale));
    scale.ok_or_else(|| "a whole number from 1 to 1024".to_owned())
}
