//! `ripplon check`: is a scene free of errors, and what will it need?

use super::figures::short;
use super::terminal::say;
use super::{SceneArgs, scene};
use crate::engine::resolution::{idle_layers, impedances_at_work, sent_back, strongest_loss, too_coarse};
use crate::engine::{Engine, Estimate};
use crate::physics::attenuation::plane_wave;
use crate::physics::room::{diffuse_absorption, impedance_at, normal_absorption, reflection};
use crate::physics::{Layer, Model, Value, absorber, drives};
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
    /// Also run it for half a second and print the speed
    #[arg(long)]
    probe: bool,
}

/// How much of a scene's packets the absorbing edges reflect, and for which waves that is little.
pub(super) fn edges_send_back(scenario: &Scenario) -> Option<String> {
    let grid = scenario.grid();
    let share = sent_back(scenario)?;
    #[expect(clippy::cast_precision_loss, reason = "widths are far below 2^52")]
    let longest = absorber::LONGEST_WAVE * grid.absorb_width() as f64 * grid.spacing();
    let advice = if share > absorber::MOST_RETURNED {
        "; use a larger grid.absorb_width"
    } else {
        ""
    };
    Some(format!(
        "absorbing edges reflect {} of the packets, and less than 1e-4 of waves shorter than {}{}{advice}",
        share_in_words(share),
        short(longest),
        scene::units_of(scenario)[0]
    ))
}

/// A share in percent, a small one as a number.
fn share_in_words(share: f64) -> String {
    // From here on two figures would be no more than the estimate knows.
    const WHOLE: f64 = 0.095;
    if share <= absorber::MOST_RETURNED {
        format!("{share:.0e}")
    } else if share < WHOLE {
        format!("{:.1} %", 100.0 * share)
    } else {
        format!("{:.0} %", 100.0 * share)
    }
}

/// What the layers of a guide with obstacles reflect; stability comes first there.
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
        "; 20 sites or more reflect less"
    } else {
        ""
    };
    Ok(Some(format!(
        "obstacles in a guide bind waves: its absorbing layers of {width} sites keep these from growing, and reflect up to {most:.0e} of the amplitude of waves of 8 to 80 sites at 0 to 60° to the normal{more}"
    )))
}

/// What walls with an impedance absorb, one line for each value.
fn walls_take(scenario: &Scenario) -> Vec<String> {
    let own = impedances_at_work(scenario);
    let layers = || own.iter().copied();
    let mut values: Vec<f64> = layers()
        .filter(|layer| layer.pole.is_none())
        .filter_map(|layer| match layer.value {
            Value::Number(number) => Some(number),
            Value::Expression(_) => None,
        })
        .collect();
    values.dedup();
    let rank = scenario.grid().rank();
    // On a line all sound comes at normal incidence.
    let of_sound = [
        "at normal incidence",
        "of a diffuse sound in the plane",
        "of a diffuse sound",
    ][rank - 1];
    let line = |xi: &f64| {
        let diffuse = if rank > 1 {
            format!(" and {:.4} {of_sound}", diffuse_absorption((*xi).into(), rank))
        } else {
            String::new()
        };
        format!(
            "Z/ρc = {}: reflect {:.4} of the pressure at normal incidence, absorb {:.4} of the energy there{diffuse}",
            short(*xi),
            reflection(*xi),
            normal_absorption(*xi),
        )
    };
    let with_pole = |layer: &Layer| {
        let (Some(pole), Value::Number(low)) = (layer.pole, &layer.value) else {
            return None;
        };
        let at = [0.25, 0.5, 1.0, 2.0, 4.0].map(|ratio| {
            let frequency = ratio * pole.corner;
            let absorbed = diffuse_absorption(impedance_at(*low, &pole, frequency), rank);
            format!("{absorbed:.4} at {}Hz", units::si(frequency))
        });
        Some(format!(
            "Z/ρc = {} far below {}Hz, {} far above: absorb {of_sound} {}",
            short(*low),
            units::si(pole.corner),
            short(pole.high),
            at.join(", ")
        ))
    };
    values.iter().map(line).chain(layers().filter_map(with_pole)).collect()
}

/// How well a medium follows its law of attenuation, where a wavelength loses most.
fn medium_attenuates(scenario: &Scenario) -> Option<String> {
    let Model::Acoustic(acoustic) = scenario.model() else {
        return None;
    };
    let law = acoustic.attenuation?;
    let [value, own_speed] = strongest_loss(scenario)?;
    let made = law.relaxations();
    let [low, high] = law.band;
    let speed = |f: f64| plane_wave(&made, own_speed, value, f)[1];
    Some(format!(
        "{}: {} dB/m at {}Hz, as f^{} from {}Hz to {}Hz within {:.1} %; waves run at {:.2} to {:.2} m/s there",
        units::counted(made.len() as u64, "relaxation"),
        short(value),
        units::si(law.at),
        short(law.exponent),
        units::si(low),
        units::si(high),
        100.0 * law.missed(&made, own_speed, value),
        speed(low),
        speed(high)
    ))
}

/// What the steps miss of drives that change faster.
fn drives_are_missed(scenario: &Scenario, step: f64) -> Option<String> {
    let parts = scenario.drives(1000.0 * step);
    let missed = parts.iter().map(|(times, drives)| drives::missed(drives, *times, step));
    let missed = missed.fold(0.0, f64::max);
    if missed < 0.05 {
        return None;
    }
    let enough = parts
        .iter()
        .fold(step, |step, (times, drives)| drives::followed(drives, *times, step));
    let remedy = if enough < step {
        format!(
            "; Δt = {}{} is short enough",
            short(enough),
            scene::units_of(scenario)[1]
        )
    } else {
        String::new()
    };
    Some(format!(
        "drives change within a step: their values in its middle are off by {:.0} % of their effect{remedy}",
        100.0 * missed
    ))
}

/// Δt, the advised values, and the end.
fn time_steps(scenario: &Scenario, estimate: &Estimate) {
    let advice = &estimate.advice;
    let [_, second] = scene::units_of(scenario);
    let limit = advice
        .stability_limit
        .map_or("stable for every Δt".to_owned(), |limit| {
            format!("stable up to {}{second}", short(limit))
        });
    say!(
        "  Δt        {}{second} (recommended up to {}{second}; {limit})",
        short(estimate.time_step),
        short(advice.sensible)
    );
    say!("            {}", advice.because);
    if estimate.time_step > advice.sensible {
        let words = if scenario.expectations().is_empty() {
            "larger than recommended: the result will not be accurate; reduce time.step or write \"auto\""
        } else {
            "larger than recommended in general: the scene's predictions show whether it is accurate here"
        };
        say!("            {words}");
    }
    if let Some(words) = drives_are_missed(scenario, estimate.time_step) {
        say!("            {words}");
    }
    if let (Some(end), Some(steps)) = (scenario.time().end, estimate.steps) {
        say!(
            "  end       t = {}{second}, {}",
            short(end),
            units::counted(steps, "step")
        );
        let late = scenario.expectations().iter();
        let late = late
            .filter(|expectation| expectation.at > end + 0.5 * estimate.time_step)
            .count();
        if late > 0 {
            let what = units::counted(late as u64, "expectation");
            say!("            {what} after it, which the run does not reach: set a later time.end");
        }
    }
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let scenario = scene::load(&args.scene)?;
    let probe = args.probe.then_some(Duration::from_millis(500));
    let estimate = Engine::estimate(&scenario, probe)?;
    let title = scenario.title_or(&args.scene.scene);
    let grid = scenario.grid();
    say!("{title}: ok");
    say!(
        "  grid      {}, spacing {}{}",
        if grid.rank() > 1 {
            format!("{grid} = {} sites", grid.sites())
        } else {
            format!("{grid} sites")
        },
        short(grid.spacing()),
        scene::units_of(&scenario)[0]
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
    if let Some(line) = medium_attenuates(&scenario) {
        say!("  medium    {line}");
    }
    let counted = |count: usize, what: &str| units::counted(count as u64, what);
    say!(
        "  equation  {}, {}, {}, {}",
        scenario.model().equation().as_str(),
        counted(scenario.medium().layers().len(), "layer"),
        counted(scenario.detectors().len(), "detector"),
        counted(scenario.expectations().len(), "expectation")
    );
    let layers = idle_layers(&scenario).into_iter().map(|line| ("layers", line));
    let waves = too_coarse(&scenario, estimate.time_step).into_iter();
    for (what, line) in layers.chain(waves.map(|line| ("waves", line))) {
        say!("  {what:<9} {line}");
    }
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
            "  records   {} until the end, with --checkpoint, --spectra or --wav; --detectors alone is written as it comes, to a hidden file that takes its name at the end",
            units::bytes(estimate.records)
        );
    }
    time_steps(&scenario, &estimate);
    if let Some((count, steps)) = estimate.responses {
        say!(
            "  mirror    {count} impulse responses of {steps} steps each at the reversal (drive = \"hard\" needs none)"
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Much is told in percent, with what to change; little as a number.
    #[test]
    fn what_edges_send_back_comes_with_advice() {
        let told = |width: usize, momentum: f64| {
            let text = format!(
                "format = 1\n[grid]\nsize = [400]\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = {width}\n[quantum]\n[[packet]]\ncenter = [200.0]\nwidth = 30.0\n\
                 momentum = {momentum:?}\n"
            );
            let (_, scenario) = crate::solver::read_scene_text(&text, None, &[]).unwrap();
            edges_send_back(&scenario).unwrap()
        };
        let slow = told(24, 0.04);
        assert!(slow.contains(" % of the packets"), "{slow}");
        assert!(slow.ends_with("; use a larger grid.absorb_width"), "{slow}");
        let fast = told(24, 0.6);
        assert!(
            fast.contains("e-") && !fast.contains('%') && !fast.contains("use a larger"),
            "{fast}"
        );
    }

    #[test]
    fn shares_are_told_as_people_say_them() {
        for (share, words) in [
            (0.5, "50 %"),
            (0.097, "10 %"),
            (0.031, "3.1 %"),
            (1.2e-3, "0.1 %"),
            (9e-6, "9e-6"),
        ] {
            assert_eq!(share_in_words(share), words);
        }
    }
}
