//! The words of every conclusion, in one table.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Faster,
    Slower,
    /// One is faster than another under some of several loads.
    FasterUnderLoads,
    SlowerUnderLoads,
    /// Two do not differ by the least difference.
    NoDifference,
    /// They differ, but whether by the least difference is not shown.
    SlightlyFaster,
    SlightlySlower,
    /// Neither a difference nor that there is none is shown.
    Undecided,
    /// A single round or trial shows no difference.
    NotRepeated,
    /// Nothing has the figure of both.
    NotCompared,
    /// How often the servers of both crashed.
    Crashes,
    /// Throughput stops growing at a number of clients.
    ThroughputStops,
    /// Whether it grows beyond a number of clients is not shown.
    ThroughputUndecided,
    /// Throughput grows up to the highest number of clients.
    ThroughputGrows,
    /// Arrivals are answered up to a rate.
    RateKept,
    EveryRateKept,
    NoRateKept,
    /// Throughput and latency under one load.
    Measured,
    Capacity,
    CapacityUnknown,
    /// A score of several trials together, or why there is none.
    Composite,
    /// The queries of a set that took longest.
    SlowestQueries,
    /// What holds a system back under a load.
    Limit,
    /// How near the load came to what its path carries.
    PathReached,
    /// Every trial behind an answer is invalid.
    NotBelieved,
    Nothing,
    /// How many trials are valid, doubtful, invalid.
    TrialsValid,
    TrialsDoubtful,
    TrialsInvalid,
    /// What weakens the run as a whole.
    RunDoubtful,
}

impl Code {
    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    pub(super) fn template(self) -> &'static str {
        self.row().1
    }

    /// In a few words, for a place that names system and workload itself; `None` where the sentence is as short.
    pub(super) fn short(self) -> Option<&'static str> {
        Some(match self {
            Self::ThroughputStops => {
                "Stops growing at {clients:client|clients}[ ({drop} at {most_clients})]"
            }
            Self::ThroughputUndecided => {
                "Growth from {clients} to {more_clients} clients not shown ({change})"
            }
            Self::ThroughputGrows => {
                "Still grows at {clients:client|clients} ({change} over {before_clients})"
            }
            Self::RateKept => {
                "{kept_per_s} per s are answered as they arrive; of {missed_per_s} only {achieved_per_s}"
            }
            Self::EveryRateKept => "Every rate is answered as it arrives, up to {kept_per_s} per s",
            Self::NoRateKept => {
                "Of {missed_per_s} per s, the lowest rate, {achieved_per_s} are answered"
            }
            Self::SlowestQueries => "The longest: {queries}",
            Self::Limit => "Why: {answer}",
            Self::NotBelieved => "Not to be believed: every trial is invalid ({why})",
            Self::Faster => "Faster: {figure} {change} (95 %: {low} to {high})[, {repeated}]",
            Self::Slower => "Slower: {figure} {change} (95 %: {low} to {high})[, {repeated}]",
            Self::FasterUnderLoads => {
                "Faster under {decided} of {loads} loads: {figure} {least_change}[ to {most_change}]\
                 [; slower under {opposite}][, {repeated}]"
            }
            Self::SlowerUnderLoads => {
                "Slower under {decided} of {loads} loads: {figure} {least_change}[ to {most_change}]\
                 [; faster under {opposite}][, {repeated}]"
            }
            Self::NoDifference => "No difference larger than {largest} in {figure}[, {repeated}]",
            Self::SlightlyFaster | Self::SlightlySlower => {
                "Perhaps by less than matters: {figure} {least_change} (95 %: {low} to {high})[, {repeated}]"
            }
            Self::Undecided => {
                "Not decided: {figure} {least_change}[ to {most_change}][ (95 %: {low} to {high})]\
                 [ under {loads} loads (95 %: {lowest} to {highest})][, {repeated}]"
            }
            Self::NotRepeated => {
                "Not known: one measurement of each shows no difference ({figure} {least_change}[ to {most_change}])"
            }
            Self::TrialsDoubtful => "{doubtful} of {trials:trial|trials} doubtful: {why}",
            Self::TrialsInvalid => "{invalid} of {trials:trial|trials} invalid: {why}",
            Self::RunDoubtful => "The run as a whole: {why}",
            _ => return None,
        })
    }

    /// What several of them have in common, and what distinguishes each after its name.
    pub(super) fn listed(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::ThroughputStops => ("Stops growing", "at {clients:client|clients}"),
            Self::ThroughputUndecided => {
                ("Growth not shown", "from {clients} to {more_clients} clients ({change})")
            }
            Self::ThroughputGrows => ("Still grows", "at {clients:client|clients} ({change})"),
            _ => return None,
        })
    }

    /// Whether it answers a question of the plan.
    pub(crate) fn is_answer(self) -> bool {
        !matches!(
            self,
            Self::TrialsValid | Self::TrialsDoubtful | Self::TrialsInvalid | Self::RunDoubtful
        )
    }

    /// Name and template. The values of a template that are between brackets may be missing.
    #[expect(clippy::too_many_lines, reason = "it is one table")]
    fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::Faster => (
                "faster",
                "{candidate} is faster than {baseline}[ under {workload}]: {figure} {change} (95 % interval {low} to \
                 {high})[, {repeated}][, over {loads} loads together, of which \
                 {alike:load|loads} alone would show it]",
            ),
            Self::Slower => (
                "slower",
                "{candidate} is slower than {baseline}[ under {workload}]: {figure} {change} (95 % interval {low} to \
                 {high})[, {repeated}][, over {loads} loads together, of which \
                 {alike:load|loads} alone would show it]",
            ),
            Self::FasterUnderLoads => (
                "faster-under-loads",
                "{candidate} is faster than {baseline} under {decided} of {loads} loads[ of {workload}]: {figure} \
                 {least_change}[ to {most_change}][; it is slower under {opposite}][, {repeated}]",
            ),
            Self::SlowerUnderLoads => (
                "slower-under-loads",
                "{candidate} is slower than {baseline} under {decided} of {loads} loads[ of {workload}]: {figure} \
                 {least_change}[ to {most_change}][; it is faster under {opposite}][, {repeated}]",
            ),
            Self::NoDifference => (
                "no-difference",
                "{candidate} and {baseline} show no difference[ under {workload}] larger than {largest} in {figure}[, \
                 under {loads} loads][, {repeated}]",
            ),
            Self::SlightlyFaster => (
                "slightly-faster",
                "{candidate} is faster than {baseline}[ under {workload}], but perhaps by less than matters: {figure} \
                 {least_change} (95 % interval {low} to {high})[, {repeated}; more \
                 {repetitions} would narrow it]",
            ),
            Self::SlightlySlower => (
                "slightly-slower",
                "{candidate} is slower than {baseline}[ under {workload}], but perhaps by less than matters: {figure} \
                 {least_change} (95 % interval {low} to {high})[, {repeated}; more \
                 {repetitions} would narrow it]",
            ),
            Self::Undecided => (
                "undecided",
                "Whether {candidate} or {baseline} is faster[ under {workload}] is not decided: {figure} of {candidate} \
                 {least_change}[ to {most_change}][ (95 % interval {low} to {high})][ under {loads} loads][, with 95 % \
                 intervals from {lowest} to {highest}][, {repeated}; more {repetitions} \
                 would narrow it]",
            ),
            Self::NotRepeated => (
                "not-repeated",
                "Whether {candidate} or {baseline} is faster[ under {workload}] is not known: {figure} of {candidate} \
                 {least_change}[ to {most_change}][ under {loads} loads], and one measurement of each shows no \
                 difference, however large",
            ),
            Self::NotCompared => (
                "not-compared",
                "{candidate} is not compared with {baseline}[ under {workload}]: the {figure} of both is not known in \
                 the rounds or trials that ran to their end",
            ),
            Self::Crashes => (
                "crashes",
                "{candidate} crashed in {crashed} of {trials:trial|trials}, {baseline} in {baseline_crashed} of \
                 {baseline_trials:trial|trials}: {verdict} (p {p_value}); figures are those of the trials that survived",
            ),
            Self::ThroughputStops => (
                "throughput-stops-growing",
                "{system}, {workload}: throughput stops growing at {clients:client|clients}, with {per_s} per s[; \
                 {highest_per_s} with {highest_clients} is not higher by {least} or more][; \
                 at {most_clients} clients it is {drop:higher|lower}][; with {most_clients} clients {percentile} is \
                 {most_ns}][ {most_more}][, instead of {latency_ns}][ {more}][; the curve of the {law} is highest at \
                 {peak_clients} (95 % interval {peak_low} to {peak_high}), with {peak_per_s} per s]",
            ),
            Self::ThroughputUndecided => (
                "throughput-growth-undecided",
                "{system}, {workload}: growth of throughput beyond {clients:client|clients}, with {per_s} per s, is not \
                 decided: at {more_clients} clients it is {change:higher|lower}[ (95 % interval {low} to \
                 {high})], {repeated}; more trials would narrow it[; {percentile} is \
                 {latency_ns}][ {more}][; with {most_clients} clients it is {most_ns}][ {most_more}][; the curve of \
                 the {law} is highest at {peak_clients} (95 % interval {peak_low} to {peak_high}), with {peak_per_s} \
                 per s]",
            ),
            Self::ThroughputGrows => (
                "throughput-grows",
                "{system}, {workload}: throughput still grows at {clients:client|clients}, the most that were \
                 measured: {per_s} per s, {change:higher|lower} than with {before_clients:client|clients}[; {percentile} is \
                 {latency_ns}][ {more}][; by the curve of the {law} it would change by {twice} with {twice_clients} clients \
                 (95 % interval {twice_low} to {twice_high})]",
            ),
            Self::RateKept => (
                "rate-kept",
                "{system}, {workload}: {kept_per_s} per s are answered as they arrive[, {percentile} \
                 {latency_ns}][ {more}]; of {missed_per_s} per s {achieved_per_s} are",
            ),
            Self::EveryRateKept => (
                "every-rate-kept",
                "{system}, {workload}: every rate is answered as it arrives, up to {kept_per_s} per s[, {percentile} \
                 {latency_ns}][ {more}]",
            ),
            Self::NoRateKept => (
                "no-rate-kept",
                "{system}, {workload}: not even the lowest rate is answered as it arrives: of {missed_per_s} per s \
                 {achieved_per_s} are",
            ),
            Self::Measured => (
                "measured",
                "{system}, {workload}, {load}: {per_s} {event}[ (95 % interval {low} to {high})][, \
                 {percentile} {latency_ns}][ {more}][; {score} {score_name}]",
            ),
            Self::Capacity => ("capacity", "{of}: {answer}"),
            Self::CapacityUnknown => ("capacity-unknown", "{of}: {answer}"),
            Self::Composite => ("composite", "{answer}"),
            Self::SlowestQueries => (
                "slowest-queries",
                "{system}, {workload}: the longest are {queries}, together {share} of the time of all",
            ),
            Self::Limit => ("limit", "What holds {trial} back: {answer}"),
            Self::PathReached => (
                "path-reached",
                "{trial} came nearest to what its path carries: {single} of the requests per second with one in \
                 flight on each connection[, {pipelined} of those with several]",
            ),
            Self::NotBelieved => (
                "not-believed",
                "No result for {of}[ under {workload}]: each of its trials is invalid ({why})",
            ),
            Self::Nothing => ("nothing", "No result: {why}"),
            Self::TrialsValid => ("trials-valid", "Valid: {valid} of {trials:trial|trials}"),
            Self::TrialsDoubtful => {
                ("trials-doubtful", "Doubtful: {doubtful} of {trials:trial|trials} ({why})")
            }
            Self::TrialsInvalid => (
                "trials-invalid",
                "Invalid, not to be believed: {invalid} of {trials:trial|trials} ({why})",
            ),
            Self::RunDoubtful => ("run-doubtful", "Of the run as a whole: {why}"),
        }
    }
}

/// What follows every sentence whose trials are not all valid.
pub(super) const NOT_VALID: &str = "[; {doubtful} of {behind:trial|trials} doubtful][; {invalid} of {behind:trial|trials} invalid]";
