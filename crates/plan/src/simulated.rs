//! A simulated system whose response times and noise are set in the plan.

/// Servers behind one queue, first come, first served.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedSystem {
    /// How many requests are served at once, at least 1.
    pub servers: usize,
    /// Kinds of requests, at least 1; requests are of each kind in turn.
    pub operations: u16,
    /// Service times, ns; requests use them in turn, cyclically. Not empty.
    pub service_times_ns: Vec<u64>,
    /// How the service time of a request varies around its own of these.
    pub distribution: ServiceDistribution,
    /// Periods without service, in order and disjoint.
    pub stalls: Vec<Stall>,
    /// What makes the whole system faster and slower over time; the factors multiply.
    pub noise: Vec<Noise>,
}

/// A period in which every server is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Its start on the trial's clock, warm-up included, ns.
    pub at_ns: u64,
    pub length_ns: u64,
}

/// Distribution of a factor with mean 1, drawn for each request. `variation` is its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServiceDistribution {
    /// Always 1.
    Constant,
    /// Exponential; its standard deviation is 1.
    Exponential,
    Lognormal {
        variation: f64,
    },
    /// Pareto, with the shape that has this standard deviation.
    Pareto {
        variation: f64,
    },
    /// Most requests take half of the mean, the others equally long.
    Bimodal {
        variation: f64,
    },
}

/// Noise over time. It goes on from trial to trial of a run, as that of a machine does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Service times are multiplied by a lognormal factor with mean 1, whose logarithm is an autoregressive process of
    /// order 1.
    Autocorrelated {
        /// Standard deviation of the logarithm.
        deviation: f64,
        /// The time after which the autocorrelation is 1/e, ns.
        time_ns: u64,
    },
    /// Service times are as set for a while, then longer for a while; both lengths are exponential.
    TwoStates {
        slow: f64,
        /// Mean length of the fast state, ns.
        fast_ns: u64,
        /// Mean length of the slow state, ns.
        slow_ns: u64,
    },
    /// Nothing is served now and then, for times with a heavy tail (Pareto).
    Pauses {
        /// Mean time from one pause to the next, ns.
        every_ns: u64,
        length_ns: u64,
        /// Shape of the Pareto distribution, above 1; from 2 down the variance is infinite.
        shape: f64,
    },
    /// Service times grow or shrink along a straight line.
    Drift {
        /// The relative change, such as 0.1.
        change: f64,
        /// The time in which it comes about, ns.
        over_ns: u64,
    },
    /// Services take longer after each start of the system, as with cold caches.
    Warm {
        slow: f64,
        slow_ns: u64,
        /// The time in which the factor then falls to 1 along a straight line, ns; 0 for a step.
        falling_ns: u64,
    },
    /// Service times rise and fall along a sine.
    Wave {
        /// The largest relative change, below 1.
        swing: f64,
        /// The time from one crest to the next, ns.
        period_ns: u64,
    },
}
