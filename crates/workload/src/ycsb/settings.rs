//! The core properties, checked.

use std::time::Duration;

use driver::Isolation;
use plan::declared::{
    Choice, Flag, Number, OptionInfo, OptionList, Text, choice, flag, infos, number,
    number_without_default, text,
};
use plan::{Files, OptionReader, Options, Problem};

use super::foreign;
use super::key::{KeyFormat, KeyScheme};
use super::lengths::{self, Lengths};
use super::operations::{self, Mix, NOTHING_TO_RUN};
use super::preset::Preset;
use super::properties::{self, PROPERTIES};
use super::request::{self, Request};
use super::schema::{self, Table};
use super::statements::{NOT_FOUND, UNEXPECTED_STATE};
use crate::policy::{ErrorPolicy, IGNORE_ERRORS, TRANSIENT_ERRORS};
use crate::session::ISOLATION;

/// Numbers of records are signed 64-bit integers in both tools.
const MOST_RECORDS: u64 = 1 << 62;
/// The key column is 64 letters wide.
const KEY_LETTERS: u64 = 64;
/// The longest key prefix: with the digits of any number it fits into the key column.
const MOST_PADDING: u64 = 40;
const MOST_PREFIX: usize = 20;

const RECORD_COUNT: Number<u64> =
    number("recordcount", 1000, 1..=MOST_RECORDS, "records in the table");
const INSERT_START: Number<u64> =
    number("insertstart", 0, 0..=MOST_RECORDS, "number of the first record to load and to ask for");
const INSERT_COUNT: Number<u64> = number_without_default(
    "insertcount",
    1..=MOST_RECORDS,
    "records to load and to ask for; all from insertstart on",
);
const OPERATION_COUNT: Number<u64> = number(
    "operationcount",
    0,
    0..=u64::MAX,
    "operations of a run, when the plan does not bound it",
);
const MAX_EXECUTION_TIME: Number<u64> = number(
    "maxexecutiontime",
    0,
    0..=u32::MAX as u64,
    "seconds of a run, when the plan does not bound it; with operationcount, what comes first",
);
const THREAD_COUNT: Number<u64> =
    number_without_default("threadcount", 1..=1_000_000, "clients, when the plan does not say");
const WORKLOAD: Text = text("workload", "core", "YCSB's class; only the core workload");
const READ_ALL_FIELDS: Flag = flag("readallfields", true, "reads ask for all fields, not for one");
const WRITE_ALL_FIELDS: Flag = flag("writeallfields", false, "updates write all fields, not one");
const MIN_SCAN_LENGTH: Number<u64> =
    number("minscanlength", 1, 1..=u32::MAX as u64, "records of a scan, at least");
const MAX_SCAN_LENGTH: Number<u64> =
    number("maxscanlength", 1000, 1..=u32::MAX as u64, "records of a scan, at most");
const SCAN_LENGTH_DISTRIBUTION: Choice<bool> = choice(
    "scanlengthdistribution",
    ("uniform", false),
    &[("uniform", false), ("zipfian", true)],
    "uniform, zipfian",
);
const INSERT_ORDER: Choice<bool> = choice(
    "insertorder",
    ("hashed", true),
    &[("hashed", true), ("ordered", false)],
    "hashed: keys in no order; ordered: in that of their numbers",
);
const ZERO_PADDING: Number<u64> =
    number("zeropadding", 1, 0..=MOST_PADDING, "digits of keys, at least");
const KEY_PREFIX: Text = text("keyprefix", "user", "what keys begin with");
const COMPATIBILITY: Choice<Option<KeyScheme>> = choice(
    "compatibility",
    ("", None),
    &[
        (KeyScheme::GoYcsb.name(), Some(KeyScheme::GoYcsb)),
        (KeyScheme::Ycsb.name(), Some(KeyScheme::Ycsb)),
    ],
    "whose keys: go-ycsb or ycsb, which hash differently; as the table has them, else go-ycsb",
);
const DATA_INTEGRITY: Flag =
    flag("dataintegrity", false, "values follow from key and field, and reads check them");
const RETRY_LIMIT: Number<u64> = number(
    "core_workload_insertion_retry_limit",
    0,
    0..=1_000_000,
    "how often a load that failed goes on",
);
const RETRY_INTERVAL: Number<f64> =
    number("core_workload_insertion_retry_interval", 3.0, 0.0..=3600.0, "seconds before it does");

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) preset: Preset,
    pub(super) table: Table,
    pub(super) prefix: String,
    pub(super) padding: usize,
    pub(super) is_hashed: bool,
    /// The tool that defines keys and values. `None`: that of an existing table, go-ycsb for a new one.
    pub(super) key_scheme: Option<KeyScheme>,
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
    /// `operationcount`; 0 if not given.
    pub(super) operations: u64,
    /// `maxexecutiontime`; 0 if not given.
    pub(super) time: Duration,
    pub(super) clients: Option<usize>,
    /// A note for each property that changes nothing.
    pub(super) notes: Vec<String>,
    /// How often a failed load is retried, and after how long.
    pub(super) retries: u64,
    pub(super) retry_pause: Duration,
    pub(super) isolation: Option<Isolation>,
    pub(super) errors: ErrorPolicy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanLength {
    pub(super) least: u64,
    pub(super) most: u64,
    /// Zipf's law with exponent 0.99, the least length being the most likely, instead of a uniform distribution.
    pub(super) is_zipfian: bool,
}

impl Settings {
    /// Reads the properties of `preset`, of files and of the plan.
    ///
    /// # Errors
    /// All problems of the properties.
    pub(super) fn read(
        preset: Preset,
        options: &Options,
        files: &Files,
    ) -> Result<Self, Vec<Problem>> {
        let (options, unreadable) = properties::gather(preset, options, files);
        let mut reader = options.reader();
        for message in unreadable {
            let help = "`properties` takes files such as YCSB's workloads/workloada; a relative path \
                        counts from the plan";
            reader.reject(PROPERTIES.name, message, help);
        }
        let notes = foreign::answer(&mut reader);
        check_class(&mut reader);
        let settings = Self { notes, ..read(preset, &mut reader, files) };
        check(&settings, &mut reader);
        let mut settings = settings;
        settings.notes.extend(foreign::answer_bindings(&mut reader));
        if settings.mix.is_empty() {
            settings.notes.push(format!("{NOTHING_TO_RUN}: `dyno prepare` loads the records"));
        }
        reader.finish()?;
        Ok(settings)
    }

    pub(super) fn format(&self, key_scheme: KeyScheme) -> KeyFormat {
        KeyFormat {
            prefix: self.prefix.clone(),
            padding: self.padding,
            hash: self.is_hashed.then_some(key_scheme),
        }
    }

    /// What clients do, in a line: the summary of the preset where its operations are as published, and otherwise
    /// the shares.
    pub(super) fn describe_operations(&self) -> String {
        let name = self.preset.name().to_uppercase();
        if self.preset == Preset::Core {
            return format!("{name}: {}", self.mix.describe());
        }
        let published = Self::read(self.preset, &Options::default(), &Files::of(""));
        let is_published = published.is_ok_and(|published| {
            (published.mix, published.request.name(), published.scan)
                == (self.mix, self.request.name(), self.scan)
        });
        if is_published {
            return format!("{name}: {}", self.preset.summary());
        }
        format!("{name}, changed: {}", self.mix.describe())
    }

    /// The estimated number of records that clients insert. It is YCSB's own estimate: twice the share of inserts.
    pub(super) fn expected_inserts(&self) -> u64 {
        (self.operations as f64 * self.mix.share_of_inserts() * 2.0) as u64
    }
}

fn read(preset: Preset, reader: &mut OptionReader<'_>, files: &Files) -> Settings {
    reader.texts(PROPERTIES.name);
    let lengths = Lengths::read(reader, files);
    let records = RECORD_COUNT.read(reader);
    let insert_start = INSERT_START.read(reader);
    let rest = records.saturating_sub(insert_start);
    Settings {
        preset,
        table: Table::read(reader, lengths.most()),
        prefix: KEY_PREFIX.read(reader),
        padding: ZERO_PADDING.read(reader) as usize,
        is_hashed: INSERT_ORDER.read(reader),
        key_scheme: COMPATIBILITY.read(reader),
        records,
        insert_start,
        insert_count: INSERT_COUNT.read_or(reader, rest),
        lengths,
        reads_all_fields: READ_ALL_FIELDS.read(reader),
        writes_all_fields: WRITE_ALL_FIELDS.read(reader),
        checks_integrity: DATA_INTEGRITY.read(reader),
        mix: Mix::read(reader),
        request: Request::read(reader),
        scan: ScanLength::read(reader),
        operations: OPERATION_COUNT.read(reader),
        time: Duration::from_secs(MAX_EXECUTION_TIME.read(reader)),
        clients: THREAD_COUNT.read_given(reader).map(|clients| clients as usize),
        notes: Vec::new(),
        retries: RETRY_LIMIT.read(reader),
        retry_pause: Duration::from_secs_f64(RETRY_INTERVAL.read(reader)),
        isolation: ISOLATION.read(reader),
        errors: read_errors(reader),
    }
}

/// A failure that dyno finds in an answer ends the operation, but not the client.
fn read_errors(reader: &mut OptionReader<'_>) -> ErrorPolicy {
    let mut errors = ErrorPolicy::read(reader);
    errors.ignored.extend([NOT_FOUND.to_owned(), UNEXPECTED_STATE.to_owned()]);
    errors
}

impl ScanLength {
    fn read(reader: &mut OptionReader<'_>) -> Self {
        Self {
            least: MIN_SCAN_LENGTH.read(reader),
            most: MAX_SCAN_LENGTH.read(reader),
            is_zipfian: SCAN_LENGTH_DISTRIBUTION.read(reader),
        }
    }
}

/// Checks properties that depend on each other.
fn check(settings: &Settings, reader: &mut OptionReader<'_>) {
    let Settings { records, insert_start, insert_count, scan, .. } = settings;
    if insert_start >= records || insert_start.saturating_add(*insert_count) > *records {
        let message = match insert_start < records {
            true => format!(
                "records {insert_start} to {} are asked for, and `recordcount` is {records}",
                insert_start.saturating_add(*insert_count).saturating_sub(1)
            ),
            false => format!("`insertstart` is {insert_start}, and `recordcount` is {records}"),
        };
        let name = if reader.is_given("insertcount") { "insertcount" } else { "insertstart" };
        reader.reject(name, message, "`insertstart` + `insertcount` are at most `recordcount`");
    }
    if scan.least > scan.most {
        let message = format!("`minscanlength` is {}, over `maxscanlength`", scan.least);
        reader.reject("minscanlength", message, "say at most `maxscanlength`");
    }
    if settings.checks_integrity && !matches!(settings.lengths, Lengths::Constant(_)) {
        let help = "say fieldlengthdistribution = \"constant\"";
        let message = "`dataintegrity` needs values of one length";
        reader.reject("dataintegrity", message, help);
    }
    let is_plain =
        settings.prefix.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b));
    if !is_plain || settings.prefix.len() > MOST_PREFIX {
        let help = format!(
            "letters, digits, `_`, `-`, `.` and `:`, at most {MOST_PREFIX}, so that \
                            keys fit into {KEY_LETTERS} letters"
        );
        reader.reject("keyprefix", format!("`keyprefix` is {:?}", settings.prefix), help);
    }
}

fn check_class(reader: &mut OptionReader<'_>) {
    let classes = [
        WORKLOAD.default,
        "site.ycsb.workloads.CoreWorkload",
        "com.yahoo.ycsb.workloads.CoreWorkload",
    ];
    let class = WORKLOAD.read(reader);
    if !classes.contains(&class.as_str()) {
        let help = format!("only the core workload is offered: {}", classes.join(", "));
        reader.reject(WORKLOAD.name, format!("`workload` is {class:?}"), help);
    }
}

/// The options of every YCSB workload, with the core workload's own defaults.
const OPTIONS: OptionList = &[
    &PROPERTIES,
    &RECORD_COUNT,
    &INSERT_START,
    &INSERT_COUNT,
    &OPERATION_COUNT,
    &MAX_EXECUTION_TIME,
    &THREAD_COUNT,
    &WORKLOAD,
    &schema::TABLE,
    &schema::FIELD_COUNT,
    &schema::FIELD_NAME_PREFIX,
    &lengths::FIELD_LENGTH,
    &lengths::MIN_FIELD_LENGTH,
    &lengths::DISTRIBUTION,
    &lengths::HISTOGRAM,
    &READ_ALL_FIELDS,
    &WRITE_ALL_FIELDS,
    &operations::READS,
    &operations::UPDATES,
    &operations::INSERTS,
    &operations::SCANS,
    &operations::READ_MODIFY_WRITES,
    &request::DISTRIBUTION,
    &request::ZIPFIAN,
    &request::HOTSPOT_DATA,
    &request::HOTSPOT_OPERATIONS,
    &request::EXPONENTIAL_PERCENTILE,
    &request::EXPONENTIAL_FRACTION,
    &MIN_SCAN_LENGTH,
    &MAX_SCAN_LENGTH,
    &SCAN_LENGTH_DISTRIBUTION,
    &INSERT_ORDER,
    &ZERO_PADDING,
    &KEY_PREFIX,
    &COMPATIBILITY,
    &DATA_INTEGRITY,
    &RETRY_LIMIT,
    &RETRY_INTERVAL,
    &ISOLATION,
    &TRANSIENT_ERRORS,
    &IGNORE_ERRORS,
];

/// The options of a preset, with the preset's values as defaults.
pub(crate) fn options(preset: Preset) -> Vec<OptionInfo> {
    let own = |info: OptionInfo| match preset.value_of(info.name) {
        Some(value) => OptionInfo { default: value.to_owned(), ..info },
        None => info,
    };
    infos(OPTIONS).into_iter().map(own).collect()
}
