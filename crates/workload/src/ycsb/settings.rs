//! The core properties, checked.

use std::path::Path;
use std::time::Duration;

use plan::{Options, Problem};

use super::key::{KeyFormat, Maker};
use super::lengths::Lengths;
use super::operations::Mix;
use super::preset::Preset;
use super::request::Request;
use super::schema::Table;
use super::sheet::Sheet;
use super::statements::{NOT_FOUND, UNEXPECTED_STATE};
use crate::OptionInfo;
use crate::policy::ErrorPolicy;
use crate::sysbench::{option, read_isolation};

/// Numbers of records are signed 64-bit integers in both tools.
const MOST_RECORDS: u64 = 1 << 62;
const MOST_FIELDS: u64 = 1_000;
/// The key column is 64 letters wide.
const KEY_LETTERS: u64 = 64;
/// Of a prefix and the digits of any number, so that they fit into the key column.
const MOST_PADDING: u64 = 40;
const MOST_PREFIX: usize = 20;

/// Checked properties.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) preset: Preset,
    pub(super) table: Table,
    pub(super) prefix: String,
    pub(super) padding: usize,
    pub(super) is_hashed: bool,
    /// Whose keys and values; `None`: whose the table has, and go-ycsb's where a table is made.
    pub(super) maker: Option<Maker>,
    pub(super) records: u64,
    pub(super) insert_start: u64,
    pub(super) insert_count: u64,
    pub(super) lengths: Lengths,
    pub(super) reads_all_fields: bool,
    pub(super) writes_all_fields: bool,
    pub(super) checks_integrity: bool,
    pub(super) mix: Mix,
    pub(super) request: Request,
    pub(super) scan: ScanLength,
    /// `operationcount`; 0 when nobody says.
    pub(super) operations: u64,
    /// `maxexecutiontime`; 0 when nobody says.
    pub(super) time: Duration,
    /// How often a load that failed goes on, and after how long.
    pub(super) retries: u64,
    pub(super) retry_pause: Duration,
    pub(super) isolation: Option<&'static str>,
    pub(super) errors: ErrorPolicy,
}

/// How many records a scan asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanLength {
    pub(super) least: u64,
    pub(super) most: u64,
    /// By Zipf's law with exponent 0.99 from the least on, instead of uniformly.
    pub(super) is_zipfian: bool,
}

impl Settings {
    /// Reads the properties of `preset`, of files and of the plan.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(super) fn read(
        preset: Preset,
        options: &Options,
        folder: &Path,
    ) -> Result<Self, Vec<Problem>> {
        let mut sheet = Sheet::new(preset, options, folder);
        refuse(&mut sheet);
        let settings = read(preset, &mut sheet, folder);
        check(&settings, &mut sheet);
        sheet.finish()?;
        Ok(settings)
    }

    /// How keys are written in data of that maker.
    pub(super) fn format(&self, maker: Maker) -> KeyFormat {
        KeyFormat {
            prefix: self.prefix.clone(),
            padding: self.padding,
            hash: self.is_hashed.then_some(maker),
        }
    }

    /// New records that clients insert, as far as that can be known: YCSB's own estimate, twice the
    /// share of inserts.
    pub(super) fn expected_inserts(&self) -> u64 {
        (self.operations as f64 * self.mix.share_of_inserts() * 2.0) as u64
    }
}

fn read(preset: Preset, sheet: &mut Sheet<'_>, folder: &Path) -> Settings {
    let lengths = Lengths::read(sheet, folder);
    let records = sheet.integer("recordcount", 1000, 1..=MOST_RECORDS);
    let insert_start = sheet.integer("insertstart", 0, 0..=MOST_RECORDS);
    let rest = records.saturating_sub(insert_start);
    let pause_s = sheet.float("core_workload_insertion_retry_interval", 3.0, 0.0..=3600.0);
    let orders = [("hashed", true), ("ordered", false)];
    let makers = Maker::ALL.map(|maker| (maker.name(), Some(maker)));
    Settings {
        preset,
        table: Table::read(sheet, lengths.most(), MOST_FIELDS),
        prefix: sheet.text("keyprefix").unwrap_or_else(|| "user".to_owned()),
        padding: sheet.integer("zeropadding", 1, 0..=MOST_PADDING) as usize,
        is_hashed: sheet.choice("insertorder", true, &orders),
        maker: sheet.options().choice("compatibility", None, &makers),
        records,
        insert_start,
        insert_count: sheet.integer("insertcount", rest, 1..=MOST_RECORDS),
        lengths,
        reads_all_fields: sheet.boolean("readallfields", true),
        writes_all_fields: sheet.boolean("writeallfields", false),
        checks_integrity: sheet.boolean("dataintegrity", false),
        mix: Mix::read(sheet),
        request: Request::read(sheet),
        scan: ScanLength::read(sheet),
        operations: sheet.integer("operationcount", 0, 0..=u64::MAX),
        time: Duration::from_secs(sheet.integer("maxexecutiontime", 0, 0..=u64::from(u32::MAX))),
        retries: sheet.integer("core_workload_insertion_retry_limit", 0, 0..=1_000_000),
        retry_pause: Duration::from_secs_f64(pause_s),
        isolation: read_isolation(sheet.options()),
        errors: read_errors(sheet),
    }
}

/// What dyno itself finds wrong with an answer ends its operation and not the client.
fn read_errors(sheet: &mut Sheet<'_>) -> ErrorPolicy {
    let mut errors = ErrorPolicy::read(sheet.options());
    errors.ignored.extend([NOT_FOUND.to_owned(), UNEXPECTED_STATE.to_owned()]);
    errors
}

impl ScanLength {
    fn read(sheet: &mut Sheet<'_>) -> Self {
        Self {
            least: sheet.integer("minscanlength", 1, 1..=u64::from(u32::MAX)),
            most: sheet.integer("maxscanlength", 1000, 1..=u64::from(u32::MAX)),
            is_zipfian: sheet.choice(
                "scanlengthdistribution",
                false,
                &[("uniform", false), ("zipfian", true)],
            ),
        }
    }
}

/// What properties say together.
fn check(settings: &Settings, sheet: &mut Sheet<'_>) {
    let Settings { records, insert_start, insert_count, scan, .. } = settings;
    if insert_start.saturating_add(*insert_count) > *records {
        let message = format!(
            "records {insert_start} to {} are asked for, and `recordcount` is {records}",
            insert_start.saturating_add(*insert_count).saturating_sub(1)
        );
        let name = if sheet.is_given("insertcount") { "insertcount" } else { "insertstart" };
        sheet.wrong(name, message, "`insertstart` + `insertcount` are at most `recordcount`");
    }
    if scan.least > scan.most {
        let message = format!("`minscanlength` is {}, over `maxscanlength`", scan.least);
        sheet.wrong("minscanlength", message, "say at most `maxscanlength`");
    }
    if settings.checks_integrity && !matches!(settings.lengths, Lengths::Constant(_)) {
        let help = "say fieldlengthdistribution = \"constant\"";
        let message = "`dataintegrity` needs values of one length";
        sheet.wrong("dataintegrity", message, help);
    }
    let is_plain =
        settings.prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b));
    if !is_plain || settings.prefix.len() > MOST_PREFIX {
        let help = format!(
            "letters, digits, `_`, `-`, `.` and `:`, at most {MOST_PREFIX}, so that \
                            keys fit into {KEY_LETTERS} letters"
        );
        sheet.wrong("keyprefix", format!("`keyprefix` is {:?}", settings.prefix), help);
    }
    if settings.operations > 0 && !settings.time.is_zero() {
        let message = "both `operationcount` and `maxexecutiontime` bound the run";
        let help = "set one of them to 0; `time` or `events` of the plan go before both";
        sheet.wrong("maxexecutiontime", message, help);
    }
}

/// Names that are properties of YCSB or go-ycsb and are said elsewhere here, or mean nothing.
const REFUSED: &[(&str, &str)] = &[
    ("table_size", "say recordcount, YCSB's own name: `-o recordcount=100k`"),
    ("tables", "leave it out: the core workload has one table"),
    ("threadcount", "the number of clients is the plan's: `clients` under [load], or --clients"),
    ("target", "operations at a given rate are the plan's: `rate` under [load], or --rate"),
    ("warmuptime", "load before what counts is the plan's: `warm_up` under [load], or --warm-up"),
    (
        "batch.size",
        "leave it out: operations are sent one by one, as the core workload defines them",
    ),
    ("dotransactions", "leave it out: prepare loads, and the run follows it"),
    ("db", "where the server is stands under [systems], or after --system"),
    ("dropdata", "say existing = \"replace\" in the plan, or --existing replace"),
    ("columnfamily", "leave it out: tables have no column families"),
    ("measurementtype", "leave it out: every latency goes into a histogram of three digits"),
    ("measurement.interval", "the length of an interval is the plan's: `interval` under [load]"),
    ("measurement.raw.output_file", "leave it out: the record is below `results`"),
    ("measurement.output_file", "leave it out: the record is below `results`"),
    ("measurement.histogram.verbose", "leave it out: the record holds the whole histograms"),
    (
        "hdrhistogram.fileoutput",
        "leave it out: the record holds the whole histograms, as HdrHistogram logs",
    ),
    ("hdrhistogram.output.path", "leave it out: the record is below `results`"),
    ("hdrhistogram.percentiles", "percentiles are the plan's: `percentiles` at its top"),
    ("histogram.percentiles.export", "leave it out: `dyno report` writes every view"),
    ("histogram.percentiles.export.filepath", "leave it out: `dyno report` writes every view"),
    ("histogram.buckets", "leave it out: histograms have three digits everywhere"),
    ("timeseries.granularity", "the length of an interval is the plan's: `interval` under [load]"),
    ("measurement.trackjvm", "leave it out: there is no Java here"),
    ("reportlatencyforeacherror", "leave it out: failures are counted by class and code"),
    ("latencytrackederrors", "leave it out: failures are counted by class and code"),
    ("exporter", "leave it out: `dyno report --format` chooses the view"),
    ("exportfile", "leave it out: every view is a file of the record"),
    ("outputstyle", "leave it out: --format chooses the view"),
    ("status", "leave it out: progress is always told; --quiet turns it off"),
    ("status.interval", "the length of an interval is the plan's: `interval` under [load]"),
    ("readallfieldsbyname", "leave it out: a read of all fields always names them"),
    ("label", "the name of a run is the plan's: `name` or `title`"),
    ("verbose", "leave it out"),
    ("silence", "leave it out: failures are counted by class and code"),
    ("command", "leave it out"),
    ("debug.pprof", "leave it out"),
];

fn refuse(sheet: &mut Sheet<'_>) {
    REFUSED.iter().for_each(|(name, help)| sheet.refuse(name, help));
    let classes =
        ["core", "site.ycsb.workloads.CoreWorkload", "com.yahoo.ycsb.workloads.CoreWorkload"];
    if let Some(class) = sheet.text("workload").filter(|class| !classes.contains(&class.as_str())) {
        let help = format!("only the core workload is offered: {}", classes.join(", "));
        sheet.wrong("workload", format!("`workload` is {class:?}"), help);
    }
}

/// The options of every YCSB workload, with the core workload's own defaults.
const OPTIONS: &[OptionInfo] = &[
    option("properties", "", "YCSB property files to read; options go before them"),
    option("recordcount", "1000", "records in the table"),
    option("insertstart", "0", "number of the first record to load and to ask for"),
    option("insertcount", "", "records to load and to ask for; all from insertstart on"),
    option("operationcount", "0", "operations of a run, when the plan bounds it by nothing else"),
    option("maxexecutiontime", "0", "seconds of a run, when the plan bounds it by nothing else"),
    option("workload", "core", "YCSB's class; only the core workload"),
    option("table", "usertable", "name of the table"),
    option("fieldcount", "10", "fields of a record"),
    option("fieldnameprefix", "field", "names of columns without their number"),
    option("fieldlength", "100", "bytes of a field, at most"),
    option("minfieldlength", "1", "bytes of a field, at least, where they vary"),
    option("fieldlengthdistribution", "constant", "constant, uniform, zipfian, histogram"),
    option("fieldlengthhistogram", "hist.txt", "file of the histogram"),
    option("readallfields", "true", "reads ask for all fields, not for one"),
    option("writeallfields", "false", "updates write all fields, not one"),
    option("readproportion", "0.95", "share of reads"),
    option("updateproportion", "0.05", "share of updates"),
    option("insertproportion", "0", "share of inserts"),
    option("scanproportion", "0", "share of scans"),
    option("readmodifywriteproportion", "0", "share of reads of a record with an update after it"),
    option(
        "requestdistribution",
        "uniform",
        "uniform, zipfian, latest, hotspot, sequential, exponential",
    ),
    option("hotspotdatafraction", "0.2", "hotspot: share of the records that are hot"),
    option("hotspotopnfraction", "0.8", "hotspot: share of the operations that they get"),
    option("exponential_percentile", "95", "exponential: percent of the operations .."),
    option("exponential_frac", "0.8571428571", ".. that fall on this newest share of recordcount"),
    option("minscanlength", "1", "records of a scan, at least"),
    option("maxscanlength", "1000", "records of a scan, at most"),
    option("scanlengthdistribution", "uniform", "uniform, zipfian"),
    option("insertorder", "hashed", "hashed: keys in no order; ordered: in that of their numbers"),
    option("zeropadding", "1", "digits of keys, at least"),
    option("keyprefix", "user", "what keys begin with"),
    option(
        "compatibility",
        "",
        "whose keys: go-ycsb or ycsb, which hash differently; as the table has them, else go-ycsb",
    ),
    option("dataintegrity", "false", "values follow from key and field, and reads check them"),
    option("core_workload_insertion_retry_limit", "0", "how often a load that failed goes on"),
    option("core_workload_insertion_retry_interval", "3", "seconds before it does"),
    option("isolation", "", "isolation level of clients"),
    option("transient_errors", "retry", "conflicts and lock time-outs: retry or ignore"),
    option("ignore_errors", "", "codes of errors that only end their operation, or all"),
];

/// The options of a preset, with its own values as defaults.
pub(crate) fn options(preset: Preset) -> Vec<OptionInfo> {
    let own = |info: &OptionInfo| OptionInfo {
        default: preset.value_of(info.name).unwrap_or(info.default),
        ..*info
    };
    OPTIONS.iter().map(own).collect()
}
