//! The choice of the variant, and the memory of blocks.

use super::Trial;
use super::case::Case;
use crate::backend::simd::Level;
use crate::physics::{Initial, Medium};
use crate::solver::Taps;
use crate::solver::trotter::blocked::{Blocked, Plan, Way, fastest};
use crate::solver::trotter::problem::Problem;
use std::sync::Arc;

#[test]
fn the_measurement_keeps_what_a_scene_gives() {
    let problem = Case::new(&[600, 500], 2).problem();
    let plan_of = |block: &[usize], fused| match fastest::<f32>(&problem, block, fused, true) {
        Way::Blocks(plan) => plan,
        Way::Passes => panic!("passes do not compete in two dimensions"),
    };
    let plan = plan_of(&[], None);
    assert!(Plan::candidates(&problem.grid, 2, 4, &[], None).contains(&plan));
    assert_eq!(plan_of(&[], None), plan, "asked once in a process");
    assert_eq!(plan_of(&[], Some(3)).fused, 3);
    assert_eq!(plan_of(&[96, 200], None).block, [96, 200, 1]);
    let both = plan_of(&[96, 200], Some(5));
    assert_eq!((both.block, both.fused), ([96, 200, 1], 5));
}

/// In three dimensions passes compete where the scene leaves everything open.
#[test]
fn what_is_given_in_three_dimensions_means_blocks() {
    let problem = Case::new(&[48, 40, 36], 2).problem();
    let way = |block: &[usize], fused, open| fastest::<f64>(&problem, block, fused, open);
    assert_eq!(way(&[], None, true), way(&[], None, true), "asked once in a process");
    assert!(matches!(way(&[], None, false), Way::Blocks(_)));
    assert!(matches!(way(&[64, 16, 36], None, true), Way::Blocks(_)));
    assert!(matches!(way(&[], Some(1), true), Way::Blocks(_)));
}

/// On small planes passes compete where there are walls, nothing is given, and time is real.
#[test]
fn passes_compete_on_small_planes_with_walls() {
    let mut problem = Case {
        walls: true,
        ..Case::new(&[240, 160], 2)
    }
    .problem();
    let way = |problem: &Problem, block: &[usize], open| fastest::<f32>(problem, block, None, open);
    assert_eq!(
        way(&problem, &[], true),
        way(&problem, &[], true),
        "asked once in a process"
    );
    assert!(matches!(way(&problem, &[], false), Way::Blocks(_)));
    assert!(matches!(way(&problem, &[96, 80], true), Way::Blocks(_)));
    problem.imaginary = true;
    assert!(matches!(way(&problem, &[], true), Way::Blocks(_)));
    let small = Case {
        walls: true,
        ..Case::new(&[96, 64], 2)
    }
    .problem();
    assert!(matches!(way(&small, &[], true), Way::Blocks(_)), "not measured");
}

/// Nothing is measured of short lines, which passes step on AVX2; blocks step those whose blocks are given, in imaginary time, and where a scene names them or listens.
#[test]
fn short_lines_are_stepped_by_passes() {
    let mut problem = Case::new(&[1400], 2).problem();
    let way = |problem: &Problem, block: &[usize], open| fastest::<f32>(problem, block, None, open);
    let passes = matches!(way(&problem, &[], true), Way::Passes);
    assert_eq!(passes, Level::best() == Level::Avx2);
    assert!(matches!(way(&problem, &[], false), Way::Blocks(_)));
    assert!(matches!(way(&problem, &[512], true), Way::Blocks(_)));
    problem.imaginary = true;
    assert!(matches!(way(&problem, &[], true), Way::Blocks(_)));
}

/// A field in single precision takes 8 bytes a site, a potential 4: aim 2.2 fields and a potential.
#[test]
fn blocks_need_little_memory() {
    let mut problem = Case::new(&[2048, 2048], 2).problem();
    problem.medium = Arc::new(Medium::new(problem.grid.clone(), Vec::new()));
    let sites = problem.grid.sites() as u64;
    for plan in Plan::candidates(&problem.grid, 2, 4, &[], None) {
        let steps = plan.fused as u64;
        let blocked = Blocked::<f32>::new(&problem.grid, plan, 1);
        let mut run = Trial::new(problem.clone(), &Initial::Packets(Vec::new()), Box::new(blocked));
        run.advance(steps, &mut Taps::default()).unwrap();
        let report = run.report();
        assert!(
            report.memory * 10 < (22 * 8 + 10 * 4) * sites,
            "{} bytes a site: {}",
            report.memory / sites,
            report.details
        );
    }
}
