//! Options of a workload or a system: named values with their places in the plan.

/// A table of the plan whose keys another room knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {}
