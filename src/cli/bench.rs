//! `ripplon bench`: the speed of the methods, compared with the limits of this machine.

mod blocks;
mod choice;
mod reflection;
mod scaling;
mod scenes;

use super::numbers::whole;
use super::terminal::{say, tell};
use super::{InputError, named};
use crate::backend::ceilings::Ceilings;
use crate::engine::bench::{self, Bounds, Case, Entry};
use crate::export::chart::{Chart, Series};
use crate::export::{self, About};
use crate::solver::{self, Backend, order_word};
use crate::units::si;
use choice::{Size, chosen, keep, parse_scale, parse_setting, parse_size, settings, sizes};
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
    /// Orders, e.g. 2 4 8: in space for finite differences, in Δt for other methods (a method without this order uses the nearest)
    #[arg(long, value_name = "N", num_args = 1.., default_values_t = [2])]
    order: Vec<u32>,
    /// The same medium everywhere, instead of a potential or speed for every site
    #[arg(long)]
    uniform: bool,
    /// Grid sizes, e.g. 512x512 4096x4096 (default: 512², 1024², 2048² and 4096²; with `--backend wgpu` or `--backend
    /// cuda` also 8192², with `--backend cuda` also 16384²)
    #[arg(long, value_name = "SIZE", num_args = 1.., value_parser = parse_size)]
    size: Vec<Size>,
    /// Number of blocks of n-partition (default: its own choice)
    #[arg(long, value_name = "N")]
    blocks: Option<u32>,
    /// Number of levels of n-partition (default: its own choice)
    #[arg(long, value_name = "N")]
    levels: Option<u32>,
    /// Settings of the methods as under `[solver]`, e.g. tower=64 dts=2; ignored for methods without the key
    #[arg(long, value_name = "KEY=VALUE", num_args = 1.., value_parser = parse_setting)]
    set: Vec<(String, i64)>,
    /// Instead of the table: draw the time per step of n-partition against the number of blocks, for one, two and three
    /// levels (default size: 300000 rows)
    #[arg(long, value_name = "F.png", conflicts_with_all = ["plot", "json", "frames", "blocks", "levels", "set"])]
    blocks_plot: Option<PathBuf>,
    /// Instead of measuring: print the reflection of the absorbing edges of finite differences
    #[arg(long, conflicts_with_all = ["plot", "json", "frames", "blocks_plot"])]
    reflection: bool,
    /// Instead of the table: compare scenes as written with their bare grids (same sites, method, precision and Δt,
    /// empty), and measure what edges, walls, medium, detectors, sources and mirrors cost, each removed alone (default:
    /// every preset). `--method`, `--backend`, `--precision` and `--variant` override the scenes
    #[arg(long, value_name = "NAME", num_args = 0.., conflicts_with_all = ["blocks_plot", "plot", "frames", "blocks", "levels", "set", "uniform", "order"])]
    scenes: Option<Vec<String>>,
    /// With `--scenes`: N times as many sites along each axis; lengths stay the same, the spacing and Δt shrink,
    /// absorbing edges keep their number of sites
    #[arg(long, value_name = "N", default_value_t = 1, requires = "scenes", value_parser = parse_scale)]
    scale: usize,
    /// Instead of the table: compare every variant with the one that `auto` takes, for presets and for grids of many
    /// sizes (or only for `--scenes`); marks variants that are more than 5% faster
    #[arg(long, conflicts_with_all = ["blocks_plot", "plot", "frames", "blocks", "levels", "set", "uniform", "order", "variant"])]
    check_auto: bool,
    /// Instead of the table: compare a grid in several parts (`[solver] parts`) with the same grid in one part (strong
    /// scaling), and with a grid that grows with the number of parts (weak); under an MPI launcher one part per
    /// process. Also prints the rate expected from ghost rows and copies
    #[arg(long, conflicts_with_all = ["blocks_plot", "frames", "scenes", "check_auto", "reflection", "blocks", "levels"])]
    scaling: bool,
    /// Take half a second instead of three per figure, and only the two middle sizes
    #[arg(long)]
    quick: bool,
    /// Also step as `ripplon run` does, from the first step on, in the batches that it chooses and with its observables
    #[arg(long, conflicts_with_all = ["blocks_plot", "reflection", "check_auto", "scaling"])]
    run: bool,
    /// Also step while N pictures per second are drawn, as for a window
    #[arg(long, value_name = "N", value_parser = whole(1_u32, Some(240)))]
    frames: Option<u32>,
    /// Instead of the table: pictures per second of a three-dimensional field of N³ sites, on this machine's graphics adapter
    #[cfg(feature = "gui")]
    #[arg(long, value_name = "N", value_parser = whole(8_u32, Some(1024)))]
    volume: Option<u32>,
    /// Instead of the table: the cost of the window's frames at 1920 x 1080 with plots, drawn into a texture: time of
    /// the main thread, time of drawing, growth of memory
    #[cfg(feature = "gui")]
    #[arg(long)]
    window: bool,
    /// Also draw throughput against system size, one line per variant
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
    /// Also write the results to this file as a JSON array
    #[arg(long, value_name = "F")]
    json: Option<PathBuf>,
}

impl BenchArgs {
    /// Whether the processes of a launcher work together on this.
    pub(super) fn is_shared(&self) -> bool {
        self.scaling
    }
}

pub(super) fn run(args: &BenchArgs) -> anyhow::Result<()> {
    super::allow_software(args.backend.as_deref());
    if let Some(path) = &args.blocks_plot {
        return blocks::run(args, path);
    }
    if args.scaling {
        return scaling::run(args);
    }
    if args.reflection {
        return reflection::run();
    }
    #[cfg(feature = "gui")]
    if let Some(sites) = args.volume {
        return super::bench_volume::run(sites as usize);
    }
    #[cfg(feature = "gui")]
    if args.window {
        return super::bench_window::run(args.quick);
    }
    if args.check_auto {
        return scenes::check_auto(args);
    }
    if let Some(names) = &args.scenes {
        return scenes::run(args, names);
    }
    let cases = chosen(args)?;
    // A file that cannot be written is found out now.
    let outputs = named::given([("--json", &args.json), ("--plot", &args.plot)]);
    named::check(&outputs, &[])?;
    let seconds = if args.quick { 0.5 } else { 3.0 };
    let machines = Machines::measure(&cases, args.quick)?;
    machines.print();
    let mut entries: Vec<Entry> = Vec::new();
    say!("{}", headings());
    for size in &sizes(args) {
        // A variant asked for by name says itself why it does not work there.
        let named = args.variant.is_some();
        let works = |case: &&Case| case.method.ranks.contains(&size.0.len()) && (named || bench::fits(case, &size.0));
        for case in cases.iter().filter(works) {
            match measured(case, size, seconds, &machines, args, &entries) {
                // Nobody reads any more, and nothing is written.
                Ok(Some((_, false))) if outputs.is_empty() => return Ok(()),
                Ok(Some((entry, _))) => entries.push(entry),
                Ok(None) => {}
                Err(error) => tell!("{} {} {size}: {error}", case.method.id, case.variant),
            }
        }
    }
    if let Some(path) = &args.json {
        let mut file = export::begin(path)?;
        serde_json::to_writer_pretty(&mut file, &entries)?;
        writeln!(file)?;
        export::complete(file)?;
    }
    if entries.is_empty() {
        anyhow::bail!(
            "nothing could be measured: no selected variant supports grids of these sizes, or they need more memory than there is; choose other sizes"
        );
    }
    if let Some(path) = &args.plot {
        let about = About {
            title: "Throughput against system size".to_owned(),
            comment: machines.names(),
            scene: None,
        };
        export::png::save(path, &chart(&entries, &machines).draw(1360, 760), &about)?;
    }
    Ok(())
}

/// Measures and prints a case; returns its entry, and whether anybody still reads. `None` if another variant, which
/// `known` already has, ran in its place.
fn measured(
    case: &Case,
    size: &Size,
    seconds: f64,
    machines: &Machines,
    args: &BenchArgs,
    known: &[Entry],
) -> Result<Option<(Entry, bool)>, crate::engine::EngineError> {
    let extra = settings(case, args);
    let (mut entry, details) = bench::measure(case, &size.0, &extra, seconds, machines.bounds(case), args.uniform)?;
    let same = |other: &Entry| {
        (other.method, other.variant, other.backend, other.precision, other.order)
            == (entry.method, entry.variant, entry.backend, entry.precision, entry.order)
            && other.size == entry.size
    };
    if entry.variant != case.variant && known.iter().any(same) {
        return Ok(None);
    }
    let read = say!("{}", line(&entry, size, &details));
    if args.run {
        let about = (2.0 * seconds, entry.site_steps_per_s);
        let rate = bench::measure_run(case, &size.0, &extra, about, args.uniform)?;
        say!(
            "    as `ripplon run` steps: {} site-steps/s, {:.1}% of the rate above",
            si(rate).trim_end(),
            100.0 * rate / entry.site_steps_per_s
        );
        entry.run_site_steps_per_s = Some(rate);
    }
    if let Some(frames) = args.frames {
        let shown = bench::measure_shown(case, &size.0, 2.0 * seconds, f64::from(frames))?;
        say!(
            "    shown {:.1} times a second at up to {} × {}: {} site-steps/s, {:.1}% of the rate above",
            shown.pictures_per_s,
            bench::SHOWN[0],
            bench::SHOWN[1],
            si(shown.site_steps_per_s).trim_end(),
            100.0 * shown.site_steps_per_s / entry.site_steps_per_s
        );
        entry.shown = Some(shown);
    }
    Ok(Some((entry, read)))
}

/// Throughput against the number of sites, one line per method, variant, back end and precision.
#[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
fn chart(entries: &[Entry], machines: &Machines) -> Chart {
    let sites = |entry: &Entry| entry.size.iter().product::<usize>() as f64;
    let label = |entry: &Entry| {
        let Entry {
            method,
            variant,
            backend,
            precision,
            order,
            ..
        } = entry;
        let label = format!("{method}, {variant}, {backend}, {precision}");
        // Each order of a method has a line of its own.
        let others = |other: &Entry| other.method == *method && other.order != *order;
        if entries.iter().any(others) {
            format!("{label}, order {order}")
        } else {
            label
        }
    };
    let mut series: Vec<Series> = Vec::new();
    let mut marks: Vec<(f64, String)> = Vec::new();
    for entry in entries {
        let label = label(entry);
        let place = series.iter().position(|known| known.label == label).unwrap_or_else(|| {
            series.push(Series {
                label,
                points: Vec::new(),
                broken: entry.backend == Backend::Cpu.as_str(),
            });
            series.len() - 1
        });
        series[place].points.push((sites(entry), entry.site_steps_per_s));
        if !marks.iter().any(|(place, _)| *place == sites(entry)) {
            marks.push((sites(entry), side_label(&entry.size)));
        }
    }
    for line in &mut series {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    // The legend has the lines as they lie at their right ends.
    series.sort_by(|a, b| {
        let last = |series: &Series| series.points.last().map_or(0.0, |point| point.1);
        last(b).total_cmp(&last(a))
    });
    Chart {
        title: "Throughput against system size".to_owned(),
        subtitle: machines.names(),
        marks,
        along: "sites".to_owned(),
        up: "site-steps per second".to_owned(),
        series,
    }
}

/// `4096²`, or the product of different sides.
fn side_label(size: &[usize]) -> String {
    let equal = size.windows(2).all(|pair| pair[0] == pair[1]);
    match (size, equal) {
        ([side], _) => side.to_string(),
        ([side, _], true) => format!("{side}²"),
        ([side, ..], true) => format!("{side}³"),
        _ => size.iter().map(ToString::to_string).collect::<Vec<_>>().join("×"),
    }
}

/// The limits of the machine that the cases run on, measured in the same run.
struct Machines {
    processor: Option<Ceilings>,
    #[cfg(feature = "cuda")]
    device: Option<crate::backend::cuda::DeviceCeilings>,
}

impl Machines {
    #[cfg_attr(
        not(feature = "cuda"),
        expect(clippy::unnecessary_wraps, reason = "a device may fail where there is one")
    )]
    fn measure(cases: &[Case], quick: bool) -> anyhow::Result<Self> {
        let on = |backend: Backend| cases.iter().any(|case| case.backend == backend);
        let free = solver::free_memory().unwrap_or(4 << 30);
        let array = usize::try_from((free / 4).min(1 << 30)).unwrap_or(1 << 30);
        Ok(Self {
            processor: on(Backend::Cpu).then(|| Ceilings::measure(if quick { 1.5 } else { 4.0 }, array)),
            #[cfg(feature = "cuda")]
            device: if on(Backend::Cuda) {
                let device = crate::backend::cuda::device().map_err(anyhow::Error::msg)?;
                Some(crate::backend::cuda::DeviceCeilings::measure(device, 1.0)?)
            } else {
                None
            },
        })
    }

    /// What bounds a case; no bound if its machine was not measured.
    fn bounds(&self, case: &Case) -> Bounds {
        let found = match case.backend {
            Backend::Cpu => self.processor.as_ref().map(|all| Bounds::of(all, case.precision)),
            #[cfg(feature = "cuda")]
            Backend::Cuda => self.device.as_ref().map(|all| Bounds {
                copy: all.copy,
                fma: match case.precision {
                    crate::field::Precision::Single => all.fma_single,
                    crate::field::Precision::Double => all.fma_double,
                },
            }),
            #[cfg(not(feature = "cuda"))]
            Backend::Cuda => None,
            // Nothing measures the ceilings of an adapter.
            Backend::Wgpu => None,
        };
        found.unwrap_or(Bounds {
            copy: f64::INFINITY,
            fma: f64::INFINITY,
        })
    }

    /// The machine of the measurement.
    fn names(&self) -> String {
        let mut names = Vec::new();
        #[cfg(feature = "cuda")]
        names.extend(self.device.as_ref().map(|device| format!("cuda: {}", device.name)));
        names.extend((self.processor.as_ref()).map(|all| {
            format!(
                "cpu: {}, {} threads",
                crate::backend::machine::processor_name(),
                all.threads
            )
        }));
        names.join("; ")
    }

    fn print(&self) {
        if let Some(ceilings) = &self.processor {
            print_ceilings(ceilings);
        }
        #[cfg(feature = "cuda")]
        if let Some(device) = &self.device {
            say!(
                "{}: memory {}B/s copied (read and written); multiply-adds {}/s single, {}/s double",
                device.name,
                si(device.copy),
                si(device.fma_single),
                si(device.fma_double)
            );
        }
        say!(
            "of copy: relative to one pass through memory per step (fused steps exceed 100%); \
             of FMA: relative to the fewest instructions of the scheme at the multiply-add rate\n"
        );
    }
}

fn print_ceilings(ceilings: &Ceilings) {
    say!(
        "this machine, {} threads: memory {}B/s in place, {}B/s triad (arrays of {}); multiply-adds {}/s single, {}/s double ({})",
        ceilings.threads,
        si(ceilings.in_place),
        si(ceilings.triad),
        crate::units::bytes(u64::try_from(ceilings.array / 3).unwrap_or(0)),
        si(ceilings.fma_single),
        si(ceilings.fma_double),
        ceilings.instructions
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
        order_word(entry.order),
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
        assert_eq!(parse_setting("tower = 64"), Ok(("tower".to_owned(), 64)));
        for text in ["tower", "tower=", "tower=x", ""] {
            assert!(parse_setting(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_chart_has_a_line_for_each_variant_and_a_mark_for_each_size() {
        let entry = |variant, backend, side: usize, rate| Entry {
            method: "trotter",
            variant,
            backend,
            precision: "single",
            order: 2,
            size: vec![side, side],
            threads: 1,
            site_steps_per_s: rate,
            share_of_copy: 1.0,
            share_of_fma: 1.0,
            min: rate,
            max: rate,
            run_site_steps_per_s: None,
            shown: None,
        };
        let entries = [
            entry("naive", "cpu", 1024, 2e8),
            entry("fused", "cuda", 1024, 1e11),
            entry("naive", "cpu", 512, 1e8),
        ];
        let machines = Machines {
            processor: None,
            #[cfg(feature = "cuda")]
            device: None,
        };
        let chart = chart(&entries, &machines);
        let labels: Vec<&str> = chart.series.iter().map(|series| series.label.as_str()).collect();
        assert_eq!(labels, ["trotter, fused, cuda, single", "trotter, naive, cpu, single"]);
        assert_eq!(chart.series[1].points, [(262_144.0, 1e8), (1_048_576.0, 2e8)]);
        assert!(chart.series[1].broken && !chart.series[0].broken);
        assert_eq!(chart.marks.len(), 2);
        assert!(chart.marks.contains(&(1_048_576.0, "1024²".to_owned())));
        assert_eq!(side_label(&[512, 512, 512]), "512³");
        assert_eq!(side_label(&[512, 256]), "512×256");
    }

    #[test]
    fn orders_of_one_method_are_lines_of_their_own() {
        let entry = |order, side: usize| Entry {
            method: "fdtd",
            variant: "bands",
            backend: "cpu",
            precision: "single",
            order,
            size: vec![side, side],
            threads: 1,
            site_steps_per_s: 1e8,
            share_of_copy: 1.0,
            share_of_fma: 1.0,
            min: 1e8,
            max: 1e8,
            run_site_steps_per_s: None,
            shown: None,
        };
        let machines = Machines {
            processor: None,
            #[cfg(feature = "cuda")]
            device: None,
        };
        let entries = [entry(2, 64), entry(4, 64), entry(2, 128), entry(4, 128)];
        let chart = chart(&entries, &machines);
        let points: Vec<usize> = chart.series.iter().map(|series| series.points.len()).collect();
        assert_eq!(points, [2, 2]);
        assert!(chart.series.iter().any(|series| series.label.ends_with("order 4")));
    }

    #[test]
    fn unknown_words_are_answered_with_what_there_is() {
        let mut cases = bench::cases(2, |_| true);
        let wanted = "trotte".to_owned();
        let error = keep(&mut cases, "--method", Some(&wanted), |case| case.method.id).unwrap_err();
        assert!(error.0.contains("trotter"), "{error}");
        let all = cases.len();
        keep(&mut cases, "--precision", Some(&"double".to_owned()), |case| {
            case.precision.as_str()
        })
        .unwrap();
        assert!(!cases.is_empty() && cases.len() < all);
    }
}
