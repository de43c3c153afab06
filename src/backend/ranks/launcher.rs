//! Whether this process was started as one of several, and by whom.

/// How a launcher talks to its processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    /// PMIx: Open MPI, and Slurm with `--mpi=pmix`.
    Pmix,
    /// PMI: MPICH, Intel MPI, Cray, and Slurm otherwise.
    Pmi,
}

/// What started this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launcher {
    pub(super) name: &'static str,
    pub(super) wire: Wire,
    /// Processes that it started.
    pub(super) count: usize,
    /// Those of them on this host, where that is known.
    pub(super) here: Option<usize>,
}

impl Launcher {
    /// The launcher, from the variables that it sets; `None` where this process is alone.
    pub(super) fn seen(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |key: &str| variable(key)?.trim().parse::<usize>().ok();
        let found = |name, wire, count: &str, here: &str| {
            number(count).map(|count| Self {
                name,
                wire,
                count,
                here: number(here),
            })
        };
        let slurm_wire = if variable("PMIX_RANK").is_some() {
            Wire::Pmix
        } else {
            Wire::Pmi
        };
        found(
            "Open MPI",
            Wire::Pmix,
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_SIZE",
        )
        .or_else(|| {
            // A batch script runs in a job of many tasks, and is one process.
            variable("SLURM_PROCID")?;
            variable("SLURM_STEP_ID")?;
            found("Slurm", slurm_wire, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS_PER_NODE")
        })
        .or_else(|| found("an MPI launcher", Wire::Pmi, "PMI_SIZE", "MPI_LOCALNRANKS"))
        .filter(|launcher| launcher.count > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(variables: &[(&str, &str)]) -> Option<Launcher> {
        Launcher::seen(|key| {
            let found = variables.iter().find(|(name, _)| *name == key);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let open = seen(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "2")]).unwrap();
        assert_eq!((open.wire, open.count, open.here), (Wire::Pmix, 4, Some(2)));
        let mpich = seen(&[("PMI_SIZE", "3"), ("PMI_RANK", "0")]).unwrap();
        assert_eq!((mpich.wire, mpich.count, mpich.here), (Wire::Pmi, 3, None));
        // One process, a batch script, nobody.
        assert_eq!(seen(&[("PMI_SIZE", "1")]), None);
        assert_eq!(seen(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "8")]), None);
        assert_eq!(seen(&[]), None);
    }
}
