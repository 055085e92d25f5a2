//! Plans that are compiled into dyno, for `dyno run NAME`.

use std::path::{Path, PathBuf};

use plan::Source;

macro_rules! plans {
    ($($name:literal),+) => {
        [$(($name, include_str!(concat!("../../../../plans/", $name, ".toml")))),+]
    };
}

/// Plans that need no other file.
const PLANS: [(&str, &str); 9] = plans!(
    "quickstart",
    "mariadb-sysbench",
    "open-loop",
    "compare-in-windows",
    "trpc-echo",
    "tidb-three-nodes",
    "tpcc-three-nodes",
    "tpch-three-nodes",
    "ycsb-six-nodes"
);

/// The plan of this name, with or without `.toml`.
pub(super) fn find(path: &Path) -> Option<Source> {
    let typed = path.to_str()?;
    let name = typed.strip_suffix(".toml").unwrap_or(typed);
    let (_, text) = PLANS.iter().find(|(known, _)| *known == name)?;
    let folder = PathBuf::from(".");
    Some(Source { name: format!("{name}.toml"), text: (*text).to_owned(), folder })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use runner::Experiment;

    use super::*;
    use crate::args::Args;

    #[test]
    fn every_plan_is_read_without_files_and_named_in_the_help() {
        let mut command = Args::command();
        let help = command.find_subcommand_mut("run").unwrap().render_long_help().to_string();
        for (name, _) in PLANS {
            let source = find(Path::new(name)).unwrap();
            assert_eq!(find(Path::new(&format!("{name}.toml"))).unwrap(), source);
            let read = Experiment::read(source);
            assert!(read.is_ok(), "{name}: {}", read.err().unwrap());
            assert!(help.contains(name), "{name}: {help}");
        }
        assert_eq!(find(Path::new("plans/quickstart.toml")), None);
    }
}
