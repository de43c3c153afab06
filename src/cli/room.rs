//! `ripplon room`: reverberation, clarity and the impulse response of a place (ISO 3382-1), and how a dry sound would be heard there.

use super::named;
use super::terminal::{all_told, say, tell};
use super::{InputError, Interrupt, SceneArgs, scene};
use crate::engine::EngineError;
use crate::engine::room::{self, RoomError, RoomReport};
use crate::export::csv::CsvWriter;
use crate::export::plot::{Curve, Plot, Shown};
use crate::export::{self, About, heard};
use crate::physics::room::{BandDecay, Decay, Line, Octave, TooShort};
use crate::scene::Scenario;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Points of a drawn or written curve.
const POINTS: usize = 2000;

/// The largest number of lines that can be distinguished in a plot.
const MOST_LINES: usize = 7;

/// Where to listen, and what to write.
#[derive(Args, Debug)]
pub struct RoomArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// The detector to use, which must record the pressure (default: the one that [room] names, or the only one)
    #[arg(long, value_name = "DETECTOR")]
    at: Option<String>,
    /// Write the decay curves as CSV: time from the arrival in s, a column of levels in dB for each band
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
    /// Draw the decay curves, with the lines of T30 dashed
    #[arg(long, value_name = "F.png")]
    plot: Option<PathBuf>,
    /// Print the table as JSON
    #[arg(long)]
    json: bool,
    /// A dry sound (WAV, first channel) to be played in the room, with --wav (default: the one that [room] names)
    #[arg(long, value_name = "IN.wav", requires = "wav")]
    dry: Option<PathBuf>,
    /// Write the dry sound as it is heard at the detector, or the impulse response if there is no dry sound
    #[arg(long, value_name = "OUT.wav")]
    wav: Option<PathBuf>,
}

pub(super) fn run(args: &RoomArgs) -> anyhow::Result<()> {
    let scenario = scene::load(&args.scene)?;
    let outputs = named::given([("--csv", &args.csv), ("--plot", &args.plot), ("--wav", &args.wav)]);
    let mut inputs = named::inputs(&args.scene, &scenario);
    inputs.extend(args.dry.clone());
    inputs.extend(scenario.room().and_then(|room| room.dry.clone()));
    named::check(&outputs, &inputs)?;
    room::listener(&scenario, args.at.as_deref()).map_err(told)?;
    let own = scenario.room().and_then(|room| room.dry.as_deref());
    let dry = args.dry.as_deref().or(own).filter(|_| args.wav.is_some());
    let dry = dry.map(read_dry).transpose()?;
    let report = listen(args, &scenario)?;
    if args.json {
        say!("{}", serde_json::to_string_pretty(&as_json(&report))?);
    } else {
        print(&scenario, &report);
    }
    let mut failed = Vec::new();
    if let Some(path) = &args.csv {
        failed.extend(write_curves(path, &report).err());
    }
    if let Some(path) = &args.plot {
        failed.extend(draw(path, &scenario, &report).err());
    }
    if let Some(path) = &args.wav {
        match heard::save(path, &report.response, dry) {
            Ok(said) => tell!("{}: {said}", path.display()),
            Err(error) => failed.push(error.into()),
        }
    }
    all_told(failed)
}

/// Errors in the input exit with 2.
fn told(error: RoomError) -> anyhow::Error {
    match error {
        RoomError::Run(EngineError::Cancelled(_)) => anyhow::anyhow!("interrupted; nothing was written"),
        error if error.is_input() => InputError(error.to_string()).into(),
        error => error.into(),
    }
}

fn listen(args: &RoomArgs, scenario: &std::sync::Arc<Scenario>) -> anyhow::Result<RoomReport> {
    let interrupt = Interrupt::listen()?;
    let bar = super::run::progress_bar(0);
    let found = room::measure(scenario, args.at.as_deref(), &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        interrupt.flow()
    });
    bar.finish_and_clear();
    found.map_err(told)
}

fn read_dry(path: &Path) -> anyhow::Result<(f64, Vec<f64>)> {
    heard::read_dry(path).map_err(|message| InputError(format!("--dry: {message}")).into())
}

/// A time in a cell of the table.
fn cell(line: &Result<Line, TooShort>) -> String {
    line.as_ref().map_or("-".to_owned(), |line| format!("{:.3}", line.time))
}

/// A number in a cell of the table.
fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

/// The decay that a record holds, dB; `None` where it is too short to tell.
fn range(decay: &Decay) -> Option<f64> {
    decay.echoes().is_none().then_some(decay.range)
}

fn name(band: &BandDecay) -> String {
    band.octave.map_or("all".to_owned(), Octave::name)
}

/// A band as text names it.
fn in_words(band: &BandDecay) -> String {
    band.octave
        .map_or("all".to_owned(), |octave| format!("{} Hz", octave.name()))
}

fn print(scenario: &Scenario, report: &RoomReport) {
    let title = scenario.title_or("Scene");
    let response = &report.response;
    let [low, high] = response.band;
    let source = if response.deconvolved {
        "divided by the source's signal"
    } else {
        "the unchanged record"
    };
    say!(
        "{title}: heard at {:?}, {source}, {low:.1} to {high:.1} Hz",
        report.detector
    );
    say!("  octave Hz    EDT s    T20 s    T30 s   C50 dB   C80 dB    D50 %    Ts ms  decay dB");
    for band in &report.bands {
        let Some(decay) = &band.decay else {
            say!("{:>11}  silent", name(band));
            continue;
        };
        let [c50, c80, d50, centre] = match decay.balance {
            Ok(own) => [
                number(own.c50, 2),
                number(own.c80, 2),
                number(own.d50.map(|share| 100.0 * share), 1),
                number(Some(1e3 * own.centre), 1),
            ],
            Err(_) => ["-"; 4].map(str::to_owned),
        };
        say!(
            "{:>11} {:>8} {:>8} {:>8} {c50:>8} {c80:>8} {d50:>8} {centre:>8}  {:>8}",
            name(band),
            cell(&decay.edt),
            cell(&decay.t20),
            cell(&decay.t30),
            number(range(decay), 1)
        );
    }
    for note in notes(report) {
        say!("  {note}");
    }
}

/// Notes on the numbers of the table.
fn notes(report: &RoomReport) -> Vec<String> {
    let mut all = Vec::new();
    for band in &report.bands {
        let Some(decay) = &band.decay else { continue };
        let name = in_words(band);
        if let Some(short) = decay.echoes() {
            all.push(format!("{name}: a decay {short}"));
            continue;
        }
        let lines = [&decay.edt, &decay.t20, &decay.t30].map(|line| line.as_ref().err());
        let balance = decay.balance.as_ref().err();
        let words = ["the balance from C50 to Ts", "EDT", "T20", "T30"];
        for (word, short) in words.iter().zip(std::iter::once(balance).chain(lines)) {
            if let Some(short) = short {
                all.push(format!("{name}: {word} {short}"));
            }
        }
        if let Some(words) = decay.too_short_for_clarity() {
            all.push(format!("{name}: {words}"));
        }
        if let Some(curvature) = decay.curvature().filter(|percent| percent.abs() > 10.0) {
            all.push(format!(
                "{name}: T30 differs from T20 by {curvature:+.0} %: the decay is curved, as in coupled rooms"
            ));
        }
        if decay.cut {
            all.push(format!(
                "{name}: cut {:.3} s after the arrival, where the decay meets the noise floor",
                curve_end(decay)
            ));
        }
        let time = [&decay.t30, &decay.t20, &decay.edt]
            .into_iter()
            .find_map(|line| line.ok());
        if time.is_some_and(|line| band.rings(line.time)) {
            all.push(format!(
                "{name}: the octave filter rings as long as the room (bandwidth × time < 16), which lengthens the time"
            ));
        }
    }
    all
}

#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn curve_end(decay: &Decay) -> f64 {
    decay.levels.len() as f64 * decay.step
}

fn as_json(report: &RoomReport) -> Value {
    let line = |line: &Result<Line, TooShort>| line.as_ref().map_or(Value::Null, |line| json!(line.time));
    let bands: Vec<Value> = report
        .bands
        .iter()
        .map(|band| {
            let middle = band.octave.map(Octave::middle);
            let Some(decay) = &band.decay else {
                return json!({ "octave": middle });
            };
            let balance = decay.balance.as_ref().ok();
            let [c50, c80, d50, centre] = [
                balance.and_then(|own| own.c50),
                balance.and_then(|own| own.c80),
                balance.and_then(|own| own.d50),
                balance.map(|own| own.centre),
            ];
            json!({
                "octave": middle, "edt": line(&decay.edt), "t20": line(&decay.t20), "t30": line(&decay.t30), "c50": c50, "c80": c80,
                "d50": d50, "centre": centre, "onset": decay.onset, "range": range(decay), "cut": decay.cut,
            })
        })
        .collect();
    json!({
        "detector": report.detector, "band": report.response.band, "deconvolved": report.response.deconvolved,
        "bands": bands, "notes": notes(report),
    })
}

/// (time, level) of a decay, thinned for drawing.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn curve(decay: &Decay) -> Vec<[f64; 2]> {
    let every = decay.levels.len().div_ceil(POINTS).max(1);
    let all = decay.levels.iter().enumerate().step_by(every);
    all.map(|(n, level)| [n as f64 * decay.step, *level]).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn write_curves(path: &Path, report: &RoomReport) -> anyhow::Result<()> {
    let heard: Vec<(&BandDecay, &Decay)> = report
        .bands
        .iter()
        .filter_map(|band| Some((band, band.decay.as_ref()?)))
        .collect();
    let mut columns = vec!["t".to_owned()];
    columns.extend(heard.iter().map(|(band, _)| name(band)));
    let longest = heard.iter().map(|(_, decay)| decay.levels.len()).max().unwrap_or(0);
    let every = longest.div_ceil(POINTS).max(1);
    let mut csv = CsvWriter::create(path, &columns)?;
    for n in (0..longest).step_by(every) {
        let mut row = vec![n as f64 * report.response.step];
        row.extend(
            heard
                .iter()
                .map(|(_, decay)| decay.levels.get(n).copied().unwrap_or(f64::NAN)),
        );
        csv.row(&row)?;
    }
    Ok(csv.finish()?)
}

fn draw(path: &Path, scenario: &Scenario, report: &RoomReport) -> anyhow::Result<()> {
    let mut curves: Vec<Curve> = Vec::new();
    let [drawn, left_out] = drawn(report);
    for (color, (band, decay)) in drawn.into_iter().enumerate() {
        let points: Vec<[f64; 2]> = curve(decay).into_iter().filter(|point| point[1] > -80.0).collect();
        curves.push(Curve {
            label: in_words(band),
            points,
            shown: Shown::Line,
            color,
        });
        if let Ok(line) = &decay.t30 {
            let at = |level: f64| [(line.start - level) * line.time / 60.0, level];
            curves.push(Curve {
                label: if curves.iter().any(|curve| curve.label == "T30") {
                    String::new()
                } else {
                    "T30".to_owned()
                },
                points: vec![at(line.start.min(-5.0)), at(-60.0)],
                shown: Shown::Dashed,
                color,
            });
        }
    }
    let title = scene::titled(scenario, &report.detector);
    let plot = Plot {
        title: title.clone(),
        along: "t (s)".to_owned(),
        up: "level (dB)".to_owned(),
        curves,
        ..Plot::default()
    };
    let about = About {
        title,
        ..About::of(scenario)
    };
    export::png::save(path, &plot.draw(1360, 760), &about)?;
    let names: Vec<String> = left_out.iter().map(|(band, _)| name(band)).collect();
    if names.is_empty() {
        tell!("plot written to {}", path.display());
    } else {
        let names = names.join(", ");
        tell!(
            "plot written to {}, without what falls least: {names} Hz",
            path.display()
        );
    }
    Ok(())
}

/// The bands whose decays are drawn, in order: the whole response and those that fall furthest; and the bands that are left out.
fn drawn(report: &RoomReport) -> [Vec<(&BandDecay, &Decay)>; 2] {
    let heard = (report.bands.iter()).filter_map(|band| Some((band, band.decay.as_ref()?)));
    let mut falling: Vec<(usize, (&BandDecay, &Decay))> = heard.enumerate().collect();
    let depth = |(band, decay): &(&BandDecay, &Decay)| {
        if band.octave.is_none() {
            f64::INFINITY
        } else {
            decay.range
        }
    };
    falling.sort_by(|a, b| depth(&b.1).total_cmp(&depth(&a.1)));
    let mut rest = falling.split_off(falling.len().min(MOST_LINES));
    [&mut falling, &mut rest].map(|part| {
        part.sort_by_key(|(place, _)| *place);
        part.iter().map(|(_, own)| *own).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_name_octaves_with_their_unit() {
        let band = |octave: Option<Octave>| BandDecay { octave, decay: None };
        assert_eq!(in_words(&band(Some(Octave { number: 0 }))), "1000 Hz");
        assert_eq!(in_words(&band(None)), "all");
    }
}
