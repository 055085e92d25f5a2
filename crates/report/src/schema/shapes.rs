//! The table: the objects of report.json with their keys, the forms of their values and what they mean.

use super::Field;

pub(crate) const SHAPES: &[(&str, &[Field])] = &[
    ("report", REPORT),
    ("point", POINT),
    ("trial", TRIAL),
    ("estimate", ESTIMATE),
    ("confidence", CONFIDENCE),
    ("latency", LATENCY),
    ("operation", OPERATION),
    ("interval", INTERVAL),
    ("failure", FAILURE),
    ("outage", OUTAGE),
    ("open_loop", OPEN_LOOP),
    ("queries", QUERIES),
    ("edges", EDGES),
    ("cost", COST),
    ("fairness", FAIRNESS),
    ("idle_round_trip", IDLE_ROUND_TRIP),
    ("bound", BOUND),
    ("warning", WARNING),
    ("subject", SUBJECT),
    ("conclusion", CONCLUSION),
    ("system", SYSTEM),
    ("dyno", DYNO),
    ("environment", ENVIRONMENT),
    ("generator", GENERATOR),
];

const REPORT: &[Field] = &[
    ("format", "'dyno-report'", "the name of this format"),
    ("version", "integer", "its version: keys may be added within a version"),
    ("title", "string", "title of the plan, or its name"),
    ("plan", "string", "name of the plan"),
    ("status", "string", "complete, interrupted, failed, running or cut"),
    ("reason", "string|null", "why the run failed"),
    ("started", "string", "wall clock, RFC 3339 in UTC"),
    ("ended", "string|null", "wall clock; null until the end"),
    ("command", "string", "the command line that repeats the run"),
    ("seed", "integer", "seed of every random choice"),
    ("dyno", "dyno", "the dyno that measured"),
    ("trials_planned", "integer", "how many trials the plan has"),
    ("environment", "environment", "the machine of dyno"),
    ("systems", "[system]", "the systems under test"),
    ("fail_if", "[bound]", "each bound of the run at each load"),
    ("bounds_kept", "boolean", "whether no bound is crossed or unknown"),
    ("conclusions", "[conclusion]", "what the run shows, in sentences"),
    ("scalability", "[any]", "laws of growth over clients"),
    ("seek", "any|null", "the search for a capacity"),
    ("variants", "[any]", "comparison of variants with the first of them"),
    ("points", "[point]", "one load of a workload on a system, over its repetitions"),
    ("trials", "[trial]", "each trial"),
    ("warnings", "[warning]", "findings about the run"),
];

const DYNO: &[Field] = &[
    ("version", "string", "version of dyno"),
    ("build", "string", "profile, processor and commit of its build"),
];

const ENVIRONMENT: &[Field] = &[
    ("hostname", "string|null", "name of the host"),
    ("os", "string|null", "operating system"),
    ("kernel", "string|null", "version of the kernel"),
    ("virtualization", "string|null", "signs of an emulator, a container or a hypervisor"),
    ("cpu_model", "string|null", "model of the processor"),
    ("architecture", "string|null", "its architecture"),
    ("cores", "integer|null", "cores of the machine"),
    ("threads", "integer|null", "hardware threads that are online"),
    ("usable_threads", "integer|null", "hardware threads that dyno may use"),
    ("governor", "string|null", "governor of the CPU's frequency"),
    ("memory_bytes", "integer|null", "main memory"),
    ("load_average", "[number]|null", "over 1, 5 and 15 minutes at the start"),
];

const SYSTEM: &[Field] = &[
    ("name", "string", "name in the plan"),
    ("product", "string|null", "product as the system reports it"),
    ("version", "string|null", "its version"),
    ("build", "string|null", "its build"),
    ("storage", "string|null", "where and how it stores data"),
    ("settings", "{string}", "settings that affect performance"),
];

const BOUND: &[Field] = &[
    ("bound", "string", "as a plan writes it"),
    ("figure", "string", "name of the figure"),
    ("limit", "number", "ns, a part of 1, or per second"),
    ("workload", "string|null", "place of the load"),
    ("system", "string|null", "place of the load"),
    ("load", "string|null", "clients or rate"),
    ("value", "number|null", "the figure, in the unit of the limit"),
    ("is_at_least", "boolean", "whether the value is known only from below"),
    ("result", "string", "kept, crossed or not-known"),
    ("why", "string|null", "why it is not known"),
];

const CONCLUSION: &[Field] = &[
    ("code", "string", "which conclusion it is"),
    ("text", "string", "its sentence"),
    ("values", "any", "the figures in it"),
    ("chart", "string|null", "the plot that shows it"),
];

const WARNING: &[Field] = &[
    ("code", "string", "a code of docs/warnings.md"),
    ("severity", "string", "what the finding makes of a trial"),
    ("subject", "subject", "what the finding is about"),
    ("values", "any", "the figures in it"),
    ("text", "string", "its sentence"),
];

const SUBJECT: &[Field] =
    &[("of", "string", "the kind of subject"), ("name", "string|null", "its name, if it has one")];

const POINT: &[Field] = &[
    ("system", "string", "name of the system"),
    ("workload", "string", "name of the workload"),
    ("clients", "integer", "concurrent clients"),
    ("rate", "string|null", "arrival rate of an open loop"),
    ("trials", "integer", "trials of this load"),
    ("trials_counted", "integer", "trials whose figures count"),
    ("remarks", "string|null", "doubts about it"),
    ("transactions_per_s", "estimate|null", "successful transactions per second"),
    ("queries_per_s", "estimate|null", "statements per second"),
    ("mean_ns", "estimate|null", "mean response time"),
    ("percentiles", "{estimate/null}", "response times by percentile, such as p99_ns"),
    ("variance", "any|null", "where the variance comes from"),
    ("failed_transactions", "integer", "transactions that failed for good, in all trials"),
    ("retries", "integer", "transactions that were tried again, in all trials"),
];

const ESTIMATE: &[Field] = &[
    ("median", "number|null", "over the trials that count"),
    ("min", "number|null", "the least of them"),
    ("max", "number|null", "the largest of them"),
    ("low_95", "number|null", "lower end of the 95 % interval over trials"),
    ("high_95", "number|null", "its upper end"),
    ("repetitions", "integer", "trials that count"),
    ("at_least?", "boolean", "whether the median is only a lower bound"),
    ("interval?", "confidence|null", "its interval of confidence"),
];

const CONFIDENCE: &[Field] = &[
    ("low", "number|null", "lower end"),
    ("high", "number|null", "upper end"),
    ("confidence", "number", "as a part of 1"),
    ("method", "string", "how it was computed"),
    ("effective_samples?", "number|null", "independent samples that are worth as much"),
];

const LATENCY: &[Field] = &[
    ("count", "integer", "number of values"),
    ("mean_ns", "number|null", "mean; null without values"),
    ("min_ns", "integer|null", "the least value"),
    ("max_ns", "integer|null", "the largest value"),
    ("percentiles", "{integer/null}", "by percentile, such as p99_ns"),
    ("unanswered?", "integer", "transactions that never ended"),
    ("at_least?", "[string]", "figures that are only lower bounds"),
    ("at_most?", "{integer/null}", "upper bounds of these percentiles"),
];

const TRIAL: &[Field] = &[
    ("index", "integer", "place in the run, from 0"),
    ("system", "string", "name of the system"),
    ("workload", "string", "name of the workload"),
    ("workload_kind", "string", "kind of the workload"),
    ("clients", "integer", "concurrent clients"),
    ("client_cpus", "[integer]|null", "CPUs that the load's threads may use"),
    ("repetition", "integer", "which repetition, from 1"),
    ("status", "string", "complete, interrupted, failed, crashed, cut or damaged"),
    ("reason", "string|null", "why it failed"),
    ("measure_started", "string|null", "wall clock"),
    ("measure_ended", "string|null", "wall clock"),
    ("seconds", "number", "measured time"),
    ("open_loop", "open_loop|null", "rates and waits of an open loop"),
    ("transactions", "integer", "successful transactions"),
    ("transactions_per_s", "number", "the same per second"),
    ("failed_transactions", "integer", "transactions that failed for good"),
    ("failure_rate", "number", "their part of all, from 0 to 1"),
    ("retries", "integer", "transactions that were tried again"),
    ("reconnects", "integer", "connections opened again after a loss"),
    ("idle_reconnects", "integer", "connections opened again that were lost while idle"),
    ("moves", "integer", "connections moved to another server"),
    ("idle_round_trip_ns", "idle_round_trip|null", "round trips without load"),
    ("outages", "[outage]", "times without a server"),
    ("member_exits", "[any]", "servers of a cluster that exited"),
    ("server_actions", "[any]", "what servers did from time to time, such as checkpoints"),
    ("cross_check", "any|null", "statements by dyno's count and the server's"),
    ("why", "any|null", "the experiment for what holds the system back"),
    ("calls", "any|null", "calls of an RPC service"),
    ("own", "any|null", "figures that the workload defines itself"),
    ("queries", "queries", "statements by what they do"),
    ("latency", "latency", "response times of transactions"),
    ("edges", "edges", "transactions over the edges of the measured time"),
    ("operations", "[operation]", "timed operations"),
    ("errors", "[failure]", "errors by class and code"),
    ("clients_fairness", "fairness|null", "transactions of each client"),
    (
        "littles_law_clients",
        "number|null",
        "clients that transactions and think times account for, by Little's law",
    ),
    ("throughput_variation", "number|null", "coefficient of variation over intervals"),
    ("client_cpu_threads", "number|null", "CPU time of dyno per second"),
    ("generator", "any|null", "how the load generator kept time"),
    ("cost_per_transaction", "cost|null", "what dyno took for each"),
    ("cost_per_query", "cost|null", "what dyno took for each"),
    ("messages", "any", "bytes and segments on connections"),
    ("watched", "any", "hosts, processes and servers beside the load"),
    ("findings", "[string]", "sentences of the warnings"),
    ("warnings", "[warning]", "findings about the trial"),
    ("intervals", "[interval]", "counters over time"),
    ("confidence_intervals", "{confidence/null/string}", "intervals within the trial, by figure"),
    ("validity", "string", "valid, doubtful or invalid"),
    ("turns?", "[any]", "turns that were kept one by one"),
    ("loaded?", "any", "rows that were loaded before"),
    ("decided_ends?", "any", "phases that ended by what was measured"),
    ("generators?", "[generator]", "each process that shared the load"),
    ("beside?", "[string]", "systems that were up, idle, during the load"),
    ("windows?", "[any]", "windows that the trial is made of"),
];

const OPEN_LOOP: &[Field] = &[
    ("rate", "string", "rate as planned"),
    ("arrivals", "string", "how arrivals are spread"),
    ("backlog_max", "integer", "most arrivals that may wait"),
    ("offered_per_s", "number|null", "mean rate as planned"),
    ("arrived_per_s", "number|null", "mean rate of arrivals"),
    ("achieved_per_s", "number", "successful transactions per second"),
    ("in_system", "number|null", "mean number of transactions that wait or are served"),
    ("service", "latency", "times from the begin of service"),
    ("generator_late", "latency", "how late dyno sent them"),
    ("start_delay", "latency", "waits for a free client"),
];

const QUERIES: &[Field] = &[
    ("read", "integer", "statements that read"),
    ("write", "integer", "statements that write"),
    ("other", "integer", "all other statements"),
    ("per_s", "number", "all of them, per second"),
];

const EDGES: &[Field] = &[
    ("before", "integer", "began before the measured time"),
    ("succeeded_after", "integer", "succeeded after it"),
    ("failed_after", "integer", "failed after it"),
    ("unanswered", "integer", "never ended"),
    ("unsent", "integer", "were due and never sent"),
];

const OPERATION: &[Field] = &[
    ("name", "string", "name of the operation"),
    ("kind", "string", "transaction, read, write, other or wait"),
    ("per_s", "number", "successes per second"),
    ("succeeded", "integer", "successes"),
    ("timed_out", "integer", "time-outs"),
    ("failed", "integer", "failures"),
    ("latency", "latency", "response times"),
    ("service", "latency|null", "service times of an open loop"),
    ("confidence_intervals", "{confidence/null/string}", "intervals within the trial, by figure"),
];

const FAILURE: &[Field] = &[
    ("class", "string", "class of the error"),
    ("code", "string|null", "code that the system gave"),
    ("retried", "integer", "how often the transaction was tried again"),
    ("ignored", "integer", "how often it ended its transaction only"),
    ("fatal", "integer", "how often it ended more"),
    ("example", "string|null", "a message, without secrets"),
];

const OUTAGE: &[Field] = &[
    ("start_ns", "integer", "on the trial's clock"),
    ("end_ns", "integer|null", "null when it lasted to the end"),
    ("failures", "integer", "failures in it"),
    ("reconnects", "integer", "connections opened again after it"),
];

const COST: &[Field] = &[
    ("user_us", "number|null", "CPU time in user mode"),
    ("system_us", "number|null", "CPU time in the kernel"),
    ("context_switches", "number|null", "switches of threads"),
    ("sent_bytes", "number|null", "bytes sent"),
    ("received_bytes", "number|null", "bytes received"),
];

const FAIRNESS: &[Field] = &[
    ("mean", "number|null", "transactions of a client"),
    ("standard_deviation", "number|null", "over the clients"),
    ("min", "integer", "of the slowest client"),
    ("max", "integer", "of the fastest client"),
];

const IDLE_ROUND_TRIP: &[Field] = &[
    ("count", "integer", "number of round trips"),
    ("min", "integer", "the shortest, in ns"),
    ("median", "integer", "the median, in ns"),
];

const INTERVAL: &[Field] = &[
    ("phase", "string", "warm-up or measure"),
    ("start_ns", "integer", "on the trial's clock"),
    ("end_ns", "integer", "on the trial's clock"),
    ("transactions", "integer", "successful transactions that ended in it"),
    ("failed_transactions", "integer", "transactions that failed for good"),
    ("queries", "integer", "statements"),
    ("retries", "integer", "transactions that were tried again"),
    ("percentiles", "{integer/null}", "response times, such as p99_ns"),
    ("generators?", "[integer]", "transactions of each generator"),
];

const GENERATOR: &[Field] = &[
    ("name", "string", "its place"),
    ("host", "any|null", "its host"),
    ("clock", "any|null", "its clock against that of dyno"),
    ("event_loops", "integer", "its event loops"),
    ("first_client", "integer", "number of its first client"),
    ("clients", "integer", "its clients"),
    ("transactions", "integer", "its successful transactions"),
    ("transactions_per_s", "number|null", "the same per second"),
    ("failed_transactions", "integer", "those that failed for good"),
    ("latency", "latency", "response times"),
    ("clients_fairness", "fairness|null", "transactions of each of its clients"),
    ("cpu_threads", "number|null", "CPU time per second"),
    ("generator", "any|null", "how it kept time"),
    ("late", "latency|null", "how late it sent transactions of an open loop"),
    ("lost", "any|null", "when and why it was lost"),
];
