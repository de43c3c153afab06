//! Means over time that detectors record.

use ripplon::engine::Engine;
use ripplon::scene::Scenario;
use ripplon::solver::read_scene_text;
use std::sync::Arc;

fn scene(parts: usize) -> Arc<Scenario> {
    let at = "at = [4.0, 42.0]\n";
    let text = format!(
        "format = 1\n[grid]\nsize = [12, 90]\nspacing = 1.0\n[acoustic]\nspeed = 1.0\ndensity = 1.0\n[time]\nstep = 0.3\n\
         [[pulse]]\ncenter = [3.0, 43.0]\nwidth = 3.0\n\
         [[detector]]\nname = \"p\"\n{at}[[detector]]\nname = \"mean\"\n{at}as = \"mean\"\n\
         [[detector]]\nname = \"rms\"\n{at}as = \"rms\"\nevery = 3\n[[detector]]\nname = \"fading\"\n{at}as = \"mean\"\nover = 2.0\n\
         [solver]\nmethod = \"fdtd\"\nvariant = \"stepwise\"\nprecision = \"double\"\nbackend = \"cpu\"\nparts = {parts}\n"
    );
    Arc::new(read_scene_text(&text, None, &[]).unwrap().1)
}

/// ∫ f dt over the time of some records at even times, by the trapezoidal rule, over that time.
fn mean(records: &[f64]) -> f64 {
    let inner: f64 = records.iter().sum();
    let ends = f64::midpoint(records[0], records[records.len() - 1]);
    (inner - ends) / f64::from(u32::try_from(records.len() - 1).unwrap())
}

/// The pulse is at the detector from the start: what is recorded at t = 0 counts half a step, as the last record does.
#[test]
fn means_begin_at_the_start() {
    for parts in [1, 3] {
        let mut run = Engine::new(scene(parts)).unwrap();
        run.advance(30).unwrap();
        let series = |n: usize| run.taps().series(n).1.into_owned();
        let (p, means, rms) = (series(0), series(1), series(2));
        assert_eq!([p.len(), means.len(), rms.len()], [31, 31, 11]);
        assert!(p[0] > 0.5 && means[0] == p[0], "{p:?}");
        assert!((means[1] - f64::midpoint(p[0], p[1])).abs() < 1e-15);
        let squares: Vec<f64> = p.iter().step_by(3).map(|p| p * p).collect();
        // Thirty averages, each rounded a few times.
        for n in 1..31 {
            assert!((means[n] - mean(&p[..=n])).abs() < 1e-13, "{n}");
        }
        for n in 1..11 {
            assert!((rms[n] - mean(&squares[..=n]).sqrt()).abs() < 1e-13, "{n}");
        }
    }
}

/// A mean goes on from a checkpoint to the bit, also at a step between two of its records.
#[test]
fn checkpoints_keep_means() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ripplon");
    for (parts, steps) in [(1, 7), (1, 0), (3, 8)] {
        let mut whole = Engine::new(scene(parts)).unwrap();
        whole.advance(steps).unwrap();
        whole.save_checkpoint(&path).unwrap();
        whole.advance(20).unwrap();
        let (mut resumed, remarks) = Engine::resume(scene(parts), &path).unwrap();
        assert!(remarks.is_empty(), "{remarks:?}");
        resumed.advance(20).unwrap();
        for n in 0..4 {
            let bits =
                |run: &Engine| -> Vec<u64> { run.taps().series(n).1.iter().map(|value| value.to_bits()).collect() };
            assert_eq!(
                bits(&whole),
                bits(&resumed),
                "detector {n}, {parts} parts, from step {steps}"
            );
        }
    }
}
