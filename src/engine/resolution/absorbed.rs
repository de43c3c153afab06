//! Layers of absorption that are stronger than steps of pairs resolve.

use crate::scene::Scenario;
use crate::solver::oscillators;
use crate::units::four_digits as figure;

/// A scene of `oscillators` whose layers damp more in a step of `time_step` than it resolves. In the steps of `fdtd` slow waves meet γ itself.
pub(super) fn told(scenario: &Scenario, time_step: f64) -> Option<String> {
    if scenario.solver().method != oscillators::METHOD.id {
        return None;
    }
    let step = time_step.abs();
    let [own, bound] = oscillators::absorption_and_bound(scenario);
    // A mirror may add layers on the way back.
    let back = scenario.mirror().map(|_| scenario.returning());
    let rate = back.map_or(own, |back| own.max(oscillators::absorption_and_bound(&back)[0]));
    (rate * step > bound).then(|| {
        format!(
            "Absorption of up to {}/s is stronger than steps of Δt = {} resolve: slow waves meet tanh(γΔt)/Δt = {}/s in place of it, so that a layer takes more of them than it should. \
             Use a Δt below {} (time.step), weaker absorption, or solver.method = \"fdtd\".",
            figure(rate),
            figure(step),
            figure((rate * step).tanh() / step),
            figure(bound / rate)
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::engine::resolution::not_covered;
    use crate::solver;

    /// γΔt = 0.5 of Δt = 1e-5 s is γ = 5e4/s.
    #[test]
    fn absorption_is_held_against_the_steps() {
        let told = |method: &str, value: f64| {
            let text = format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 0.05\n[acoustic]\n[solver]\nmethod = \"{method}\"\n[[pulse]]\ncenter = [1.6]\nwidth = 0.2\n\
                 [[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [2.5]\nmax = [3.0]\nvalue = {value:?}\n"
            );
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            not_covered(&scenario, -1e-5, None).join("\n")
        };
        assert_eq!(told("oscillators", 4.9e4), "");
        assert_eq!(told("fdtd", 1e6), "");
        let strong = told("oscillators", 1e6);
        assert!(
            strong.contains("steps of Δt = 1e-5 resolve: slow waves meet tanh(γΔt)/Δt = 100000/s"),
            "{strong}"
        );
        assert!(strong.contains("a Δt below 5e-7"), "{strong}");
    }

    /// A layer that only the way back has is held against them as well.
    #[test]
    fn absorption_on_the_way_back_is_held_against_the_steps() {
        let told = |value: f64| {
            let text = format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 0.05\n[acoustic]\n[time]\nstep = 1e-5\n[solver]\nmethod = \"oscillators\"\n[[pulse]]\ncenter = [1.6]\nwidth = 0.2\n\
                 [mirror]\nmethod = \"echo\"\nat = 1e-3\n[[mirror.perturbation]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [2.5]\nmax = [3.0]\nvalue = {value:?}\n"
            );
            let (_, scenario) = solver::read_scene_text(&text, None, &[]).unwrap();
            not_covered(&scenario, 1e-5, None).join("\n")
        };
        assert_eq!(told(4.9e4), "");
        assert!(told(1e6).contains("a Δt below 5e-7"), "{}", told(1e6));
    }
}
