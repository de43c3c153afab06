//! `ripplon bench --scaling`: a grid in one part and in several, with the expected rates.

use super::choice::{Size, settings};
use super::{BenchArgs, named};
use crate::backend::ranks;
use crate::cli::InputError;
use crate::cli::terminal::{say, tell};
use crate::engine::bench::scaling::{Asked, Costs, Growth, Scaled, measure_scaling};
use crate::engine::bench::{Case, orders};
use crate::export::chart::{Chart, Series};
use crate::export::{self, About};
use crate::field::Precision;
use crate::solver::{Backend, METHODS};
use crate::units::si;
use std::io::Write;

/// Numbers of parts.
const PARTS: &[usize] = &[1, 2, 3, 4, 6, 8];
const QUICK: &[usize] = &[1, 2, 4];

pub(super) fn run(args: &BenchArgs) -> anyhow::Result<()> {
    if let Some(other) = args.backend.as_deref().filter(|name| *name != Backend::Cpu.as_str()) {
        return Err(InputError(format!(
            "--scaling measures parts on the processor, not on {other}; leave --backend out"
        ))
        .into());
    }
    let cases = cases(args)?;
    let outputs = named::given([("--json", &args.json), ("--plot", &args.plot)]);
    named::check(&outputs, &[])?;
    let costs = Costs::measure();
    say!("{}", preamble(costs));
    say!("{}", headings());
    let mut entries: Vec<Scaled> = Vec::new();
    for size in &sizes(args) {
        for case in cases.iter().filter(|case| case.method.ranks.contains(&size.0.len())) {
            let extra = settings(case, args);
            let asked = Asked {
                size: &size.0,
                extra: &extra,
                parts: if args.quick { QUICK } else { PARTS },
                seconds: if args.quick { 0.5 } else { 3.0 },
                uniform: args.uniform,
            };
            let measured = measure_scaling(case, &asked, costs, |entry| {
                say!("{}", line(&entry));
                entries.push(entry);
            });
            if let Err(error) = measured {
                tell!("{} {} {size}: {error}", case.method.id, case.variant);
            }
        }
    }
    if entries.is_empty() {
        anyhow::bail!("nothing could be measured");
    }
    if let Some(path) = &args.json {
        let mut file = export::begin(path)?;
        serde_json::to_writer_pretty(&mut file, &entries)?;
        writeln!(file)?;
        export::complete(file)?;
    }
    if let Some(path) = &args.plot {
        let about = About {
            title: TITLE.to_owned(),
            comment: String::new(),
            scene: None,
        };
        export::png::save(path, &chart(&entries).draw(1360, 760), &about)?;
    }
    Ok(())
}

const TITLE: &str = "Parts of a grid against one";

/// Methods that can be cut, each with the variant that it would take, in single precision unless another is requested.
fn cases(args: &BenchArgs) -> Result<Vec<Case>, InputError> {
    let methods: Vec<_> = METHODS.iter().filter(|method| method.split.is_some()).collect();
    let ids: Vec<&str> = methods.iter().map(|method| method.id).collect();
    if let Some(name) = args.method.as_ref().filter(|name| !ids.contains(&name.as_str())) {
        return Err(InputError(format!(
            "--method {name}: it cannot be cut into parts; there are {}",
            ids.join(", ")
        )));
    }
    let precision = match args.precision.as_deref() {
        None => Precision::Single,
        Some(name) => [Precision::Single, Precision::Double]
            .into_iter()
            .find(|precision| precision.as_str() == name)
            .ok_or_else(|| InputError(format!("--precision {name}: there are single, double")))?,
    };
    let mut cases = Vec::new();
    for method in methods {
        if args.method.as_ref().is_some_and(|name| name != method.id) {
            continue;
        }
        let target = method
            .targets
            .iter()
            .find(|target| target.backend == Backend::Cpu && target.cut);
        let variants = target.map_or(&[][..], |target| target.variants);
        let variant = match args.variant.as_deref() {
            None => "auto",
            Some(name) => match variants.iter().find(|variant| variant.id == name) {
                Some(variant) => variant.id,
                None => continue,
            },
        };
        for asked in &args.order {
            let nearest = orders(method).into_iter().min_by_key(|own| own.abs_diff(*asked));
            cases.push(Case {
                method,
                backend: Backend::Cpu,
                variant,
                precision,
                order: nearest.unwrap_or(*asked),
            });
        }
    }
    if cases.is_empty() {
        let name = args.variant.as_deref().unwrap_or_default();
        return Err(InputError(format!("--variant {name}: no method that is left has it")));
    }
    cases.dedup_by(|a, b| std::ptr::eq(a.method, b.method) && a.order == b.order);
    Ok(cases)
}

fn sizes(args: &BenchArgs) -> Vec<Size> {
    match (args.size.is_empty(), args.quick) {
        (false, _) => args.size.clone(),
        (true, true) => vec![Size(vec![1024, 1024])],
        (true, false) => vec![Size(vec![1024, 1024]), Size(vec![4096, 4096])],
    }
}

fn preamble(costs: Costs) -> String {
    let copies = format!(
        "ghost rows are copied at {}B/s in a process",
        si(costs.copies).trim_end()
    );
    let between = match ranks::world() {
        None => "in one process, whose threads step all parts side by side".to_owned(),
        Some(ranks) => format!(
            "{} processes ({}): {:.1} µs a message, {}B/s",
            ranks.count(),
            ranks.describe(),
            1e6 * costs.latency,
            si(costs.bandwidth).trim_end()
        ),
    };
    format!(
        "{between}; {copies}\nefficiency: the rate over the number of processes times the rate of one part; expected: the efficiency that ghost rows and copies leave\n"
    )
}

fn headings() -> String {
    format!(
        "{:<12} {:<9} {:<9} {:>5} {:<7} {:>13} {:>5} {:>6} {:>5} {:>12} {:>10} {:>8}",
        "method",
        "variant",
        "precision",
        "order",
        "grid",
        "size",
        "parts",
        "ghosts",
        "every",
        "site-steps/s",
        "efficiency",
        "expected"
    )
}

fn line(entry: &Scaled) -> String {
    let or = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    format!(
        "{:<12} {:<9} {:<9} {:>5} {:<7} {:>13} {:>5} {:>6} {:>5} {:>12} {:>10} {:>8.3}",
        entry.method,
        entry.variant,
        entry.precision,
        entry.order,
        entry.growth.as_str(),
        Size(entry.size.clone()),
        entry.parts,
        entry.ghosts,
        entry.every,
        or(entry.site_steps_per_s.map(|rate| si(rate).trim_end().to_owned())),
        or(entry.efficiency.map(|efficiency| format!("{efficiency:.3}"))),
        entry.expected_efficiency
    )
}

/// Efficiency against the number of parts: measured (solid) and expected (dashed).
#[expect(clippy::cast_precision_loss, reason = "numbers of parts")]
fn chart(entries: &[Scaled]) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    let mut marks: Vec<(f64, String)> = Vec::new();
    let mut add = |label: String, broken: bool, point: (f64, f64)| {
        let place = series.iter().position(|known| known.label == label).unwrap_or_else(|| {
            series.push(Series {
                label,
                points: Vec::new(),
                broken,
            });
            series.len() - 1
        });
        series[place].points.push(point);
    };
    for entry in entries {
        let parts = entry.parts as f64;
        let own = |growth: Growth| {
            let size = Size(unscaled(entry));
            format!("{} {}, {size}, {}", entry.method, entry.order, growth.as_str())
        };
        // The grid of one part begins both.
        for growth in Growth::values().filter(|growth| entry.parts == 1 || *growth == entry.growth) {
            let label = own(growth);
            if let Some(efficiency) = entry.efficiency {
                add(label.clone(), false, (parts, efficiency));
            }
            add(format!("{label}, expected"), true, (parts, entry.expected_efficiency));
        }
        if !marks.iter().any(|(place, _)| *place == parts) {
            marks.push((parts, entry.parts.to_string()));
        }
    }
    Chart {
        title: TITLE.to_owned(),
        subtitle: crate::backend::machine::processor_name(),
        marks,
        along: "parts".to_owned(),
        up: "efficiency".to_owned(),
        series,
    }
}

/// The grid of one part.
fn unscaled(entry: &Scaled) -> Vec<usize> {
    let mut size = entry.size.clone();
    if let (Growth::Weak, Some(last)) = (entry.growth, size.last_mut()) {
        *last /= entry.parts;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_what_was_measured_beside_what_was_expected() {
        let entry = |growth, parts, efficiency| Scaled {
            method: "trotter",
            variant: "blocked",
            precision: "single",
            order: 2,
            growth,
            size: Growth::size(growth, &[64, 32], parts),
            parts,
            processes: 1,
            threads: 2,
            ghosts: 18,
            every: 8,
            site_steps_per_s: efficiency,
            efficiency,
            range: None,
            expected_efficiency: 0.9,
        };
        let entries = [
            entry(Growth::Strong, 1, Some(1.0)),
            entry(Growth::Strong, 2, Some(0.8)),
            entry(Growth::Strong, 4, None),
            entry(Growth::Weak, 2, Some(0.95)),
        ];
        let chart = chart(&entries);
        let lines: Vec<(&str, usize, bool)> = (chart.series.iter())
            .map(|series| (series.label.as_str(), series.points.len(), series.broken))
            .collect();
        assert_eq!(
            lines,
            [
                ("trotter 2, 64x32, strong", 2, false),
                ("trotter 2, 64x32, strong, expected", 3, true),
                ("trotter 2, 64x32, weak", 2, false),
                ("trotter 2, 64x32, weak, expected", 2, true),
            ]
        );
        assert_eq!(chart.marks.len(), 3);
    }
}
