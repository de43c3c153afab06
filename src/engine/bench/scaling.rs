//! `ripplon bench --scaling`: the rate of a grid in parts, on the threads of one process or among the processes of a
//! launcher, compared with the rate expected by a model.
//!
//! The model: between two copies of ghost rows a process takes n steps of its own rows and the ghosts of its parts at its own rate R, and then copies:
//! T = n (own + ghosts) sites / R + bytes between its parts / C + L + bytes to one neighbour / B. The slowest process counts. R is measured of one part,
//! C of memory, the latency L and the bandwidth B of messages between the processes themselves.

use super::{Bounds, Case, EngineError, measure, scene};
use crate::backend::ranks::{self, Ranks};
use crate::platform::Instant;
use crate::solver::{self, Cutting, SolverError};
use crate::words::worded;

worded! {
    /// Whether the grid stays the same, or grows with the number of parts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Growth {
        /// The same grid in more parts.
        Strong = "strong",
        /// A grid whose rows grow with the number of parts.
        Weak = "weak",
    }
}

impl Growth {
    /// The grid of `parts`, from that of one.
    #[must_use]
    pub fn size(self, size: &[usize], parts: usize) -> Vec<usize> {
        let mut size = size.to_vec();
        if let (Self::Weak, Some(last)) = (self, size.last_mut()) {
            *last *= parts;
        }
        size
    }
}

/// A figure of `ripplon bench --scaling`; the fields are the keys of `--json`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Scaled {
    /// The method's id.
    pub method: &'static str,
    /// The variant's id.
    pub variant: &'static str,
    /// In which precision.
    pub precision: &'static str,
    /// The requested order.
    pub order: u32,
    /// Whether the grid grows.
    pub growth: Growth,
    /// Sites along x, y, z.
    pub size: Vec<usize>,
    /// Parts of the grid.
    pub parts: usize,
    /// Processes that share them.
    pub processes: usize,
    /// Threads of a process.
    pub threads: usize,
    /// Ghost rows on each side of a part that has a neighbour there.
    pub ghosts: usize,
    /// Steps from one copy of them to the next.
    pub every: u64,
    /// Site-steps per second of the grid's own sites, the median of the repetitions; absent for what is only predicted.
    pub site_steps_per_s: Option<f64>,
    /// The rate over the number of processes times the rate of one part.
    pub efficiency: Option<f64>,
    /// The slowest and the fastest repetition.
    pub range: Option<[f64; 2]>,
    /// What the model expects.
    pub expected_efficiency: f64,
}

/// Cost of copies.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Costs {
    /// Seconds of an empty message to both neighbours; 0 in one process.
    pub latency: f64,
    /// Bytes per second to each of two neighbours; infinite in one process.
    pub bandwidth: f64,
    /// Bytes per second copied between parts of one process.
    pub copies: f64,
}

/// The best time of some tries of a piece of work, s.
fn best(tries: usize, mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..tries).map(time).fold(f64::INFINITY, f64::min).max(1e-9)
}

impl Costs {
    /// Measures them; all processes of a launcher together.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "numbers of bytes")]
    pub fn measure() -> Self {
        const BYTES: usize = 1 << 20;
        let from = vec![1u8; BYTES];
        let mut to = vec![0u8; BYTES];
        // As ghosts travel: read into a message, and written from there.
        let copied = best(20, || to.copy_from_slice(&std::hint::black_box(from.clone())));
        std::hint::black_box(&to);
        let copies = BYTES as f64 / copied;
        let Some(ranks) = ranks::world() else {
            return Self {
                latency: 0.0,
                bandwidth: f64::INFINITY,
                copies,
            };
        };
        let mut come = [to.clone(), to];
        let mut swap = |bytes: usize| {
            let [below, above] = &mut come;
            best(20, || {
                ranks.swap([&from[..bytes]; 2], [&mut below[..bytes], &mut above[..bytes]], None);
            })
        };
        // The first messages make connections.
        swap(8);
        let [latency, large] = ranks::agree([swap(8), swap(BYTES)]);
        Self {
            latency,
            bandwidth: BYTES as f64 / (large - latency).max(1e-9),
            copies,
        }
    }
}

/// The sites of a row of the axis that is cut, the bytes of one that travel, and the site-steps per second of one process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Sites of a row.
    pub sites: f64,
    /// Bytes of a site.
    pub bytes: f64,
    /// Site-steps per second and process, of a grid in one part.
    pub rate: f64,
}

/// The share of `processes` times the rate of one part that the model expects of a grid which is cut so.
#[expect(clippy::cast_precision_loss, reason = "rows and steps are far below 2^52")]
pub fn expected(cutting: &Cutting, processes: usize, load: Load, costs: Costs) -> f64 {
    let (parts, steps) = (cutting.rows.len(), cutting.every as f64);
    let time = |process: usize| {
        let own = process * parts / processes..(process + 1) * parts / processes;
        let rows: usize = own
            .clone()
            .map(|part| cutting.rows[part] + cutting.ghosts[part].iter().sum::<usize>())
            .sum();
        let ghosts: usize = own.clone().flat_map(|part| cutting.ghosts[part]).sum();
        // What lies at the ends of a process comes from another one.
        let outer = [cutting.ghosts[own.start][0], cutting.ghosts[own.end - 1][1]];
        let (sent, copied) = if processes > 1 {
            (outer[0].max(outer[1]), ghosts - outer[0] - outer[1])
        } else {
            (0, ghosts)
        };
        let bytes = |rows: usize| rows as f64 * load.sites * load.bytes;
        let latency = if sent > 0 { costs.latency } else { 0.0 };
        steps * rows as f64 * load.sites / load.rate
            + bytes(copied) / costs.copies
            + latency
            + bytes(sent) / costs.bandwidth
    };
    let slowest = (0..processes).map(time).fold(0.0, f64::max);
    let all = cutting.rows.iter().sum::<usize>() as f64 * load.sites;
    // Rounding alone can exceed 1 where nothing is copied.
    (steps * all / (slowest * processes as f64 * load.rate)).min(1.0)
}

/// What is measured of a case.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The grid of one part.
    pub size: &'a [usize],
    /// Lines in `[solver]` in addition to `parts`.
    pub extra: &'a str,
    /// Numbers of parts, those only expected as well.
    pub parts: &'a [usize],
    /// Seconds a figure.
    pub seconds: f64,
    /// The same medium everywhere.
    pub uniform: bool,
}

/// Measures a case in one part and in several, each of them passed to `found`, with the expected rate. Among processes one number of parts is measured, one of each, and
/// the rate of one part is the mean of what all of them reach at the same time, each by itself.
///
/// # Errors
/// What keeps the case from running.
#[expect(clippy::cast_precision_loss, reason = "counts of sites and processes")]
pub fn measure_scaling(
    case: &Case,
    asked: &Asked,
    costs: Costs,
    mut found: impl FnMut(Scaled),
) -> Result<(), EngineError> {
    let processes = ranks::world().map_or(1, Ranks::count);
    let unbounded = Bounds {
        copy: f64::INFINITY,
        fma: f64::INFINITY,
    };
    let run = |case: &Case, size: &[usize], parts: usize| {
        let extra = format!("{}parts = {parts}\n", asked.extra);
        measure(case, size, &extra, asked.seconds, unbounded, asked.uniform)
    };
    let (one, _) = ranks::alone(|| run(case, asked.size, 1))?;
    // Parts of other sizes take the same variant.
    let case = &Case {
        variant: one.variant,
        ..*case
    };
    let rate = match ranks::world() {
        None => one.site_steps_per_s,
        Some(ranks) => {
            let all = ranks.gather(&one.site_steps_per_s.to_le_bytes());
            let rates = all
                .iter()
                .map(|bytes| f64::from_le_bytes(bytes[..].try_into().unwrap_or_default()));
            rates.sum::<f64>() / processes as f64
        }
    };
    for growth in Growth::values() {
        for &parts in asked.parts {
            let size = growth.size(asked.size, parts);
            if parts == 1 && growth == Growth::Weak {
                // The same as before.
                continue;
            }
            // Of a launcher's processes every one has a part; other numbers are only expected.
            let shared = if processes > 1 { parts } else { 1 };
            let text = scene(case, &size, asked.extra);
            let (_, scenario) = ranks::alone(|| solver::read_scene_text(&text, None, &[]))
                .map_err(|faults| SolverError::Unsupported(faults.render(false)))?;
            let Some(cutting) = solver::cutting(case.method, &scenario, parts) else {
                continue;
            };
            let load = Load {
                sites: size[..size.len() - 1].iter().product::<usize>() as f64,
                // ψ, two levels of the pressure, or displacements and momenta.
                bytes: 2.0 * case.precision.bytes() as f64,
                rate,
            };
            let entry = match parts {
                1 => Some(one.clone()),
                _ if processes == 1 || parts == processes => Some(run(case, &size, parts)?.0),
                _ => None,
            };
            let rate_of_all = shared as f64 * rate;
            found(Scaled {
                method: one.method,
                variant: one.variant,
                precision: one.precision,
                order: case.order,
                growth,
                parts,
                processes: shared,
                threads: one.threads,
                ghosts: cutting.ghosts.iter().flatten().copied().max().unwrap_or(0),
                every: cutting.every,
                site_steps_per_s: entry.as_ref().map(|entry| entry.site_steps_per_s),
                efficiency: entry.as_ref().map(|entry| entry.site_steps_per_s / rate_of_all),
                range: entry.as_ref().map(|entry| [entry.min, entry.max]),
                expected_efficiency: expected(&cutting, shared, load, costs),
                size,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load {
        sites: 1000.0,
        bytes: 8.0,
        rate: 1e9,
    };

    const FREE: Costs = Costs {
        latency: 0.0,
        bandwidth: f64::INFINITY,
        copies: f64::INFINITY,
    };

    fn cut(rows: &[usize], ghosts: &[[usize; 2]]) -> Cutting {
        Cutting {
            rows: rows.to_vec(),
            ghosts: ghosts.to_vec(),
            every: 8,
        }
    }

    #[test]
    fn ghosts_and_messages_cost_what_they_weigh() {
        let one = cut(&[100], &[[0, 0]]);
        assert!((expected(&one, 1, LOAD, FREE) - 1.0).abs() < 1e-12);
        // Whatever was measured, one part is expected to reach itself and no more.
        for rate in 1..200 {
            let rate = 1e7 / f64::from(rate);
            let found = expected(&one, 1, Load { rate, ..LOAD }, FREE);
            assert!(found <= 1.0 && found > 1.0 - 1e-12, "{rate}: {found}");
        }
        // 36 rows more than 100 are stepped, by all threads of one process or by two of them.
        let two = cut(&[50, 50], &[[0, 18], [18, 0]]);
        assert!((expected(&two, 1, LOAD, FREE) - 100.0 / 136.0).abs() < 1e-12);
        assert!((expected(&two, 2, LOAD, FREE) - 50.0 / 68.0).abs() < 1e-12);
        // 8 · 68 · 1000 site-steps take 544 µs, a message 100 µs beside.
        let slow = Costs { latency: 1e-4, ..FREE };
        assert!((expected(&two, 2, LOAD, slow) - 400.0 / 644.0).abs() < 1e-12);
        assert!((expected(&two, 1, LOAD, slow) - 100.0 / 136.0).abs() < 1e-12);
        // 18 · 1000 · 8 bytes in 144 µs.
        let thin = Costs { bandwidth: 1e9, ..FREE };
        assert!((expected(&two, 2, LOAD, thin) - 400.0 / 688.0).abs() < 1e-12);
        // The slowest process counts.
        let uneven = cut(&[30, 70], &[[0, 18], [18, 0]]);
        assert!((expected(&uneven, 2, LOAD, FREE) - 50.0 / 88.0).abs() < 1e-12);
    }

    #[test]
    fn a_weak_grid_grows_along_the_axis_that_is_cut() {
        assert_eq!(Growth::Weak.size(&[16, 24], 3), [16, 72]);
        assert_eq!(Growth::Strong.size(&[16, 24], 3), [16, 24]);
    }
}
