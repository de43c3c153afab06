use super::*;
use num_complex::Complex32;

const LINE: &str =
    "format = 1\n[grid]\nsize = [8]\nspacing = 1.0\n[acoustic]\nspeed = 343.0\n[[pulse]]\ncenter = 4.0\nwidth = 1.0\n";

fn clock(steps: u64) -> Clock {
    Clock {
        steps,
        time: 0.0,
        time_step: 0.1,
    }
}

fn scene(text: &str) -> Scenario {
    let file = crate::scene::read_draft(text).unwrap();
    crate::solver::validate_scene(&file, None).unwrap()
}

#[test]
fn a_selection_has_every_nth_site_of_a_box() {
    let grid = Grid::new(&[10, 6], 0.5);
    let all = Selection::new(&grid, None, &[]).unwrap();
    assert_eq!(all.sites(), 60);
    let some = Selection::new(&grid, Some(&[[0.9, 4.1], [1.0, 1.0]]), &[3, 1]).unwrap();
    assert_eq!((some.first, some.count), ([2, 2, 0], [3, 1, 1]));
    let values: Vec<f32> = (0_u16..60).map(f32::from).collect();
    assert_eq!(
        some.of(&grid, &FieldData::Float32(values)),
        FieldData::Float32(vec![22.0, 25.0, 28.0])
    );
    // Edges are half a spacing outside the last sites.
    let edge = Selection::new(&grid, Some(&[[4.4, 4.75], [-0.25, 0.2]]), &[]).unwrap();
    assert_eq!((edge.first, edge.count), ([9, 0, 0], [1, 1, 1]));
    for (region, stride, said) in [
        (Some(&[[1.1, 1.4], [0.0, 1.0]][..]), &[][..], "along x holds no site"),
        (Some(&[[3.0, 1.0], [0.0, 1.0]]), &[], "holds no site"),
        (
            Some(&[[4.0, 5.0], [0.0, 1.0]]),
            &[],
            "4..5 along x reaches beyond the grid, whose sites stand from 0 to 4.5",
        ),
        (
            Some(&[[4.0, 4.5], [-1.0, 1.0]]),
            &[],
            "-1..1 along y reaches beyond the grid",
        ),
        (Some(&[[f64::NAN, 1.0], [0.0, 1.0]]), &[], "holds no site"),
        (Some(&[[0.0, 1.0]]), &[], "2 axes"),
        (None, &[1, 2, 3], "2 axes"),
    ] {
        let wrong = Selection::new(&grid, region, stride).unwrap_err();
        assert!(wrong.contains(said), "{wrong}");
    }
}

#[test]
fn snapshots_are_read_back_and_appear_when_they_are_complete() {
    let scenario = scene(
        "format = 1\ntitle = \"Wäve\"\n[grid]\nsize = [8, 4]\nspacing = 0.5\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\n[[packet]]\ncenter = [2.0, 1.0]\nwidth = [0.5, 0.5]\n[solver]\nmethod = \"trotter\"\n",
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.h5");
    let grid = scenario.grid();
    let selection = Selection::new(grid, Some(&[[1.0, 2.0], [0.5, 1.5]]), &[2]).unwrap();
    let mut writer = SeriesWriter::create(&path, &scenario, selection, None).unwrap();
    for step in [0_u16, 10] {
        let field: Vec<Complex32> = (0_u16..32)
            .map(|n| Complex32::new(f32::from(n), f32::from(step)))
            .collect();
        writer
            .push(grid, &clock(step.into()), &FieldData::Complex64(field))
            .unwrap();
    }
    assert!(!path.exists());
    writer.finish().unwrap();
    let file = rust_hdf5::H5File::open(&path).unwrap();
    for step in [0_u16, 10] {
        let set = file.dataset(&format!("data/{step}/fields/psi")).unwrap();
        assert_eq!(set.shape(), [2, 2]);
        let values = set.read_raw::<rust_hdf5::Complex32>().unwrap();
        let parts: Vec<[f32; 2]> = values.iter().map(|z| [z.re, z.im]).collect();
        let im = f32::from(step);
        assert_eq!(parts, [[10.0, im], [12.0, im], [26.0, im], [28.0, im]]);
    }
}

/// The file of a run that is killed has the snapshots up to the last table of contents.
#[test]
fn what_a_killed_run_leaves_is_read() {
    let scenario = scene(LINE);
    let folder = tempfile::tempdir().unwrap();
    let (path, grid) = (folder.path().join("s.h5"), scenario.grid());
    let all = Selection::new(grid, None, &[]).unwrap();
    let write = |steps: &[u16], tables: &[u16]| {
        let mut writer = SeriesWriter::create(&path, &scenario, all.clone(), None).unwrap();
        for &step in steps {
            if let Some(open) = writer.open.as_mut().filter(|_| tables.contains(&step)) {
                open.next_table = Instant::now();
            }
            let field = FieldData::Float32(vec![f32::from(step); 8]);
            writer.push(grid, &clock(step.into()), &field).unwrap();
        }
        writer
    };
    let read = |path: &Path| -> Vec<(u64, f32)> {
        let mesh = all.mesh(&scenario);
        let contents = Contents::of(path, &mesh, 4).unwrap();
        assert!(contents.fits && contents.scene.is_some());
        let file = rust_hdf5::H5File::options().no_locking().open(path).unwrap();
        let first = |step: &u64| {
            let set = file.dataset(&format!("data/{step}/fields/p")).unwrap();
            set.read_raw::<f32>().unwrap()[0]
        };
        contents.steps.iter().map(|step| (*step, first(step))).collect()
    };
    // More than eight names of a group lie elsewhere than fewer.
    let steps: Vec<u16> = (0..30).collect();
    let writer = write(&steps, &[3, 11, 27]);
    let part = writer.open.as_ref().unwrap().part.clone();
    std::mem::forget(writer);
    let expected = |last: u16| -> Vec<(u64, f32)> { (0..=last).map(|n| (n.into(), n.into())).collect() };
    assert_eq!(read(&part), expected(27));
    // A run that ends by itself has all of them.
    write(&steps, &[3, 11, 27]).finish().unwrap();
    assert_eq!(read(&path), expected(29));
    // Where a table could not be written, the one before it counts.
    let mut writer = write(&steps, &[11]);
    if let Some(open) = &mut writer.open {
        std::mem::forget(open.snapshots.take());
    }
    assert!(
        writer
            .push(grid, &clock(30), &FieldData::Float32(vec![0.0; 8]))
            .is_err()
    );
    writer.finish().unwrap();
    assert_eq!(read(&path), expected(11));
}

/// If the folder is removed while snapshots are written, the next one reports it.
#[test]
#[cfg(unix)]
fn a_folder_that_is_removed_is_missed() {
    let scenario = scene(LINE);
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("runs");
    std::fs::create_dir(&inner).unwrap();
    let (path, grid) = (inner.join("s.h5"), scenario.grid());
    let all = Selection::new(grid, None, &[]).unwrap();
    let mut writer = SeriesWriter::create(&path, &scenario, all, None).unwrap();
    let mut push = |steps| writer.push(grid, &clock(steps), &FieldData::Float32(vec![0.0; 8]));
    push(0).unwrap();
    std::fs::remove_dir_all(&inner).unwrap();
    let said = push(1).unwrap_err().to_string();
    assert!(said.contains("s.h5: the directory does not exist"), "{said}");
    assert!(writer.finish().is_err());
}

#[test]
fn what_the_system_says_is_found_in_words() {
    let of = |text: &str| of_system(rust_hdf5::Hdf5Error::InvalidState(text.to_owned()));
    let full = of("I/O error: No space left on device (os error 28)").unwrap();
    assert_eq!(full.raw_os_error(), Some(28));
    assert!(of("the file is closed").is_err());
}

#[test]
fn a_device_is_no_place_for_a_file_that_is_not_written_in_order() {
    if cfg!(unix) {
        let scenario = scene(LINE);
        let all = Selection::new(scenario.grid(), None, &[]).unwrap();
        let wrong = SeriesWriter::create(Path::new("/dev/null"), &scenario, all, None)
            .err()
            .unwrap();
        assert!(wrong.to_string().contains("name a file"), "{wrong}");
    }
}
