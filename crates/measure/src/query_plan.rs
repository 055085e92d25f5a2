//! How a system runs a query.

use serde::{Deserialize, Serialize};

/// The plan that a system has chosen for an operation, in the system's own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryPlan {
    pub operation: String,
    /// Its rows, one a line, with tabs between cells.
    pub text: String,
    /// What a reader must know of such a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl QueryPlan {
    /// The plan without its numbers and spaces: plans with equal shapes differ in estimates, measured times or numbered
    /// names alone.
    pub fn shape(&self) -> String {
        let is_kept =
            |letter: &char| !letter.is_ascii_digit() && !letter.is_whitespace() && *letter != '.';
        self.text.chars().filter(is_kept).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_that_differ_in_numbers_alone_have_one_shape() {
        let plan = |text: &str| QueryPlan {
            operation: "Q1".to_owned(),
            text: text.to_owned(),
            remark: None,
        };
        let one = plan("HashAgg_23\t4.00\n  TableReader_7");
        assert_eq!(one.shape(), plan("HashAgg_9\t12\nTableReader_11").shape());
        assert_ne!(one.shape(), plan("StreamAgg_23\t4.00\nTableReader_7").shape());
    }
}
