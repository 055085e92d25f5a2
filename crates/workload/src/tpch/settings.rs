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
        let scale = SCALE.read(reader);
        if !has_distinct_suppliers(scale) {
            let message = format!(
                "at scale {scale} the formula of clause 4.2.3 gives a part the same supplier twice, so \
                 PARTSUPP has no such primary key"
            );
            reader.reject(SCALE.name, message, nearest_scales(scale));
        }
        Self {
            scale,
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

/// Rows of SUPPLIER and PART at scale 1 (clause 4.2.5.1).
const SUPPLIERS: f64 = 10_000.0;
const PARTS: f64 = 200_000.0;

/// Whether each part has four different suppliers at this scale. Source: clause 4.2.3; with S suppliers, the supplier
/// i = 0..3 of part p is (p + i (S / 4 + (p - 1) / S)) mod S + 1, in whole numbers.
pub(super) fn has_distinct_suppliers(scale: f64) -> bool {
    let (suppliers, parts) = ((SUPPLIERS * scale) as u64, (PARTS * scale) as u64);
    let is_distinct = |step: u64| !(1..4).any(|apart| (apart * step).is_multiple_of(suppliers));
    // Two of them are the same if a multiple of the step, up to three times, is one of S.
    let first = suppliers / 4;
    suppliers > 0 && (first..=first + (parts.max(1) - 1) / suppliers).all(is_distinct)
}

/// The nearest scales on both sides of one that cannot be.
fn nearest_scales(scale: f64) -> String {
    let suppliers = (SUPPLIERS * scale) as u64;
    // The documented minimum has ten suppliers.
    let below = (10..suppliers).rev().map(scale_of).find(|scale| has_distinct_suppliers(*scale));
    let above = (suppliers + 1..).map(scale_of).find(|scale| has_distinct_suppliers(*scale));
    let both: Vec<String> = below.into_iter().chain(above).map(|it| it.to_string()).collect();
    format!("use {}", both.join(" or "))
}

fn scale_of(suppliers: u64) -> f64 {
    suppliers as f64 / SUPPLIERS
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tpchgen::generators::PartSuppGenerator;

    use super::*;

    #[test]
    fn scales_whose_parts_have_a_supplier_twice_are_those_of_the_generator() {
        for thousandths in 1..=30 {
            let scale = f64::from(thousandths) / 1_000.0;
            let mut keys = BTreeSet::new();
            let rows = PartSuppGenerator::new(scale, 1, 1);
            let is_distinct = rows.iter().all(|row| keys.insert((row.ps_partkey, row.ps_suppkey)));
            assert_eq!(has_distinct_suppliers(scale), is_distinct, "{scale}");
        }
        for scale in [0.01, 0.1, 1.0, 10.0, 100_000.0] {
            assert!(has_distinct_suppliers(scale), "{scale}");
        }
    }

    #[test]
    fn the_nearest_scales_are_offered_for_one_that_cannot_be() {
        let told = |text: &str| {
            let options = plan::Options::parse(text).unwrap();
            let mut reader = options.reader();
            Settings::read(&mut reader);
            reader.finish().map_err(|problems| format!("{problems:?}"))
        };
        assert!(told("scale = 0.01").is_ok());
        let refused = told("scale = 0.015").unwrap_err();
        assert!(refused.contains("the same supplier twice"), "{refused}");
        assert_eq!(nearest_scales(0.015), "use 0.0149 or 0.0151");
        assert_eq!(nearest_scales(0.001), "use 0.0031");
    }
}
