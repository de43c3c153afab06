//! `ripplon room`: tables, curves, sounds, and what it refuses.

use super::Place;
use std::fs;

/// A tube of 5 m whose ends have Z = 30 ρc: every mode loses R = 29/31 of its pressure in each L/c.
const TUBE: &str = r#"
format = 1
title = "Tube"
[grid]
size = [200]
spacing = 0.025
edges = "wall"
[acoustic]
speed = 343.0
[time]
step = 6.5e-5
end = 1.5
[solver]
method = "fdtd"
precision = "double"
[[layer]]
sets = "impedance"
value = 30.0
[[source]]
at = [1.0]
signal = "ricker"
frequency = 400.0
amplitude = 1e5
[[detector]]
name = "listener"
at = [3.3]
[[detector]]
name = "energy"
measure = "energy"
"#;

fn place() -> Place {
    let place = Place::new();
    fs::write(place.path("tube.toml"), TUBE).unwrap();
    place
}

/// T = 3 (L/c)/−lg R. The curve falls in steps of −20 lg R = 0.58 dB a pass: a line of 30 dB is off by 3·0.29/30 = 3 % at most; at 10 points a wavelength and more R is that of the continuum within θ²/ξ.
#[test]
fn a_tube_has_its_reverberation_time() {
    let place = place();
    let run = place.ripplon("room tube.toml --at listener --json --csv c.csv --plot c.png");
    run.expect(0, &["\"t30\""]);
    let found: serde_json::Value = serde_json::from_str(&run.out()).unwrap();
    let exact = 3.0 * (5.0 / 343.0) / -(29.0f64 / 31.0).log10();
    for key in ["edt", "t20", "t30"] {
        let time = found["bands"][0][key].as_f64().unwrap();
        let limit = if key == "edt" { 0.09 } else { 0.04 };
        assert!((time / exact - 1.0).abs() < limit, "{key}: {time} for {exact}");
    }
    assert!(found["bands"].as_array().unwrap().len() > 2 && found["deconvolved"] == true);
    let table = place.text("c.csv");
    assert!(table.starts_with("t,all,"), "{}", &table[..40]);
    assert!(fs::read(place.path("c.png")).unwrap().starts_with(b"\x89PNG"));
    place
        .ripplon("room tube.toml")
        .expect(0, &["Tube", "octave Hz", "heard at \"listener\"", "500"]);
}

/// A click of one sample through the room is the response itself.
#[test]
fn a_dry_sound_is_heard_in_the_room() {
    let place = place();
    let spec = hound::WavSpec {
        channels: 1,
        sample_rate: 8000,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut writer = hound::WavWriter::create(place.path("dry.wav"), spec).unwrap();
    for n in 0..800 {
        writer.write_sample(if n == 0 { 30_000i16 } else { 0 }).unwrap();
    }
    writer.finalize().unwrap();
    let read = |name: &str| -> Vec<f64> {
        let mut reader = hound::WavReader::open(place.path(name)).unwrap();
        assert_eq!(reader.spec().sample_rate, 48_000);
        reader
            .samples::<i16>()
            .map(|value| f64::from(value.unwrap()) / 32768.0)
            .collect()
    };
    place.ripplon("room tube.toml --wav own.wav").expect(0, &["own.wav"]);
    place
        .ripplon("room tube.toml --dry dry.wav --wav wet.wav")
        .expect(0, &["wet.wav", "the response holds"]);
    let (own, wet) = (read("own.wav"), read("wet.wav"));
    // 16 bits, and the filters of two resamplings, 90 dB down; the first 57 samples of 8 kHz hold the edge of the response, which both filters round off otherwise.
    let part = 1000..own.len().min(wet.len()) - 1000;
    let peak = |sound: &[f64]| {
        sound[part.clone()]
            .iter()
            .fold(0.0f64, |most, value| most.max(value.abs()))
    };
    let scale = peak(&own) / peak(&wet);
    for n in part {
        assert!(
            (own[n] - scale * wet[n]).abs() < 3e-3,
            "{n}: {} and {}",
            own[n],
            scale * wet[n]
        );
    }
    place
        .ripplon("room tube.toml --dry dry.wav --wav dry.wav")
        .expect(2, &["reads this file"]);
}

/// A response that meets its noise 8 ms after the arrival has no first 50 ms: no clarity, and why.
#[test]
fn a_record_that_ends_early_has_no_clarity() {
    let place = Place::new();
    let line = ["room", "tube", "--at", "on the way", "--set", "grid.edges=\"absorb\""];
    let run = place.ripplon_with(line.into_iter().chain(["--json"]));
    run.expect(0, &[]);
    let found: serde_json::Value = serde_json::from_str(&run.out()).unwrap();
    let whole = &found["bands"][0];
    assert!(whole["cut"] == true && whole["centre"].as_f64().is_some(), "{whole}");
    for key in ["c50", "c80", "d50"] {
        assert!(whole[key].is_null(), "{key}: {whole}");
    }
    let said = "all: C50 and D50 need 50 ms and C80 needs 80 ms of the record after the arrival, and";
    place
        .ripplon_with(line)
        .expect(0, &[said, "it meets its floor of noise there"]);
}

/// A tube of 5 m, whose time is 1.5 s: 24 ms after the source there has been one echo, and the silence behind it is no decay. What it takes is told once a band, four ways to and fro: 0.117 s.
#[test]
fn a_record_without_echoes_has_no_decay() {
    let place = place();
    let line = "room tube.toml --set time.end=0.04";
    let run = place.ripplon(&format!("{line} --json"));
    run.expect(0, &[]);
    let found: serde_json::Value = serde_json::from_str(&run.out()).unwrap();
    for band in found["bands"].as_array().unwrap() {
        for key in ["edt", "t20", "t30", "c50", "c80", "d50", "centre", "range"] {
            assert!(band[key].is_null(), "{key}: {band}");
        }
    }
    let run = place.ripplon(line);
    run.expect(
        0,
        &["all: a decay needs 0.117 s of the record after the arrival", "s more"],
    );
    assert!(
        !run.out().contains("curved") && !run.out().contains("T20 needs"),
        "{}",
        run.out()
    );
}

/// A level, an energy or a mean is no sound: nothing is run, and the measures that are sounds are named.
#[test]
fn records_that_are_no_sound_are_not_written_as_one() {
    let place = place();
    let level = TUBE.replace("name = \"listener\"", "name = \"listener\"\nas = \"level\"");
    fs::write(place.path("level.toml"), level).unwrap();
    let said = [
        "which is no sound",
        "\"pressure\", \"velocity\" or the \"value\" at a point",
    ];
    for (line, records) in [
        ("run level.toml --wav listener=a.wav", "records \"level\""),
        ("run tube.toml --wav energy=a.wav", "records \"energy\""),
    ] {
        place.ripplon(line).expect(2, &[records, said[0], said[1]]);
        assert!(!place.path("a.wav").exists());
    }
    place
        .ripplon("run tube.toml --steps 100 --wav listener=a.wav")
        .expect(0, &["a.wav"]);
}

#[test]
fn what_has_no_decay_is_refused() {
    let place = place();
    place
        .ripplon("room tube.toml --at energy")
        .expect(2, &["no detector \"energy\" records the pressure", "\"listener\""]);
    place.ripplon("room small.toml").expect(2, &["no sound"]);
    place
        .ripplon("room tube.toml --set time.end=0.3")
        .expect(0, &["T30 needs 45 dB of decay and the record has", "s more"]);
    place
        .ripplon("room tube.toml --set source.0.signal=\"sine\"")
        .expect(2, &["never ends"]);
    place
        .ripplon("room tube.toml --set source.0.frequency=100 --set time.end=0.02")
        .expect(2, &["the source plays until"]);
    // On a line there is no diffuse sound; in a plane a wall of ρc takes 4(π/2 − 4/3) of it, in space 8(3/2 − 2 ln 2).
    let run = place.ripplon("check tube.toml");
    run.expect(0, &["Z/ρc = 30", "0.9355", "absorb 0.1249 of the energy there"]);
    assert!(!run.out().contains("diffuse"), "{}", run.out());
    for (size, at, told) in [
        ("[40, 30]", "[0.5, 0.5]", "0.9499 of a diffuse sound in the plane"),
        ("[40, 30, 20]", "[0.5, 0.5, 0.2]", "0.9096 of a diffuse sound"),
    ] {
        let room = TUBE
            .replace("[200]", size)
            .replace("[1.0]", at)
            .replace("[3.3]", at)
            .replace("value = 30.0", "value = 1.0")
            // Stable in space as well.
            .replace("step = 6.5e-5", "step = 4e-5");
        fs::write(place.path("room.toml"), room).unwrap();
        place.ripplon("check room.toml").expect(0, &["Z/ρc = 1", told]);
    }
}
