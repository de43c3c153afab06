//! `ripplon bench`: the methods beside this machine's own ceilings.

use super::InputError;
use crate::backend::ceilings::Ceilings;
use crate::engine::bench::{self, Case, Entry};
use crate::export::aside::Aside;
use crate::solver;
use crate::units::si;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// What to measure.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Only this method
    #[arg(long, value_name = "M")]
    method: Option<String>,
    /// Only this variant
    #[arg(long, value_name = "V")]
    variant: Option<String>,
    /// Only this back end
    #[arg(long, value_name = "B")]
    backend: Option<String>,
    /// Only this precision
    #[arg(long, value_name = "P")]
    precision: Option<String>,
    /// The order in the time step (a method without it takes its nearest)
    #[arg(long, value_name = "N", default_value_t = 2)]
    order: u32,
    /// Grid sizes, e.g. 512x512 4096x4096 (default: 512², 1024², 2048² and 4096²)
    #[arg(long, value_name = "SIZE", num_args = 1.., value_parser = parse_size)]
    size: Vec<Size>,
    /// Half a second instead of three per figure, and the two middle sizes only
    #[arg(long)]
    quick: bool,
    /// Also write the results as a JSON array
    #[arg(long, value_name = "F")]
    json: Option<PathBuf>,
}

/// Sites along each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Size(Vec<usize>);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sides: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.pad(&sides.join("x"))
    }
}

fn parse_size(text: &str) -> Result<Size, String> {
    let sides: Option<Vec<usize>> = text
        .split(['x', 'X', '×'])
        .map(|side| side.trim().parse().ok().filter(|n| *n >= 4))
        .collect();
    match sides {
        Some(sides) if sides.len() <= 3 => Ok(Size(sides)),
        _ => Err("one to three numbers of sites of at least 4, e.g. 4096x4096".to_owned()),
    }
}

pub(super) fn run(args: &BenchArgs) -> anyhow::Result<()> {
    let cases = chosen(args)?;
    // A file that cannot be written is found out now.
    let json = args
        .json
        .as_ref()
        .map(|path| Aside::create(path).map_err(|error| InputError(error.to_string())))
        .transpose()?;
    let sizes = if args.size.is_empty() {
        let sides: &[usize] = if args.quick {
            &[1024, 2048]
        } else {
            &[512, 1024, 2048, 4096]
        };
        sides.iter().map(|&side| Size(vec![side, side])).collect()
    } else {
        args.size.clone()
    };
    let seconds = if args.quick { 0.5 } else { 3.0 };
    let free = solver::free_memory().unwrap_or(4 << 30);
    let array = usize::try_from((free / 4).min(1 << 30)).unwrap_or(1 << 30);
    let ceilings = Ceilings::measure(if args.quick { 1.5 } else { 4.0 }, array);
    print_ceilings(&ceilings);
    let mut entries: Vec<Entry> = Vec::new();
    println!("{}", headings());
    for size in &sizes {
        for case in cases.iter().filter(|case| case.method.ranks.contains(&size.0.len())) {
            match bench::measure(case, &size.0, seconds, &ceilings) {
                Ok((entry, details)) => {
                    println!("{}", line(&entry, size, &details));
                    entries.push(entry);
                }
                Err(error) => eprintln!("{} {} {size}: {error}", case.method.id, case.variant),
            }
        }
    }
    if let Some(mut file) = json {
        serde_json::to_writer_pretty(&mut file, &entries)?;
        writeln!(file)?;
        file.commit()?;
    }
    if entries.is_empty() {
        anyhow::bail!("nothing could be measured");
    }
    Ok(())
}

/// The combinations that the arguments leave.
fn chosen(args: &BenchArgs) -> Result<Vec<Case>, InputError> {
    let mut cases = bench::cases(args.order);
    keep(&mut cases, "--method", args.method.as_ref(), |case| case.method.id)?;
    keep(&mut cases, "--backend", args.backend.as_ref(), |case| {
        case.backend.word()
    })?;
    keep(&mut cases, "--variant", args.variant.as_ref(), |case| case.variant)?;
    keep(&mut cases, "--precision", args.precision.as_ref(), |case| {
        case.precision.word()
    })?;
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

/// Keeps the cases whose `word` is the wanted one; an unknown one is answered with those there are.
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
            "{option} {wanted}: there is no such thing here; there are {}",
            there.join(", ")
        )));
    }
    cases.retain(|case| word(case) == wanted.as_str());
    Ok(())
}

fn print_ceilings(ceilings: &Ceilings) {
    println!(
        "this machine, {} threads: memory {}B/s in place, {}B/s triad (arrays of {}); multiply-adds {}/s single, {}/s double ({})",
        ceilings.threads,
        si(ceilings.in_place),
        si(ceilings.triad),
        crate::units::bytes(u64::try_from(ceilings.array / 3).unwrap_or(0)),
        si(ceilings.fma_single),
        si(ceilings.fma_double),
        ceilings.instructions
    );
    println!(
        "of copy: over one pass through memory a step at the in-place rate (fused steps exceed 100%); \
         of FMA: over the least instructions of the scheme at the multiply-add rate\n"
    );
}

fn headings() -> String {
    format!(
        "{:<18} {:<11} {:<7} {:<9} {:>5} {:>13} {:>12} {:>8} {:>7}  {:<23} how",
        "method",
        "variant",
        "backend",
        "precision",
        "order",
        "size",
        "site-steps/s",
        "of copy",
        "of FMA",
        "slowest to fastest"
    )
}

fn line(entry: &Entry, size: &Size, details: &str) -> String {
    let spread = format!("{} to {}", si(entry.min).trim_end(), si(entry.max).trim_end());
    format!(
        "{:<18} {:<11} {:<7} {:<9} {:>5} {:>13} {:>12} {:>7.1}% {:>6.1}%  {:<23} {}",
        entry.method,
        entry.variant,
        entry.backend,
        entry.precision,
        entry.order,
        size,
        si(entry.site_steps_per_s).trim_end(),
        100.0 * entry.share_of_copy,
        100.0 * entry.share_of_fma,
        spread,
        details
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("4096x4096"), Ok(Size(vec![4096, 4096])));
        assert_eq!(parse_size("512"), Ok(Size(vec![512])));
        assert_eq!(format!("{:>10}", Size(vec![8, 9])), "       8x9");
        for text in ["", "x", "512x", "3x512", "4x4x4x4", "-5"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn unknown_words_are_answered_with_what_there_is() {
        let mut cases = bench::cases(2);
        let wanted = "trotte".to_owned();
        let error = keep(&mut cases, "--method", Some(&wanted), |case| case.method.id).unwrap_err();
        assert!(error.0.contains("trotter"), "{error}");
        let all = cases.len();
        keep(&mut cases, "--precision", Some(&"double".to_owned()), |case| {
            case.precision.word()
        })
        .unwrap();
        assert!(!cases.is_empty() && cases.len() < all);
    }
}
