//! Properties of YCSB and go-ycsb that are no options of dyno: accepted where they change nothing, refused by name
//! where they would change the load or the data, or say where the server is.

use Answer::{Only, Refused, WithoutEffect};
use plan::OptionReader;

#[derive(Clone, Copy)]
enum Answer {
    /// It changes neither load nor data here, for this reason. Most choose how the other tool reports.
    WithoutEffect(&'static str),
    /// This value is what dyno does; another value is refused with this help.
    Only(&'static str, &'static str),
    /// It is refused with this help.
    Refused(&'static str),
}

const HISTOGRAMS: Answer =
    WithoutEffect("the record has a histogram of three digits for each operation and interval");
const RECORD: Answer = WithoutEffect("every figure is in the record below `results`");
const INTERVAL: Answer =
    WithoutEffect("the length of an interval is the plan's: `interval` under [load]");
const VIEWS: Answer = WithoutEffect("`dyno report --format` chooses the view");
const ERRORS: Answer = WithoutEffect("failures are counted by class and code");
const PROGRESS: Answer = WithoutEffect("progress is always shown; --quiet turns it off");
const OF_BIGTABLE: Answer = WithoutEffect("only YCSB's client of Bigtable reads it");
const OF_OTHER_BINDING: &str = "only the client of another database reads it";
const WHERE: &str =
    "where the server is and how to log in stands under [systems], or after --system";

/// Source: YCSB's `Client`, `CoreWorkload`, measurements and workload_template, and go-ycsb's `prop.go`, MySQL binding
/// and workload_template.
const PROPERTIES: &[(&str, Answer)] = &[
    ("table_size", Refused("say recordcount, YCSB's own name: `-o recordcount=100k`")),
    ("tables", Refused("leave it out: the core workload has one table")),
    (
        "target",
        Only("0", "operations at a given rate are the plan's: `rate` under [load], or --rate"),
    ),
    (
        "warmuptime",
        Only("0", "load before what counts is the plan's: `warm_up` under [load], or --warm-up"),
    ),
    (
        "batch.size",
        Only(
            "1",
            "leave it out: operations are sent one by one, as the core workload defines them",
        ),
    ),
    ("dotransactions", Only("true", "leave it out: prepare loads, and the run follows it")),
    (
        "compressibility",
        Only("1", "leave it out: values are random letters, which do not compress"),
    ),
    ("deleteproportion", Only("0", "leave it out: the core workload deletes nothing")),
    (
        "zipfianconstant",
        Only("0.99", "leave it out: the constant is 0.99, as in YCSB's core workload"),
    ),
    ("db", Refused("where the server is stands under [systems], or after --system")),
    ("dropdata", Only("false", "say existing = \"replace\" in the plan, or --existing replace")),
    (
        "core_workload_insertion_keep_going_on_error",
        Only(
            "false",
            "leave it out: a load that goes on without the records that failed has fewer than \
             `recordcount`, and dyno's requests need all of them; \
             core_workload_insertion_retry_limit tries again",
        ),
    ),
    (
        "tidb.cluster_index",
        Only(
            "true",
            "leave it out: with false, go-ycsb does not ask for a clustered primary key when it \
             makes the table; dyno always asks. `--existing reuse` takes a table of your own",
        ),
    ),
    (
        "tidb.instances",
        Refused(
            "its addresses belong in the system's URL, which shares clients out over them: \
             --system mysql://root@tidb-1:4000,tidb-2:4000/test",
        ),
    ),
    (
        "mysql.force_index",
        WithoutEffect("no statement has an index hint: the primary key is the only index"),
    ),
    ("columnfamily", WithoutEffect("tables have no column families")),
    ("readallfieldsbyname", WithoutEffect("a read of all fields always names them")),
    ("maxscanrate", OF_BIGTABLE),
    ("scanoptimelimit", OF_BIGTABLE),
    ("discardscannedrecord", OF_BIGTABLE),
    ("measurementtype", HISTOGRAMS),
    ("measurement.interval", INTERVAL),
    ("measurement.raw.output_file", RECORD),
    ("measurement.output_file", RECORD),
    ("measurement.histogram.verbose", HISTOGRAMS),
    ("hdrhistogram.fileoutput", RECORD),
    ("hdrhistogram.output.path", RECORD),
    (
        "hdrhistogram.percentiles",
        WithoutEffect("percentiles are the plan's: `percentiles` at its top, or --percentiles"),
    ),
    ("histogram.percentiles.export", VIEWS),
    ("histogram.percentiles.export.filepath", VIEWS),
    ("histogram.buckets", HISTOGRAMS),
    ("timeseries.granularity", INTERVAL),
    ("measurement.trackjvm", WithoutEffect("there is no Java here")),
    ("reportlatencyforeacherror", ERRORS),
    ("latencytrackederrors", ERRORS),
    ("silence", ERRORS),
    ("exporter", VIEWS),
    ("exportfile", RECORD),
    ("outputstyle", VIEWS),
    ("status", PROGRESS),
    ("status.interval", INTERVAL),
    ("label", WithoutEffect("the name of a run is the plan's: `name` or `title`")),
    ("verbose", WithoutEffect("statements are not printed")),
    ("command", WithoutEffect("it is go-ycsb's own note of its command")),
    ("debug.pprof", WithoutEffect("it is the address of go-ycsb's own profiler")),
];

/// Prefixes of the properties of the bindings of SQL databases, which say where the server is: go-ycsb's, and YCSB's JDBC.
const OF_SQL: [&str; 3] = ["mysql.", "jdbc.", "db."];
/// Those of other bindings, which a file has for other tools. Source: the bindings of YCSB 0.17 and go-ycsb 1.0.1.
const OF_OTHERS: [&str; 31] = [
    "accumulo.",
    "aerospike.",
    "as.",
    "badger.",
    "bolt.",
    "cassandra.",
    "couchbase.",
    "dynamodb.",
    "elasticsearch.",
    "es.",
    "fdb.",
    "foundationdb.",
    "geode.",
    "google.bigtable.",
    "googlebigtable.",
    "hbase.",
    "hosts.",
    "kudu_",
    "memcached.",
    "minio.",
    "mongodb.",
    "pg.",
    "postgresql.",
    "redis.",
    "riak.",
    "rocksdb.",
    "s3.",
    "spanner.",
    "sqlite.",
    "tikv.",
    "voltdb.",
];

/// Answers every property of the table that is given. Returns a note for each that changes nothing.
pub(super) fn answer(reader: &mut OptionReader<'_>) -> Vec<String> {
    let given = |(name, answer): &(&str, Answer)| {
        let key = name.replace('.', "_");
        let value = reader.peek(&key)?;
        match *answer {
            WithoutEffect(why) => return Some(reader.disregard(&key, why)),
            Only(only, _) if value.trim().eq_ignore_ascii_case(only) => {
                reader.disregard(&key, "");
            }
            Only(_, help) | Refused(help) => refuse(reader, name, help),
        }
        None
    };
    PROPERTIES.iter().filter_map(given).collect()
}

/// Refuses the other properties of the bindings of SQL databases, because the plan names its systems; returns a note for
/// each of other bindings.
pub(super) fn answer_bindings(reader: &mut OptionReader<'_>) -> Vec<String> {
    let begins = |name: &str, all: &[&str]| all.iter().any(|prefix| name.starts_with(prefix));
    let mut notes = Vec::new();
    for name in reader.unasked() {
        if begins(&name, &OF_SQL) {
            refuse(reader, &name, WHERE);
        } else if begins(&name, &OF_OTHERS) {
            notes.push(reader.disregard(&name.replace('.', "_"), OF_OTHER_BINDING));
        }
    }
    notes
}

fn refuse(reader: &mut OptionReader<'_>, name: &str, help: &str) {
    let key = name.replace('.', "_");
    reader.refuse(&key, format!("`{name}` is not offered here"), help);
}
