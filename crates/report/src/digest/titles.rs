//! The systems under test in the titles of tables and plots.

use std::collections::BTreeSet;

use record::TrialHeader;

use super::Digest;

impl Digest<'_> {
    /// The systems under test in one line: products with versions and storage.
    pub(crate) fn under_test(&self) -> String {
        self.under_test_in(|_| true)
    }

    pub(crate) fn under_test_of(&self, workload: &str) -> String {
        self.under_test_in(|header| header.workload.name == workload)
    }

    pub(crate) fn under_test_in(&self, is_in: impl Fn(&TrialHeader) -> bool) -> String {
        let headers = self.run.trials.iter().map(|trial| &trial.header);
        let in_trials: BTreeSet<&str> =
            headers.filter(|header| is_in(header)).map(|header| header.system.as_str()).collect();
        let mut seen = BTreeSet::new();
        let systems = self.systems().into_iter().filter(|(name, _)| in_trials.contains(name));
        let titles = systems.map(|(_, identity)| identity.title());
        let is_new = |title: &String| !title.is_empty() && seen.insert(title.clone());
        let distinct: Vec<String> = titles.filter(is_new).collect();
        distinct.join(" · ")
    }

    /// [`caption`] of a workload with the systems under it.
    pub(crate) fn caption(&self, workload: &str) -> String {
        caption(workload, &self.under_test_of(workload))
    }
}

/// A caption for `of`, followed by the systems under test when they are known.
pub(crate) fn caption(of: &str, under_test: &str) -> String {
    if under_test.is_empty() { of.to_owned() } else { format!("{of}: {under_test}") }
}
