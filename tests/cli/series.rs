//! `run --series` against h5py and the validator of openPMD.

use super::python;
use super::{Place, Run};
use std::process::Command;

/// Compares a series with an array that NPY holds of its last step, and asks the validator.
const LOOK: &str = r#"
import contextlib, io, sys
import h5py, numpy
from openpmd_validator import check_h5
series, saved, steps = sys.argv[1], numpy.load(sys.argv[2]), [int(step) for step in sys.argv[3].split(",")]
with h5py.File(series, "r") as file:
    assert sorted(map(int, file["data"])) == steps, list(file["data"])
    assert file.attrs["comment"].decode() == "Small", file.attrs["comment"]
    assert "[grid]" in file.attrs["scene"].decode()
    for step in steps:
        one = file["data"][str(step)]
        assert abs(one.attrs["time"] - 0.02 * step) < 1e-9, one.attrs["time"]
        assert one.attrs["dt"] == 0.02
    psi = file["data"][str(steps[-1])]["fields"]["psi"]
    assert psi.dtype == saved.dtype and psi.dtype == numpy.complex64, psi.dtype
    # Sites from x = 4 to 12 and y = 0 to 11 of a grid with the spacing 0.5, every other one along x.
    assert numpy.array_equal(psi[()], saved[0:23, 8:25:2]), psi.shape
    assert [name.decode() for name in psi.attrs["axisLabels"]] == ["y", "x"]
    assert list(psi.attrs["gridSpacing"]) == [0.5, 1.0] and list(psi.attrs["gridGlobalOffset"]) == [0.0, 4.0]
said = io.StringIO()
with contextlib.redirect_stdout(said):
    errors = check_h5.check_file(series, False, None)[0]
assert errors == 0, said.getvalue()
"#;

/// Reads every attribute of a series whose scene has no title.
const UNTITLED: &str = r#"
import sys
import h5py
with h5py.File(sys.argv[1], "r") as file:
    found = dict(file.attrs)
    assert "comment" not in found and found["openPMD"].decode() == "1.1.0", found
"#;

const PART: &str = "--region 4..12,0..11 --stride 2,1";

#[test]
fn snapshots_are_what_other_programs_read() {
    let packages = ["h5py==3.16.0", "numpy==2.4.6", "openpmd-validator==1.1.0.6"];
    let Some(python) = python::environment("openpmd-1.1", &packages) else {
        return;
    };
    let look = |place: &Place, steps: &str| {
        let output = Command::new(python.join("bin/python"))
            .args(["-c", LOOK])
            .args([place.path("s.h5"), place.path("psi.npy")])
            .arg(steps)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let place = Place::new();
    let line = format!("run small.toml --save psi.npy --series s.h5 --every 10 {PART}");
    place
        .ripplon(&line)
        .expect(0, &["5 snapshots of 1.62 KiB, 8.09 KiB in all"]);
    look(&place, "0,10,20,30,40");
    // Snapshots and checkpoints of one run; the run that goes on adds the steps that are left.
    let line =
        format!("run small.toml --steps 15 --checkpoint c.ripplon --series s.h5 --every 4 {PART} --save psi.npy");
    place.ripplon(&line).expect(0, &[]);
    let line = format!("run small.toml --resume c.ripplon --series s.h5 --every 20 {PART} --save psi.npy");
    place.ripplon(&line).expect(0, &[]);
    look(&place, "0,4,8,12,20,40");
    // Without a title all other attributes are there.
    place
        .ripplon("run small.toml --set title= --steps 1 --series t.h5 --every 1")
        .expect(0, &[]);
    let output = Command::new(python.join("bin/python"))
        .args(["-c", UNTITLED])
        .arg(place.path("t.h5"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_would_fill_a_disk_or_a_file_is_refused_before_the_run() {
    let place = Place::new();
    for (options, said) in [
        ("--series s.h5 --steps 2000000 --every 1", "take --every 201"),
        ("--series s.h5 --region 4..12", "2 axes"),
        ("--series s.h5 --region 90..95,0..2", "along x holds no site"),
        (
            "--series s.h5 --region 0..90,0..2",
            "0..90 along x reaches beyond the grid, whose sites stand from 0 to 15.5",
        ),
        ("--series s.h5 --region 4", "write a range for each axis"),
        ("--series s.h5 --stride 0", "0"),
        ("--series s.h5 --save s.h5", "name another one"),
        ("--series small.toml", "the run reads this file"),
        ("--stride 2", "--series"),
        ("--every 2", "required"),
    ] {
        place.ripplon(&format!("run small.toml {options}")).expect(2, &[said]);
    }
    #[cfg(target_os = "linux")]
    place
        .ripplon("run small.toml --series /dev/null")
        .expect(2, &["a device or a pipe", "name a file"]);
    assert_eq!(place.files(), ["small.toml"]);
}

/// A file that may grow no further ends the run with what to do, in words of the system and not of the library. What is kept has whole snapshots only.
#[cfg(target_os = "linux")]
#[test]
fn a_series_that_cannot_grow_says_why() {
    let place = Place::new();
    // Five snapshots of 96 KiB have room in 550 KiB, the sixth has not.
    let line = "ulimit -f 1100 && exec \"$0\" run small.toml --set grid.size=[128,96] --series s.h5 --every 4";
    let limited = Command::new("sh")
        .args(["-c", line])
        .arg(env!("CARGO_BIN_EXE_ripplon"))
        .current_dir(place.path("."))
        .output()
        .unwrap();
    let run = Run(limited);
    run.expect(
        1,
        &[
            "--series s.h5: files may not become as large here",
            "the run ends at step 20",
        ],
    );
    assert!(!run.err().contains("os error"), "{}", run.err());
    let Ok(kept) = rust_hdf5::H5File::open(place.path("s.h5")) else {
        run.expect(1, &["its snapshots are lost"]);
        return;
    };
    for step in [0, 4, 8, 12, 16] {
        let set = kept.dataset(&format!("data/{step}/fields/psi")).unwrap();
        assert_eq!(set.shape(), [96, 128]);
    }
    assert!(kept.dataset("data/20/fields/psi").is_err());
}

/// A resumed run goes on with the file: what comes after its checkpoint is made again, what comes before stays, bit for bit.
#[test]
fn a_resumed_run_goes_on_with_its_series() {
    let place = Place::new();
    let fields = |name: &str| -> Vec<(u64, Vec<u8>)> {
        let file = rust_hdf5::H5File::open(place.path(name)).unwrap();
        let names = file.root_group().group("data").unwrap().group_names().unwrap();
        let mut steps: Vec<u64> = names.iter().map(|name| name.parse().unwrap()).collect();
        steps.sort_unstable();
        let read = |step: u64| {
            let set = file.dataset(&format!("data/{step}/fields/psi")).unwrap();
            set.read_raw_bytes().unwrap()
        };
        steps.into_iter().map(|step| (step, read(step))).collect()
    };
    place
        .ripplon(&format!("run small.toml --series whole.h5 --every 4 {PART}"))
        .expect(0, &[]);
    // Past the checkpoint, as a run that was killed later.
    place
        .ripplon(&format!(
            "run small.toml --steps 16 --checkpoint c.ripplon --series s.h5 --every 4 {PART}"
        ))
        .expect(0, &[]);
    place
        .ripplon(&format!(
            "run small.toml --resume c.ripplon --steps 12 --series s.h5 --every 6 {PART}"
        ))
        .expect(0, &[]);
    let steps = |name: &str| fields(name).iter().map(|(step, _)| *step).collect::<Vec<_>>();
    assert_eq!(steps("s.h5"), [0, 4, 8, 12, 16, 18, 24]);
    place
        .ripplon(&format!(
            "run small.toml --resume c.ripplon --series s.h5 --every 4 {PART}"
        ))
        .expect(0, &["12 snapshots"]);
    assert_eq!(steps("s.h5"), [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40]);
    assert!(fields("s.h5") == fields("whole.h5"));
    // The end and the solver's parts may be other ones.
    place
        .ripplon(&format!(
            "run small.toml --set time.end=0.9 --parts 2 --resume c.ripplon --series s.h5 --every 20 {PART}"
        ))
        .expect(0, &[]);
    assert_eq!(steps("s.h5"), [0, 4, 8, 12, 16, 20, 40]);
}

/// A file that is not the beginning of the resumed run is left as it is.
#[test]
fn a_resumed_run_refuses_another_series() {
    let place = Place::new();
    place
        .ripplon("run small.toml --steps 16 --checkpoint c.ripplon --series s.h5 --every 4")
        .expect(0, &[]);
    std::fs::write(place.path("t.h5"), "not HDF5").unwrap();
    let before = std::fs::read(place.path("s.h5")).unwrap();
    for (options, said) in [
        ("--series s.h5 --stride 2", "other sites"),
        ("--series s.h5 --region 0..8,0..4", "other sites"),
        ("--series s.h5 --set title=Other", "another scene"),
        ("--series t.h5", "no complete series of snapshots"),
    ] {
        place
            .ripplon(&format!("run small.toml --resume c.ripplon {options}"))
            .expect(2, &[said, "name another file"]);
    }
    assert!(std::fs::read(place.path("s.h5")).unwrap() == before);
    assert_eq!(std::fs::read(place.path("t.h5")).unwrap(), b"not HDF5");
}
