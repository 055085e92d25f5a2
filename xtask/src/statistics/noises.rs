//! The kinds of noise of the simulated system, and the trials of a run under them.

use super::simulated::run;

/// A kind of noise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// Keys of the system.
    keys: &'static str,
}

/// In units of trials, which take a second each.
pub(super) const KINDS: [Kind; 8] = [
    Kind { name: CONSTANT, keys: "distribution = \"constant\"" },
    Kind { name: "none", keys: LOGNORMAL },
    Kind { name: "heavy-tailed services", keys: "distribution = \"pareto\"\nvariation = 3" },
    Kind {
        name: "autocorrelated, 0.1 s",
        keys: "noise = [{ kind = \"autocorrelated\", deviation = 0.05, time = \"100ms\" }]",
    },
    Kind {
        name: "autocorrelated, 10 s",
        keys: "noise = [{ kind = \"autocorrelated\", deviation = 0.05, time = \"10s\" }]",
    },
    Kind {
        name: "two states, 5 s each",
        keys: "noise = [{ kind = \"two-state\", slow = 1.2, fast_for = \"5s\", slow_for = \"5s\" }]",
    },
    Kind {
        name: "pauses, heavy-tailed",
        keys: "noise = [{ kind = \"pauses\", every = \"1s\", for = \"20ms\", shape = 1.5 }]",
    },
    Kind {
        name: "drift of 20 %",
        keys: "noise = [{ kind = \"drift\", change = 0.2, over = \"12s\" }]",
    },
];

const CONSTANT: &str = "none, constant services";
/// How services vary where a kind does not say so.
const LOGNORMAL: &str = "distribution = \"lognormal\"\nvariation = 0.5";

impl Kind {
    /// Whether all services take equally long.
    pub(super) fn is_constant(&self) -> bool {
        self.name == CONSTANT
    }

    /// Transactions a second of so many trials of a run, one directly after the other: two clients on two servers of a
    /// millisecond, for a second.
    ///
    /// # Errors
    /// When they could not run.
    pub(super) fn throughputs(&self, seed: u64, count: usize) -> anyhow::Result<Vec<f64>> {
        let services = if self.keys.contains("distribution") { "" } else { LOGNORMAL };
        let plan = format!(
            "repetitions = {count}\n[systems.simulated]\nservers = 2\n{services}\n{}\n\
             [load]\nclients = 2\nwarm_up = \"0s\"\ntime = \"1s\"\n",
            self.keys
        );
        let trials = run(&plan, seed)?.trials.into_iter();
        Ok(trials.map(|trial| trial.total.transactions as f64 / trial.seconds()).collect())
    }
}
