//! `ripplon check`: is a scene sound, and what will it need?

use super::run::short;
use super::terminal::say;
use super::{SceneArgs, scene};
use crate::engine::Engine;
use crate::physics::room::{normal_absorption, random_absorption, reflection};
use crate::physics::{Initial, Sets, Value, absorber};
use crate::scene::Scenario;
use crate::solver::acoustic::guides::Surroundings;
use crate::solver::fdtd::reflection::reflected;
use crate::units;
use clap::Args;
use std::time::Duration;

/// What to check.
#[derive(Args, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Also step it for half a second and say how fast it runs
    #[arg(long)]
    probe: bool,
}

/// What absorbing edges send back of the packets of a scene, and of which waves little.
pub(super) fn edges_send_back(scenario: &Scenario) -> Option<String> {
    let (grid, Initial::Packets(packets)) = (scenario.grid(), scenario.initial()) else {
        return None;
    };
    let share = absorber::returned(grid, packets)?;
    #[expect(clippy::cast_precision_loss, reason = "widths are far below 2^52")]
    let longest = absorber::LONGEST_WAVE * grid.absorb_width() as f64 * grid.spacing();
    Some(format!(
        "absorbing edges send back {share:.0e} of the packets, less than 1e-4 of waves shorter than {}",
        short(longest)
    ))
}

/// What layers of a guide with obstacles send back, which must be safe before all else.
fn guide_sends_back(scenario: &Scenario) -> anyhow::Result<Option<String>> {
    let obstructed = Surroundings::GuideWithObstacles;
    if scenario.solver().method != "fdtd" || Surroundings::of(scenario) != obstructed {
        return Ok(None);
    }
    let width = scenario.grid().absorb_width();
    // A wider layer sends back less; what is said of the widest is said of it too.
    let modelled = width.min(64);
    let mut most = 0.0f64;
    for wavelength in [8.0, 20.0, 40.0, 80.0] {
        for degrees in [0.0f64, 30.0, 60.0] {
            let reflected = reflected(1, modelled, obstructed, 0.9, wavelength, degrees.to_radians())?;
            most = most.max(reflected);
        }
    }
    let more = if width < 20 {
        "; 20 sites or more send back less"
    } else {
        ""
    };
    Ok(Some(format!(
        "obstacles in a guide bind waves: its absorbing layers of {width} sites are made so that these cannot grow, and send back up to {:.1} % of waves of 8 to 80 sites at 0 to 60° to the normal{more}",
        100.0 * most
    )))
}

/// What walls with an impedance take, a line for each value.
fn walls_take(scenario: &Scenario) -> Vec<String> {
    let layers = scenario.medium().layers().iter();
    let mut values: Vec<f64> = layers
        .filter(|layer| layer.sets == Sets::Impedance)
        .filter_map(|layer| match layer.value {
            Value::Number(number) => Some(number),
            Value::Expression(_) => None,
        })
        .collect();
    values.dedup();
    let line = |xi: &f64| {
        format!(
            "Z/ρc = {}: send back {:.4} of the pressure at normal incidence, absorb {:.4} of the energy there and {:.4} of a diffuse sound",
            short(*xi),
            reflection(*xi),
            normal_absorption(*xi),
            random_absorption(*xi)
        )
    };
    values.iter().map(line).collect()
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let scenario = scene::load(&args.scene)?;
    let probe = args.probe.then_some(Duration::from_millis(500));
    let estimate = Engine::estimate(&scenario, probe)?;
    let title = if scenario.title().is_empty() {
        &args.scene.scene
    } else {
        scenario.title()
    };
    let grid = scenario.grid();
    say!("{title}: ok");
    say!(
        "  grid      {grid} = {} sites, spacing {}",
        grid.sites(),
        short(grid.spacing())
    );
    let edges: Vec<&str> = grid.edges()[..grid.rank()].iter().map(|edge| edge.as_str()).collect();
    say!("  edges     {}", edges.join(", "));
    for said in edges_send_back(&scenario)
        .into_iter()
        .chain(guide_sends_back(&scenario)?)
    {
        say!("            {said}");
    }
    for line in walls_take(&scenario) {
        say!("  walls     {line}");
    }
    say!(
        "  equation  {}, {} layers, {} detectors, {} expectations",
        scenario.model().equation().as_str(),
        scenario.medium().layers().len(),
        scenario.detectors().len(),
        scenario.expectations().len()
    );
    let choice = scenario.solver();
    say!(
        "  solver    {}, variant {}, {} precision",
        choice.method,
        choice.variant,
        choice.precision.as_str()
    );
    let free = crate::solver::free_memory();
    let share = free.map_or(String::new(), |free| format!(" of {} free", units::bytes(free)));
    say!("  memory    {}{share}", units::bytes(estimate.memory));
    if estimate.records > 0 {
        say!(
            "  records   {} until the end, with --checkpoint, --spectra or --wav; --detectors alone goes to the disk as it comes",
            units::bytes(estimate.records)
        );
    }
    let advice = &estimate.advice;
    let limit = advice
        .stability_limit
        .map_or("stable for every Δt".to_owned(), |limit| {
            format!("stable up to {}", short(limit))
        });
    say!(
        "  Δt        {} (sensible up to {}, {limit}: {})",
        short(estimate.time_step),
        short(advice.sensible),
        advice.because
    );
    if estimate.time_step > advice.sensible {
        say!("            larger than sensible: the result will not be accurate; reduce time.step or write \"auto\"");
    }
    if let (Some(end), Some(steps)) = (scenario.time().end, estimate.steps) {
        say!("  end       t = {}, {steps} steps", short(end));
    }
    if let Some((count, steps)) = estimate.responses {
        say!(
            "  mirror    {count} impulse responses of {steps} steps each when time turns (drive = \"hard\" needs none)"
        );
    }
    if let Some((rate, report)) = &estimate.measured {
        let seconds = estimate
            .seconds(grid.sites())
            .map_or(String::new(), |seconds| format!(", about {seconds:.1} s to the end"));
        say!(
            "  rate      {}sites/s with {}, {} threads{seconds}",
            units::si(*rate),
            report.variant,
            report.threads
        );
    }
    Ok(())
}
