//! The options of pgbench's workload, named as in pgbench where it has them.

use plan::OptionReader;
use plan::declared::{Choice, Flag, Number, OptionList, Texts, choice, flag, number, texts};

use super::scripts::Builtin;
use crate::policy::{ErrorPolicy, IGNORE_ERRORS, MAX_TRIES, RECONNECT, TRANSIENT_ERRORS};
use crate::session::ISOLATION;
use crate::sql::LoadOptions;

/// Numbers of tellers and branches are 32-bit integers.
const MOST_SCALE: u64 = 1_000_000;
const MOST_PARTITIONS: u64 = 8_192;
const MOST_WEIGHT: u64 = 1_000_000;
/// The fill factor of tables for which none is given.
const WHOLE_PAGES: u64 = 100;

const SCALE: Number<u64> = number(
    "scale",
    1,
    1..=MOST_SCALE,
    "branches, each with 10 tellers and 100,000 accounts: about 15 MB",
);
const BUILTIN: Texts = texts(
    "builtin",
    "tpcb-like",
    "the scripts: tpcb-like, simple-update, select-only; several with weights: tpcb-like@3,select-only@1",
);
const PARTITIONS: Number<u64> = number(
    "partitions",
    0,
    0..=MOST_PARTITIONS,
    "partitions of pgbench_accounts; 0: a table without any",
);
const PARTITION_METHOD: Choice<PartitionMethod> = choice(
    "partition_method",
    ("range", PartitionMethod::Range),
    &[("range", PartitionMethod::Range), ("hash", PartitionMethod::Hash)],
    "how pgbench_accounts is divided: range, hash",
);
const FILLFACTOR: Number<u64> = number(
    "fillfactor",
    WHOLE_PAGES,
    10..=WHOLE_PAGES,
    "share of a page that rows fill when they are loaded, percent; less leaves room for updates",
);
const UNLOGGED: Flag = flag("unlogged", false, "tables without a log, whose rows a crash empties");
const FOREIGN_KEYS: Flag = flag("foreign_keys", false, "tables have foreign keys");
const CHECK: Flag =
    flag("check", true, "the sums of the balances are read before and compared after the load");

pub(crate) const OPTIONS: OptionList = &[
    &SCALE,
    &BUILTIN,
    &PARTITIONS,
    &PARTITION_METHOD,
    &FILLFACTOR,
    &UNLOGGED,
    &FOREIGN_KEYS,
    &CHECK,
    &ISOLATION,
    &TRANSIENT_ERRORS,
    &MAX_TRIES,
    &RECONNECT,
    &IGNORE_ERRORS,
];

/// How the accounts are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartitionMethod {
    /// Consecutive accounts are together.
    Range,
    Hash,
}

#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) scale: u64,
    /// The scripts with their weights, in the plan's order; at least one weight is above 0.
    pub(super) scripts: Vec<(Builtin, u64)>,
    /// 0 for a table that is not divided.
    pub(super) partitions: u64,
    pub(super) partition_method: PartitionMethod,
    /// Percent.
    pub(super) fillfactor: u64,
    pub(super) unlogged: bool,
    pub(super) foreign_keys: bool,
    pub(super) check: bool,
    pub(super) load: LoadOptions,
}

impl Settings {
    pub(super) fn read(reader: &mut OptionReader<'_>) -> Self {
        let settings = Self {
            scale: SCALE.read(reader),
            scripts: read_scripts(reader),
            partitions: PARTITIONS.read(reader),
            partition_method: PARTITION_METHOD.read(reader),
            fillfactor: FILLFACTOR.read(reader),
            unlogged: UNLOGGED.read(reader),
            foreign_keys: FOREIGN_KEYS.read(reader),
            check: CHECK.read(reader),
            load: LoadOptions {
                isolation: ISOLATION.read(reader),
                errors: ErrorPolicy::read_with_tries(reader),
                reconnects: RECONNECT.read(reader),
            },
        };
        let is_divided = settings.partitions > 0;
        if !is_divided && settings.partition_method != PartitionMethod::Range {
            let message = "`partition_method` has no effect without `partitions`";
            reader.reject(PARTITION_METHOD.name, message, "give `partitions` too, or leave it out");
        }
        settings
    }

    pub(super) fn has_fillfactor(&self) -> bool {
        self.fillfactor != WHOLE_PAGES
    }

    /// Whether transactions of this script are drawn.
    pub(super) fn runs(&self, script: Builtin) -> bool {
        self.scripts.iter().any(|(one, weight)| *one == script && *weight > 0)
    }
}

fn read_scripts(reader: &mut OptionReader<'_>) -> Vec<(Builtin, u64)> {
    let parts = BUILTIN.read_list(reader);
    if parts.is_empty() {
        return vec![(Builtin::TpcbLike, 1)];
    }
    let scripts = parts.iter().map(|part| read_script(part)).collect::<Result<Vec<_>, String>>();
    let message = match scripts {
        Ok(scripts) => {
            let mut names: Vec<Builtin> = scripts.iter().map(|(script, _)| *script).collect();
            names.sort_unstable();
            names.dedup();
            match scripts.iter().any(|(_, weight)| *weight > 0) {
                true if names.len() == scripts.len() => return scripts,
                true => "a script occurs twice in `builtin`".to_owned(),
                false => "all weights of `builtin` are 0: no transaction would run".to_owned(),
            }
        }
        Err(message) => message,
    };
    let names = Builtin::ALL.map(Builtin::name).join(", ");
    reader.reject(
        BUILTIN.name,
        message,
        format!("write one or more of {names}, such as select-only@3"),
    );
    vec![(Builtin::TpcbLike, 1)]
}

/// A script with its weight, such as `select-only@3`.
fn read_script(text: &str) -> Result<(Builtin, u64), String> {
    let (name, weight) = text.split_once('@').unwrap_or((text, "1"));
    let script =
        Builtin::of(name).ok_or_else(|| format!("there is no built-in script `{name}`"))?;
    let weight = weight.parse().ok().filter(|weight| *weight <= MOST_WEIGHT);
    let weight = weight
        .ok_or_else(|| format!("the weight in `{text}` is no whole number up to {MOST_WEIGHT}"))?;
    Ok((script, weight))
}
