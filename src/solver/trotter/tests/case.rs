//! A case: its features, and the random field and media that it stands for.

use crate::field::FieldData;
use crate::grid::{Edge, Grid};
use crate::physics::expression::TIME;
use crate::physics::layer::Samples;
use crate::physics::noise::Noise;
use crate::physics::reference::Lattice;
use crate::physics::{Bonds, Expression, Initial, Layer, Medium, Mode, Quantum, Sets, Shape, Value};
use crate::solver::trotter::problem::{self, Problem};
use num_complex::Complex64;
use std::sync::Arc;

/// What a case has.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) size: Vec<usize>,
    pub(super) edges: [Edge; 3],
    pub(super) order: u32,
    pub(super) dt: f64,
    pub(super) walls: bool,
    pub(super) absorb: bool,
    pub(super) drive: bool,
    pub(super) flux: f64,
    pub(super) interaction: f64,
    pub(super) imaginary: bool,
    /// Layers of hopping, in a frame that rotates along z alone, and flux.
    pub(super) bonds: bool,
    /// Ω of the frame.
    pub(super) rotation: f64,
    /// g₁₂ of the two sites of the last axis.
    pub(super) cross: f64,
    /// A layer that sets the interaction.
    pub(super) uneven: bool,
}

impl Case {
    pub(super) fn new(size: &[usize], order: u32) -> Self {
        Self {
            size: size.to_vec(),
            edges: [Edge::Wall; 3],
            order,
            dt: 0.13,
            walls: false,
            absorb: false,
            drive: false,
            flux: 0.0,
            interaction: 0.0,
            imaginary: false,
            bonds: false,
            rotation: 0.0,
            cross: 0.0,
            uneven: false,
        }
    }

    pub(super) fn grid(&self) -> Grid {
        Grid::new(&self.size, 0.5).with_edges(self.edges, 3)
    }

    pub(super) fn problem(&self) -> Problem {
        let grid = self.grid();
        let mut random = Noise::new(self.size.iter().sum::<usize>() as u64 + 17);
        let mut layers = vec![array(&grid, Sets::Potential, None, || random.signed())];
        if self.walls {
            layers.push(array(&grid, Sets::Wall, None, || {
                f64::from(u8::from(random.signed() > 0.6))
            }));
        }
        if self.absorb {
            layers.push(array(&grid, Sets::Absorption, None, || random.signed().abs()));
        }
        if self.drive {
            layers.push(array(&grid, Sets::Potential, Some("sin(3*t)"), || random.signed()));
        }
        if self.bonds {
            // A frame that rotates has one mass in its plane.
            let first = if self.rotation == 0.0 { 0 } else { 2 };
            for axis in first..grid.rank() {
                layers.push(Layer {
                    axis: Some(axis),
                    ..array(&grid, Sets::Hopping, None, || random.signed())
                });
            }
            // A flux on a torus would have to be whole in every column.
            if grid.rank() > 1 && !grid.is_periodic(1) {
                layers.push(array(&grid, Sets::Flux, None, || random.signed()));
            }
        }
        if self.uneven {
            layers.push(array(&grid, Sets::Interaction, None, || 0.4 * random.signed()));
        }
        let quantum = Quantum {
            hopping: 1.1,
            diagonal: 0.3,
            // Bonds that differ make the diagonal differ where the scene gives a mass.
            mass: self.bonds.then_some(1.0),
            interaction: self.interaction,
            flux: self.flux,
        };
        let medium = Medium::new(grid.clone(), layers);
        let medium = medium.rotating(self.rotation, quantum.effective_mass(grid.spacing()));
        let medium = Arc::new(medium.with_cross_interaction(self.cross));
        Problem {
            strengths: problem::strengths(&quantum, &medium),
            bonds: Bonds::of(&quantum, &medium).map(Arc::new),
            medium,
            grid,
            quantum,
            time_step: self.dt,
            imaginary: self.imaginary,
            order: self.order,
        }
    }

    pub(super) fn initial(&self) -> Initial {
        let grid = self.grid();
        let mut random = Noise::new(5);
        let mut values: Vec<Complex64> = (0..grid.sites())
            .map(|_| Complex64::new(random.signed(), random.signed()))
            .collect();
        let lattice = self.lattice();
        for (value, wall) in values.iter_mut().zip(lattice.walls()) {
            if *wall {
                *value = Complex64::ZERO;
            }
        }
        Initial::Array(Arc::new(FieldData::Complex128(values)))
    }

    pub(super) fn initial_values(&self) -> Vec<Complex64> {
        match self.initial() {
            Initial::Array(data) => data.to_complex128(),
            _ => unreachable!("cases start from arrays"),
        }
    }

    pub(super) fn lattice(&self) -> Lattice {
        let problem = self.problem();
        Lattice::new(
            &problem.grid,
            &problem.quantum,
            &problem.medium,
            problem.quantum.absorption_scale(),
        )
    }
}

/// A layer of such values.
pub(super) fn array(grid: &Grid, sets: Sets, drive: Option<&str>, mut value: impl FnMut() -> f64) -> Layer {
    Layer {
        mode: Mode::Add,
        drive: drive.map(|text| Expression::parse(text, TIME).unwrap()),
        ..Layer::new(
            sets,
            Shape::Array(Arc::new(Samples {
                size: grid.size(),
                values: (0..grid.sites()).map(|_| value()).collect(),
                file: "random".into(),
            })),
            Value::Number(1.0),
        )
    }
}
