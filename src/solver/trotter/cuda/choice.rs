//! Which runs go to the device, and with which variant.

use super::bonds::most_planes;
use super::params::{MOST_DRIVES, SUMS};
use crate::field::Precision;
use crate::physics::Sets;
use crate::solver::SolverError;
use crate::solver::device;
use crate::solver::trotter::differs;
use crate::solver::trotter::problem::Problem;

/// Checks that the device has enough memory for a run, before anything is allocated.
pub(super) fn check_room(
    problem: &Problem,
    schedule: Schedule,
    precision: Precision,
    free: u64,
) -> Result<(), SolverError> {
    let grid = &problem.grid;
    let [nx, ny, nz] = grid.size().map(|n| n as u64);
    let medium = &problem.medium;
    if medium.drives().len() > MOST_DRIVES {
        return Err(SolverError::Unsupported(format!(
            "the device knows {MOST_DRIVES} different drives, and the scene has {}; take backend = \"cpu\"",
            medium.drives().len()
        )));
    }
    let count = nx.next_multiple_of(32).saturating_mul(ny).saturating_mul(nz);
    device::check_count(grid, count)?;
    let fields = if schedule == Schedule::Naive { 1 } else { 2 };
    let (tables, absorbs) = (problem.tables() as u64, problem.absorbs());
    let bonds = if medium.sets_bonds() {
        most_planes(grid.rank(), problem.order)
    } else {
        0
    };
    let own = bonds + u64::from(medium.has(Sets::Interaction));
    let planes = 2 * (fields + tables) + 1 + u64::from(absorbs) + medium.drives().len() as u64 + own;
    let walls = u64::from(medium.has(Sets::Wall));
    let needed = count * (planes * precision.bytes() as u64 + walls) + ny * nz * (8 * (SUMS + 1)) as u64;
    device::check_room(grid, precision, &format!("trotter {}", schedule.as_str()), needed, free)
}

/// Sites of grids in space whose bonds differ up to which a kernel a sweep is faster than one a step, whose few blocks leave most of the device idle: 1.17 to 1.21 times at 58,000 to
/// 72,000 sites in two planes (H200); 3.7 million sites are four times slower that way.
const MOST_SWEPT: usize = 1 << 17;

/// How sweeps become launches: the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schedule {
    /// One kernel a sweep.
    Naive,
    /// One kernel a step.
    FullStep,
    /// Several steps a kernel.
    Fused,
    /// The same, a tile of the plane a block.
    Tiles,
}

impl Schedule {
    /// The variant's id.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::FullStep => "full-step",
            Self::Fused => "fused",
            Self::Tiles => "tiles",
        }
    }

    /// Whether launches take several steps.
    pub(super) fn fuses(self) -> bool {
        matches!(self, Self::Fused | Self::Tiles)
    }
}

/// Whether bonds that differ are stepped by kernels of whole steps: those of two and three dimensions in real time, with phases along x at most, and with nothing else that differs.
pub(super) fn takes_whole_steps(problem: &Problem) -> bool {
    let medium = &problem.medium;
    let alike = !medium.sets_interaction() && problem.quantum.interaction == 0.0;
    problem.grid.rank() > 1 && medium.sets_bonds() && medium.rotation() == 0.0 && alike && !problem.imaginary
}

/// Whether `tiles` has steps for a problem.
fn tiles_step(problem: &Problem) -> bool {
    problem.grid.rank() == 2 && !differs(&problem.medium) && !problem.imaginary
}

/// The variant that runs, and why it is not the one asked for.
pub(super) fn chosen(problem: &Problem, asked: Option<&str>, precision: Precision) -> (Schedule, Option<String>) {
    let grid = &problem.grid;
    let lanes = 16 / precision.bytes();
    let by_itself = asked.is_none();
    let asked = match asked {
        Some("naive") => return (Schedule::Naive, None),
        Some("full-step") => Schedule::FullStep,
        Some("tiles") if !tiles_step(problem) => {
            let (schedule, because) = chosen(problem, Some("fused"), precision);
            let here = "tiles are of planes in real time with bonds that are alike";
            return (schedule, because.or_else(|| Some(here.to_owned())));
        }
        Some("tiles") => Schedule::Tiles,
        _ => Schedule::Fused,
    };
    let word = asked.as_str();
    if differs(&problem.medium) && !takes_whole_steps(problem) {
        let because = "bonds or sites differ, which is one kernel a sweep";
        return (Schedule::Naive, Some(because.into()));
    }
    if grid.rank() == 1 {
        if problem.imaginary {
            let because = format!("{word} has no imaginary time in one dimension, this is one kernel a sweep");
            return (Schedule::Naive, Some(because));
        }
        return (asked, None);
    }
    let [nx, ny, nz] = grid.size();
    if grid.is_periodic(0) && nx % lanes != 0 {
        let because =
            format!("{word} wants a multiple of {lanes} sites along a periodic x, this is one kernel a sweep");
        return (Schedule::Naive, Some(because));
    }
    // Rows wrap once at most.
    if grid.is_periodic(1) && ny < 32 {
        let because = format!("{word} wants 32 sites along a periodic y, this is one kernel a sweep");
        return (Schedule::Naive, Some(because));
    }
    if grid.rank() == 3 && differs(&problem.medium) {
        if by_itself && grid.sites() <= MOST_SWEPT {
            return (Schedule::Naive, None);
        }
        if nx % lanes != 0 || (grid.is_periodic(2) && nz < 8) || nz > 65535 {
            let because = format!(
                "bonds differ, which in three dimensions takes whole steps where x has a multiple of {lanes} sites and a ring along z 8; this is one kernel a sweep"
            );
            return (Schedule::Naive, Some(because));
        }
        return (asked, None);
    }
    if grid.rank() == 3 {
        let commuting = problem.quantum.flux == 0.0 && !problem.medium.has(Sets::Wall);
        if !commuting || problem.imaginary || nz > 65535 {
            let because = "walls inside, flux and imaginary time run one kernel a sweep in three dimensions";
            return (Schedule::Naive, Some(because.into()));
        }
        if asked == Schedule::Fused && (nx % lanes != 0 || nz < 8) {
            let because =
                format!("steps are fused in three dimensions where x has a multiple of {lanes} sites and z 8");
            return (Schedule::FullStep, Some(because));
        }
    }
    (asked, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::solver::read_scene_text;
    use crate::solver::trotter::problem::as_written;

    fn problem(size: &str, layers: &str) -> Problem {
        problem_in(size, "[4.0, 4.0]", layers)
    }

    fn problem_in(size: &str, center: &str, layers: &str) -> Problem {
        let width = center.replace(['1', '4'], "2");
        let text = format!(
            "format = 1\ntitle = \"room\"\n[grid]\nsize = {size}\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\n\
             [[packet]]\ncenter = {center}\nwidth = {width}\n{layers}"
        );
        match read_scene_text(&text, None, &[]) {
            Ok((_, scenario)) => as_written(&scenario).unwrap(),
            Err(faults) => panic!("{faults}"),
        }
    }

    fn said(problem: &Problem, schedule: Schedule, precision: Precision, free: u64) -> String {
        let refused = check_room(problem, schedule, precision, free).err();
        refused.map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn room_is_counted_before_it_is_taken() {
        let plain = problem("[64, 32]", "");
        // Field, its second half, phases: 2 planes each; energies; ten sums and a norm a row.
        let needed = 64 * 32 * 4 * 7 + 32 * 88;
        assert_eq!(said(&plain, Schedule::Fused, Precision::Single, needed), "");
        let short = said(&plain, Schedule::Fused, Precision::Single, needed - 1);
        assert!(
            short.contains(&format!("{needed} bytes")) && short.contains("64 × 32"),
            "{short}"
        );
        assert_eq!(
            said(&plain, Schedule::Naive, Precision::Single, needed - 64 * 32 * 8),
            ""
        );
        assert!(!said(&plain, Schedule::Fused, Precision::Double, needed).is_empty());
    }

    /// Two numbers of coupling, two of phase, tangent and sine a bond; four of the latter at order 4. One a site of an interaction.
    #[test]
    fn what_differs_takes_room_and_single_sweeps() {
        let layer = |sets: &str| format!("[[layer]]\nsets = \"{sets}\"\nshape = \"everywhere\"\nvalue = 0.5\n");
        let plain = 64 * 32 * 4 * 5 + 32 * 88;
        for (layers, order, planes) in [
            (layer("hopping"), 2, 2 * 6),
            (layer("hopping"), 4, 2 * 8 + 2),
            (layer("interaction"), 2, 1),
            (layer("flux") + &layer("interaction"), 2, 2 * 6 + 1),
        ] {
            let problem = Problem {
                order,
                ..problem("[64, 32]", &layers)
            };
            let needed = plain + 64 * 32 * 4 * planes;
            assert_eq!(
                said(&problem, Schedule::Naive, Precision::Single, needed),
                "",
                "{layers}"
            );
            let short = said(&problem, Schedule::Naive, Precision::Single, needed - 1);
            assert!(short.contains(&format!("{needed} bytes")), "{layers}: {short}");
            let in_steps = !layers.contains("interaction");
            for (asked, whole) in [
                (None, Schedule::Fused),
                (Some("full-step"), Schedule::FullStep),
                (Some("fused"), Schedule::Fused),
            ] {
                let (schedule, because) = chosen(&problem, asked, Precision::Single);
                assert_eq!(schedule, if in_steps { whole } else { Schedule::Naive }, "{layers}");
                assert_eq!(because.is_none(), in_steps);
            }
            let naive = chosen(&problem, Some("naive"), Precision::Single);
            assert_eq!(naive, (Schedule::Naive, None));
        }
        assert_eq!(
            chosen(&problem("[64, 32]", ""), None, Precision::Single),
            (Schedule::Fused, None)
        );
    }

    #[test]
    fn bonds_that_differ_in_space_take_whole_steps_of_whole_vectors() {
        let layer = "[[layer]]\nsets = \"hopping\"\naxis = \"z\"\nshape = \"everywhere\"\nvalue = 0.5\n";
        for (size, precision, whole) in [
            ("[64, 32, 2]", Precision::Single, true),
            ("[66, 32, 2]", Precision::Single, false),
            ("[66, 32, 9]", Precision::Double, true),
            ("[65, 32, 9]", Precision::Double, false),
        ] {
            let problem = problem_in(size, "[4.0, 4.0, 1.0]", layer);
            let (schedule, because) = chosen(&problem, Some("fused"), precision);
            let expected = if whole { Schedule::Fused } else { Schedule::Naive };
            assert_eq!((schedule, because.is_none()), (expected, whole), "{size}");
            // Few sites are swept by themselves, without a word about it.
            assert_eq!(chosen(&problem, None, precision), (Schedule::Naive, None), "{size}");
        }
        let large = problem_in("[512, 256, 2]", "[4.0, 4.0, 1.0]", layer);
        assert_eq!(chosen(&large, None, Precision::Single), (Schedule::Fused, None));
    }

    #[test]
    fn grids_and_drives_beyond_the_device_are_refused_with_a_remedy() {
        let mut huge = problem("[64, 32]", "");
        huge.grid = Grid::new(&[1 << 17, 1 << 16], 1.0);
        let text = said(&huge, Schedule::Fused, Precision::Single, u64::MAX);
        assert!(text.contains("32 bits") && text.contains("smaller grid"), "{text}");
        let drive = |n: usize| {
            format!(
                "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = 0.1\nmode = \"add\"\ndrive = \"sin({n}*t)\"\n"
            )
        };
        let driven = problem("[64, 32]", &(1..=5).map(drive).collect::<String>());
        let text = said(&driven, Schedule::Fused, Precision::Single, u64::MAX);
        assert!(text.contains("4 different drives") && text.contains("cpu"), "{text}");
    }
}
