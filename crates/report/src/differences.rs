//! What distinguishes several systems or runs: the facts that are not the same for all of them.

use record::Identity;

use crate::table::Table;

pub(crate) type Facts = Vec<(String, String)>;

/// A row for each fact that is not the same for all of these, a column for each of them.
pub(crate) fn table(columns: &[(&str, Facts)]) -> Table {
    let heads =
        columns.iter().fold(Table::new().words("setting"), |table, (head, _)| table.words(*head));
    let mut table = heads;
    for (name, values) in of(columns) {
        table.row([vec![name], values].concat());
    }
    table
}

/// Each fact that is not the same for all of these, with its value in each; `-` where it is not known.
pub(crate) fn of(columns: &[(&str, Facts)]) -> Vec<(String, Vec<String>)> {
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in columns.iter().flat_map(|(_, facts)| facts) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let values = |name: &String| -> Vec<String> {
        let value = |facts: &Facts| {
            let fact = facts.iter().find(|(known, _)| known == name);
            fact.map_or("-".to_owned(), |(_, value)| value.clone())
        };
        columns.iter().map(|(_, facts)| value(facts)).collect()
    };
    let all = names.into_iter().map(|name| (name.clone(), values(name)));
    all.filter(|(_, values)| values.iter().any(|value| *value != values[0])).collect()
}

/// What is known of a system; nothing of one that was not reached.
pub(crate) fn facts(identity: &Identity) -> Facts {
    let own = [
        ("product", Some(&identity.product)),
        ("version", Some(&identity.version)),
        ("storage", Some(&identity.storage)),
        ("build", identity.build.as_ref()),
    ];
    let own = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.clone())));
    let settings = identity.settings.iter().cloned();
    own.chain(settings).filter(|(_, value)| !value.is_empty()).collect()
}
