//! The options of TPC-H.

use plan::OptionReader;

use super::answers::Answers;
use crate::options::{Choice, Flag, Number, OptionList, choice, flag, number};

const SCALE: Number<f64> =
    number("scale", 1.0, 0.001..=100_000.0, "the scale factor: 1 is about 1 GB, 8.7 million rows");
const PARAMETERS: Choice<Parameters> = choice(
    "parameters",
    ("validation", Parameters::Validation),
    &[("validation", Parameters::Validation), ("random", Parameters::Random)],
    "validation: those whose answers are known (clause 2.4); random: drawn by seed and stream",
);
const ORDER: Choice<Order> = choice(
    "order",
    ("specified", Order::Specified),
    &[("specified", Order::Specified), ("ascending", Order::Ascending)],
    "of the queries in a stream: specified (appendix A), or ascending, from Q1 to Q22",
);
const REFRESH: Flag = flag(
    "refresh",
    false,
    "the refresh functions run: around the queries of one client; with more clients, by the last \
     one, as often as there are query streams. The data are restored afterwards",
);
const INDEXES: Flag =
    flag("indexes", true, "foreign keys are indexed (clause 1.5.7), once the rows are loaded");
const CHECK: Flag = flag(
    "check",
    true,
    "answers to the validation parameters are checked at scales 0.01, 0.1 and 1; a wrong one fails \
     the trial",
);
const LOAD_DATA_LOCAL: Flag = flag(
    "load_data_local",
    false,
    "rows are loaded with LOAD DATA LOCAL, which the server must allow; false: with INSERT",
);
const PLANS: Choice<Plans> = choice(
    "plans",
    ("explain", Plans::Explain),
    &[("none", Plans::None), ("explain", Plans::Explain), ("analyze", Plans::Analyze)],
    "query plans in the record: none, explain, or analyze, which runs each query once more",
);

/// The options of `tpch`.
pub(crate) const OPTIONS: OptionList =
    &[&SCALE, &PARAMETERS, &ORDER, &REFRESH, &INDEXES, &CHECK, &LOAD_DATA_LOCAL, &PLANS];

/// Where the substitution parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameters {
    Validation,
    Random,
}

/// The order of the queries in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Specified,
    Ascending,
}

/// Which query plans are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plans {
    None,
    Explain,
    Analyze,
}

/// Checked options.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) scale: f64,
    pub(super) parameters: Parameters,
    pub(super) order: Order,
    pub(super) has_refresh: bool,
    pub(super) has_indexes: bool,
    /// Whether answers are checked, at a scale that has answers.
    pub(super) checks_answers: bool,
    pub(super) is_local: bool,
    pub(super) plans: Plans,
}

impl Settings {
    pub(super) fn read(reader: &mut OptionReader<'_>) -> Self {
        let scale = SCALE.read(reader);
        Self {
            scale,
            parameters: PARAMETERS.read(reader),
            order: ORDER.read(reader),
            has_refresh: REFRESH.read(reader),
            has_indexes: INDEXES.read(reader),
            checks_answers: CHECK.read(reader) && Answers::exist_at(scale),
            is_local: LOAD_DATA_LOCAL.read(reader),
            plans: PLANS.read(reader),
        }
    }

    /// Whether the clients' own answers are checked: only before the first refresh, and with the parameters whose
    /// answers are known. Otherwise [`Settings::checks_before`].
    pub(super) fn checks_streams(&self) -> bool {
        self.checks_answers && !self.has_refresh && self.parameters == Parameters::Validation
    }

    /// Whether the answers are checked once before the load.
    pub(super) fn checks_before(&self) -> bool {
        self.checks_answers && !self.checks_streams()
    }

    /// How many of `clients` clients are streams of queries; one more may be the refresh stream.
    pub(super) fn streams(&self, clients: usize) -> usize {
        if self.has_refresh && clients > 1 { clients - 1 } else { clients }
    }
}
