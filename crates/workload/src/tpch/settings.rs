//! The options of TPC-H.

use plan::OptionReader;
use plan::declared::{Choice, Flag, Number, Numbers, OptionList, choice, flag, number, numbers};

use super::answers::Answers;
use super::parameters::QUERIES;

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
const ASKED: Numbers = numbers(
    "queries",
    1..=QUERIES as u64,
    "the queries of each stream in their order, such as 14,2,9; all, in the order of `order`, if absent",
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
    "answers to the validation parameters are checked at scales 0.01, 0.1 and 1, others are compared \
     between systems; a wrong or different one fails the trial",
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

pub(crate) const OPTIONS: OptionList =
    &[&SCALE, &PARAMETERS, &ORDER, &ASKED, &REFRESH, &INDEXES, &CHECK, &LOAD_DATA_LOCAL, &PLANS];

/// Where the substitution parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameters {
    Validation,
    Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Specified,
    Ascending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plans {
    None,
    Explain,
    Analyze,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) scale: f64,
    pub(super) parameters: Parameters,
    pub(super) order: Order,
    /// The queries of each stream in their order, if the plan names them.
    pub(super) asked: Option<Vec<usize>>,
    pub(super) has_refresh: bool,
    pub(super) has_indexes: bool,
    pub(super) has_check: bool,
    pub(super) is_local: bool,
    pub(super) plans: Plans,
}

impl Settings {
    pub(super) fn read(reader: &mut OptionReader<'_>) -> Self {
        let asked = ASKED.read_given(reader);
        if asked.is_some() && reader.is_given(ORDER.name) {
            let message = "`order` does not go with `queries`, which run in their own order";
            reader.reject(ORDER.name, message, "leave one of them out");
        }
        Self {
            scale: SCALE.read(reader),
            parameters: PARAMETERS.read(reader),
            order: ORDER.read(reader),
            asked: asked.map(|all| all.into_iter().map(|query| query as usize).collect()),
            has_refresh: REFRESH.read(reader),
            has_indexes: INDEXES.read(reader),
            has_check: CHECK.read(reader),
            is_local: LOAD_DATA_LOCAL.read(reader),
            plans: PLANS.read(reader),
        }
    }

    /// The queries that run, in ascending order.
    pub(super) fn queries(&self) -> Vec<usize> {
        let mut queries = self.asked.clone().unwrap_or_else(|| (1..=QUERIES).collect());
        queries.sort_unstable();
        queries
    }

    /// Whether the clients' own answers are checked: only before the first refresh, and with the parameters whose
    /// answers are known. Otherwise [`Settings::checks_before`] and [`Settings::compares_systems`].
    pub(super) fn checks_streams(&self) -> bool {
        self.has_known_answers() && !self.has_refresh && self.parameters == Parameters::Validation
    }

    /// Whether the answers are checked once before the load.
    pub(super) fn checks_before(&self) -> bool {
        self.has_known_answers() && !self.checks_streams()
    }

    /// Whether the answers of `clients` clients are compared between systems: those that have no known answer, on
    /// data that no refresh stream changes at the same time.
    pub(super) fn compares_systems(&self, clients: usize) -> bool {
        self.has_check && !self.checks_streams() && (!self.has_refresh || clients == 1)
    }

    fn has_known_answers(&self) -> bool {
        self.has_check && Answers::exist_at(self.scale)
    }

    /// How many of `clients` clients are streams of queries; one more may be the refresh stream.
    pub(super) fn streams(&self, clients: usize) -> usize {
        if self.has_refresh && clients > 1 { clients - 1 } else { clients }
    }
}
