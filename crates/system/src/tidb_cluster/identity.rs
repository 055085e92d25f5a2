//! The name of a cluster in titles, and the settings that describe its servers.

use measure::Identity;

use super::member::Role;
use super::program::Program;

/// Names the storage by the stores' own version output, in place of TiDB's view of them.
pub(super) fn with_storage(identity: Identity, store: &Program, stores: usize) -> Identity {
    let name = match (store.is_tikv(), store.version()) {
        (true, Some(version)) => format!("TiKV {version}"),
        (true, None) => "TiKV".to_owned(),
        // TiDB takes every store with TiKV's protocol for TiKV.
        (false, _) => store.file_name(),
    };
    let plural = if stores == 1 { "" } else { "s" };
    Identity { storage: format!("{name}, {stores} store{plural}"), ..identity }
}

/// Settings that TiDB does not report, and builds that are not fit for measuring.
pub(super) fn unreported_settings_of(programs: &[(Role, &Program)]) -> Vec<(String, String)> {
    let mut unreported_settings = Vec::new();
    for (role, program) in programs {
        let mut add_setting = |what: &str, value: &str| {
            unreported_settings.push((format!("{}_{what}", role.name()), value.to_owned()));
        };
        // TiDB reports these itself.
        if *role != Role::TiDb {
            program.version().iter().for_each(|version| add_setting("version", version));
            program.commit().iter().for_each(|commit| add_setting("commit", commit));
        }
        if let Some(why) = program.built_for_debugging() {
            add_setting("built_for_debugging", &why);
        }
    }
    unreported_settings
}

/// A warning about a program that is not fit for measuring.
pub(super) fn warning(role: Role, program: &Program) -> Option<String> {
    let why = program.built_for_debugging()?;
    Some(format!(
        "{} ({}) is built for debugging: {why}. It may be many times slower than a release, and what is \
         measured on it says little about one",
        role.program(),
        program.path.display()
    ))
}
