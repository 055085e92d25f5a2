//! What is said below a comparison of variants: how the load went to them, why rounds ended, and what weakens the ratios.

use crate::comparison::Group;
use crate::variance::ratios;
use crate::{bounded, noise_floor, rounds, windows};

pub(crate) fn notes(group: &Group<'_, '_>) -> Vec<String> {
    let noise = group.again.map(|_| noise_floor::NOTE.to_owned());
    let windows = windows::note(group.digest());
    let ended = rounds::ended(group).map(|ended| ended.text());
    let [unknown, within] = [bounded::unknown(group), bounded::within(group)];
    let rounds = [windows, ended, group.too_few_rounds(), unknown, within];
    rounds.into_iter().chain([ratios::note(group), noise]).flatten().collect()
}
