//! Walls, constants and kernels of a run.

use super::bonds::{Layout, OwnBonds};
use super::choice::{Schedule, takes_whole_steps};
use super::pieces::{Plane, WallMap};
use super::rungs::Rungs;
use super::sources::Flags;
use super::tiles::Tiles;
use super::{Cuda, OWN_ENTRIES, OnCuda, launch, sources, space};
use crate::backend::cuda::CudaError;
use crate::solver::device::rows::keep_rows;
use crate::solver::totals::Region;
use crate::solver::trotter::differs;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::scheme::{Scheme, Sweep};

impl<T: OnCuda> Cuda<T> {
    /// The plane of x and y, with what is summed over by kernels that do; none: by the others.
    pub(super) fn plane_to_cut<'a>(&'a self, regions: Option<&'a [Region]>) -> Plane<'a> {
        let [nx, ny, _] = self.grid.size();
        Plane {
            size: [nx, ny],
            periodic: [0, 1].map(|axis| self.grid.is_periodic(axis)),
            walls: self.wall_map.as_ref(),
            sums: regions.is_some(),
            regions: regions.unwrap_or_default(),
            plain: None,
        }
    }

    /// What differs from bond to bond, from site to site, or between components; for whole steps in three dimensions, of every site whether one of its bonds is unlike most
    /// others.
    fn take_over_own(
        &mut self,
        problem: &Problem,
        scheme: &Scheme,
        walls: Option<&[bool]>,
    ) -> Result<Option<Vec<bool>>, CudaError> {
        let mut unlike = None;
        debug_assert!(
            self.schedule == Schedule::Naive || !differs(&problem.medium) || takes_whole_steps(problem),
            "what differs has whole steps"
        );
        self.own.alike = problem.alike();
        self.own.strengths = problem.strengths.is_some();
        self.own.phase_strengths = problem.phase_strengths().is_some();
        self.own.cross = problem.medium.cross_interaction();
        self.own.phase_cross = problem.phase_cross_interaction();
        // The old ones make room first.
        (self.own.bonds, self.own.rungs) = (None, None);
        let by_sweeps = self.schedule == Schedule::Naive;
        if let Some(bonds) = &problem.bonds {
            let layout = Layout {
                grid: &self.grid,
                pitch: self.pitch,
                walls,
            };
            let sweeps: Vec<Sweep> = (scheme.substeps.iter())
                .filter(|_| by_sweeps)
                .flat_map(|substep| substep.sweeps(self.grid.rank()))
                .collect();
            let imaginary = scheme.imaginary;
            self.own.bonds = Some(OwnBonds::new(&self.stream, layout, bonds, (&sweeps, imaginary))?);
            if !by_sweeps {
                let (rungs, marks) = Rungs::new(&self.stream, layout, bonds, (scheme, self.own.alike))?;
                self.own.rungs = Some(rungs);
                if self.grid.rank() == 2 {
                    self.wall_map = Some(WallMap::new(self.grid.size()[0], &marks));
                }
                unlike = Some(marks);
            }
        }
        if by_sweeps && differs(&problem.medium) && self.own.kernels.is_none() {
            let load = |entry| self.stream.kernel(sources::bonds(T::PRECISION), entry, 0);
            let [x, rows, phases, components] = OWN_ENTRIES;
            self.own.kernels = Some([load(x)?, load(rows)?, load(phases)?, load(components)?]);
        }
        Ok(unlike)
    }

    pub(super) fn take_over(
        &mut self,
        problem: &Problem,
        scheme: &Scheme,
        walls: Option<&[bool]>,
    ) -> Result<(), CudaError> {
        // Walls and tables may be replaced, and the picture under way may read them.
        self.side.finish()?;
        let count = self.pitch * self.grid.rows();
        while self.tables.len() < scheme.tables.len() {
            self.tables
                .push([self.stream.zeros("phases", count)?, self.stream.zeros("phases", count)?]);
        }
        self.tables.truncate(scheme.tables.len());
        self.wall_map = walls
            .filter(|_| self.grid.rank() == 2)
            .map(|walls| WallMap::new(self.grid.size()[0], walls));
        self.summing().cut_again();
        let nx = self.grid.size()[0];
        let row = walls.map(|walls| {
            move |n: usize, out: &mut [u8]| {
                for (out, wall) in out.iter_mut().zip(&walls[n * nx..]) {
                    *out = u8::from(*wall);
                }
            }
        });
        let shape = [nx, self.grid.rows(), self.pitch];
        keep_rows(&self.stream, "walls", shape, &mut self.walls, row)?;
        let quantum = &problem.quantum;
        (self.flux, self.hopping, self.interaction) = (quantum.flux, quantum.hopping, quantum.interaction);
        self.phase_interaction = problem.phase_interaction();
        self.flags = Flags {
            nested: scheme.substeps[0].outer.is_some(),
            // Bonds that differ have their phases with them.
            flux: quantum.flux != 0.0 && problem.bonds.is_none(),
            interaction: self.phase_interaction != 0.0,
            imaginary: scheme.imaginary,
            own: self.schedule != Schedule::Naive && problem.bonds.is_some(),
        };
        let unlike = self.take_over_own(problem, scheme, walls)?;
        let ny = self.grid.size()[1];
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let gauge = |y: usize| (-std::f64::consts::TAU * quantum.flux * self.grid.global(1, y) as f64).sin_cos();
        let cosines: Vec<T> = (0..ny).map(|y| T::of(gauge(y).1)).collect();
        let sines: Vec<T> = (0..ny).map(|y| T::of(gauge(y).0)).collect();
        let planes = [
            self.stream.zeros("bond phases", ny)?,
            self.stream.zeros("bond phases", ny)?,
        ];
        self.stream.upload("bond phases", &cosines, &planes[0])?;
        self.stream.upload("bond phases", &sines, &planes[1])?;
        self.gauge = Some(planes);
        self.fused.clear();
        self.tiles = None;
        if self.schedule != Schedule::Naive && self.grid.rank() == 1 {
            let load = |entry| self.stream.kernel(sources::line(T::PRECISION), entry, 0);
            self.line = Some([load("line_steps")?, load("summing_steps")?]);
        } else if self.schedule != Schedule::Naive && self.grid.rank() == 3 {
            let [nx, ..] = self.grid.size();
            let most = self.stream.device().most_shared();
            let aligned = nx % (16 / T::PRECISION.bytes()) == 0;
            self.space.clear();
            for shape in space::shapes(T::PRECISION, self.flags.interaction, self.flags.own) {
                let asked = (shape.steps == 1 || self.schedule.fuses())
                    && self.asked_steps.is_none_or(|steps| shape.steps as usize <= steps);
                if asked && aligned && shape.shared() <= most {
                    let marks = unlike.as_deref();
                    self.space
                        .push(space::Loaded::new(&self.stream, shape, &self.grid, marks)?);
                }
            }
            if self.space.is_empty() {
                let shape = sources::bare(T::PRECISION);
                let plane = self.plane_to_cut(None);
                let planes = self.grid.size()[2];
                let fused = launch::Fused::new(&self.stream, shape, T::PRECISION, &plane, planes)?;
                self.fused.push(fused);
            }
        } else if self.schedule != Schedule::Naive {
            let shapes = match self.asked_steps {
                Some(steps) if self.schedule == Schedule::Fused => sources::shapes_of(T::PRECISION, self.flags, steps)?,
                _ => sources::shapes(T::PRECISION, self.flags),
            };
            for shape in shapes {
                if shape.steps == 1 || self.schedule.fuses() {
                    let plane = self.plane_to_cut(None);
                    let fused = launch::Fused::new(&self.stream, shape, T::PRECISION, &plane, 1)?;
                    self.fused.push(fused);
                }
            }
            if self.may_tile() {
                self.tiles = Tiles::new(&self.stream, T::PRECISION, self.flags, self.asked_steps)?;
            }
            if self.schedule == Schedule::Tiles {
                let strips = "no tiles have what this scene asks in this precision, or the device has too little shared memory for them; this is fused";
                self.because = self.tiles.is_none().then(|| strips.to_owned());
            }
        }
        self.compare(scheme)
    }
}
