//! Units of keys.

use ripplon::scene::key_unit;
use ripplon::solver::read_scene_text;

#[test]
fn keys_of_sound_have_their_units() {
    let text = "format = 1\n[grid]\nsize = [64]\nspacing = 0.1\n[acoustic]\n[time]\nend = 0.01\n[[pulse]]\ncenter = [3.0]\nwidth = 0.4\n\
                [[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [4.0]\nmax = [5.0]\nvalue = 2.0\n\
                [mirror]\nmethod = \"echo\"\nat = 0.004\n\
                [[mirror.perturbation]]\nsets = \"speed\"\nshape = \"box\"\nmin = [4.0]\nmax = [5.0]\nvalue = 300.0\n";
    let (file, _) = read_scene_text(text, None, &[]).unwrap();
    for (key, unit) in [
        ("layer.0.value", "kg/m³"),
        ("layer.0.min.0", "m"),
        ("layer.4.value", ""),
        ("mirror.perturbation.0.value", "m/s"),
        ("mirror.perturbation.0.max", "m"),
        ("mirror.at", "s"),
        ("mirror.noise", ""),
        ("source.2.frequency", "Hz"),
        ("source.0.delays.3", "s"),
        ("source.0.points.1.0", "m"),
        ("source.0.amplitude", ""),
        ("source.0.phase", "rad"),
        ("detector.0.region.min.1", "m"),
        ("pulse.0.center", "m"),
        ("acoustic.attenuation.band.0", "Hz"),
        ("time.step", "s"),
        ("solver.order", ""),
    ] {
        assert_eq!(key_unit(key, &file), unit, "{key}");
    }
}

#[test]
fn keys_of_waves_of_psi_have_none() {
    let text =
        "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\n[[packet]]\ncenter = [30.0]\nwidth = [4.0]\n";
    let (file, _) = read_scene_text(text, None, &[]).unwrap();
    for (key, unit) in [
        ("time.step", ""),
        ("grid.spacing", ""),
        ("packet.0.momentum.0", ""),
        ("eigenstate.1.phase", "rad"),
    ] {
        assert_eq!(key_unit(key, &file), unit, "{key}");
    }
}
