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

/// The setting of a system that says how its sessions are encrypted, and how its value begins where they are not.
const ENCRYPTION: (&str, &str) = ("encryption", "none");

/// What to know of facts that differ, where encryption is among them on one side only.
pub(crate) fn encryption_note<'a>(
    mut differing: impl Iterator<Item = (&'a str, &'a [String])>,
) -> Option<String> {
    let (_, values) = differing.find(|(name, _)| *name == ENCRYPTION.0)?;
    let plain = values.iter().filter(|value| value.starts_with(ENCRYPTION.1)).count();
    (plain > 0 && plain < values.len()).then(|| {
        "Sessions are encrypted on one side only: TLS costs client and server CPU time with each statement, often more than \
         what is compared. Set the same mode (ssl_mode) for all."
            .to_owned()
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encryption_on_one_side_only_is_told_and_other_ciphers_are_not() {
        let note = |name: &str, values: [&str; 2]| {
            let values = values.map(str::to_owned);
            encryption_note(std::iter::once((name, &values[..]))).is_some()
        };
        assert!(note("encryption", ["TLS 1.3, AES_256_GCM", "none"]));
        assert!(note("encryption", ["none (unix socket)", "TLS 1.3, AES_256_GCM"]));
        assert!(!note("encryption", ["TLS 1.3, AES_256_GCM", "TLS 1.2, AES_128_GCM"]));
        assert!(!note("encryption", ["none (unix socket)", "none"]));
        assert!(!note("connection", ["none", "TLS"]));
    }
}
