//! What a run is called.

use std::collections::BTreeSet;

use super::{Digest, load_text};

impl<'a> Digest<'a> {
    /// The run's title, or what its plan does to which systems with which load.
    pub(crate) fn whole_title(&self) -> String {
        let header = &self.run.header;
        if header.title.is_some() {
            return self.title().to_owned();
        }
        let products = self.systems().into_iter().map(|(_, identity)| identity.product.as_str());
        let products: BTreeSet<&str> = products.filter(|product| !product.is_empty()).collect();
        let products = match products.is_empty() {
            true => String::new(),
            false => format!(" on {}", products.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let is_unknown = |at: &usize| self.trials[*at].record.is_unknown();
        let known = || self.points.iter().filter(|point| !point.trials.iter().all(is_unknown));
        let [least, most] = [known().next(), known().next_back()]
            .map(|point| point.map(|point| load_text(point.clients, point.rate)));
        let load = match (least, most) {
            (Some(least), Some(most)) if least == most => format!(", {least}"),
            (Some(least), Some(most)) => format!(", {least} to {most}"),
            _ => match self.trials.len() {
                0 => String::new(),
                1 => ", a trial whose header cannot be read".to_owned(),
                trials => format!(", {trials} trials whose headers cannot be read"),
            },
        };
        format!("{}{products}{load}", header.plan_name)
    }

    /// The run's title, or its plan's name.
    pub(crate) fn title(&self) -> &'a str {
        let header = &self.run.header;
        header.title.as_deref().unwrap_or(&header.plan_name)
    }
}
