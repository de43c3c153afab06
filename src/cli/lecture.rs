//! `ripplon lecture`: a sequence of scenes with notes and timings, shown in a lecture hall.

use super::InputError;
use super::scene::error_text;
use super::terminal::{error, say};
use crate::scene::lecture::Lecture;
use crate::solver;
use clap::Args;
use std::path::{Path, PathBuf};

/// What to show.
#[derive(Args, Debug)]
pub struct LectureArgs {
    /// The lecture (TOML): see docs/lecture.md
    file: PathBuf,
    /// Check all scenes and print the sequence with its times, without a window
    #[arg(long)]
    check: bool,
}

pub(super) fn run(args: &LectureArgs) -> anyhow::Result<()> {
    let lecture = Lecture::read(&args.file)?;
    // Faults in the second and the seventh scene are found out here rather than before an audience.
    let mut titles = Vec::new();
    let mut failed: Option<anyhow::Error> = None;
    for stop in &lecture.stops {
        match solver::read_scene(&stop.scene, &stop.set) {
            Ok((_, scenario)) if stop.title.is_empty() => titles.push(scenario.title().to_owned()),
            Ok(_) => titles.push(stop.title.clone()),
            Err(faults) => {
                if let Some(before) = failed.replace(faults.into()) {
                    error(format_args!("{}\n", error_text(&before)));
                }
            }
        }
    }
    if let Some(last) = failed {
        return Err(last);
    }
    if args.check {
        print(&args.file, &lecture, &titles);
        return Ok(());
    }
    show(lecture)
}

fn print(file: &Path, lecture: &Lecture, titles: &[String]) {
    let title = if lecture.title.is_empty() {
        file.display().to_string()
    } else {
        lecture.title.clone()
    };
    say!("{title}");
    let mut begins = 0.0;
    for (n, (stop, heading)) in lecture.stops.iter().zip(titles).enumerate() {
        let minutes = stop.minutes.map_or(String::new(), |minutes| format!(", {minutes} min"));
        say!("{:3}  {:>5}  {}{minutes}: {heading}", n + 1, clock(begins), stop.scene);
        begins += stop.minutes.unwrap_or(0.0);
    }
    let all = lecture.stops.len();
    let planned = lecture.stops.iter().filter(|stop| stop.minutes.is_some()).count();
    let of = if planned == all {
        String::new()
    } else {
        format!(" for {planned} of them")
    };
    let scenes = crate::units::counted(all as u64, "scene");
    say!("{scenes}, {} planned{of}", clock(begins));
}

/// Minutes as 1:30.
fn clock(minutes: f64) -> String {
    let seconds = (minutes * 60.0).round();
    format!("{:.0}:{:02.0}", (seconds / 60.0).floor(), seconds % 60.0)
}

#[cfg(feature = "gui")]
fn show(lecture: Lecture) -> anyhow::Result<()> {
    let Some(first) = lecture.stops.first() else {
        return Err(InputError("the lecture has no scene".to_owned()).into());
    };
    let opened = crate::app::background::read(&first.scene, &first.set)?;
    super::display::probe()?;
    crate::app::run(crate::app::AppOptions {
        scene: Some(first.scene.clone()),
        set: first.set.clone(),
        opened: Some(opened),
        lecture: Some(lecture),
    })
    .map_err(|error| error.context(super::display::NO_WINDOW))
}

/// This build has no window.
#[cfg(not(feature = "gui"))]
fn show(_lecture: Lecture) -> anyhow::Result<()> {
    Err(InputError("this build has no window; `--check` prints the sequence".to_owned()).into())
}
