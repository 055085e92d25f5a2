//! The argument of `--system` on the command line.

use std::path::Path;

use plan::kind_of_url;

/// File name extensions of SQLite databases.
const SQLITE_ENDINGS: [&str; 3] = ["db", "sqlite", "sqlite3"];

/// The kind and the options for an argument: a URL, `sqlite:PATH`, `tidb:PATH`, the path of a database file, or the
/// name of a kind. [`crate::read`] checks whether the kind exists.
pub fn from_argument(argument: &str) -> (String, Vec<(String, String)>) {
    if let Some(kind) = kind_of_url(argument) {
        return with_option(kind, "url", argument);
    }
    if let Some(path) = argument.strip_prefix("sqlite:") {
        // Other tools write `sqlite://` before the path.
        return with_option("sqlite", "path", path.strip_prefix("//").unwrap_or(path));
    }
    if let Some(binary) = argument.strip_prefix("tidb:") {
        return with_option("tidb", "binary", binary);
    }
    if names_a_database_file(argument) {
        return with_option("sqlite", "path", argument);
    }
    (argument.to_owned(), Vec::new())
}

fn with_option(kind: &str, name: &str, value: &str) -> (String, Vec<(String, String)>) {
    (kind.to_owned(), vec![(name.to_owned(), value.to_owned())])
}

fn names_a_database_file(argument: &str) -> bool {
    Path::new(argument)
        .extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| SQLITE_ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(argument: &str) -> (String, String) {
        let (kind, options) = from_argument(argument);
        let options: Vec<String> =
            options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (kind, options.join(" "))
    }

    #[test]
    fn urls_files_and_names_are_distinguished() {
        for (argument, kind, options) in [
            ("mysql://root@127.0.0.1:3306/test", "mysql", "url=mysql://root@127.0.0.1:3306/test"),
            ("trpc://h:1/a.B/C", "trpc", "url=trpc://h:1/a.B/C"),
            ("grpc://h:1/a.B/C", "grpc", "url=grpc://h:1/a.B/C"),
            ("tcp://h:1", "tcp", "url=tcp://h:1"),
            ("sqlite:/tmp/x", "sqlite", "path=/tmp/x"),
            ("sqlite:///tmp/x", "sqlite", "path=/tmp/x"),
            ("data/bench.db", "sqlite", "path=data/bench.db"),
            ("bench.sqlite3", "sqlite", "path=bench.sqlite3"),
            ("mariadb", "mariadb", ""),
            ("tidb", "tidb", ""),
            ("tidb:bin/tidb-server", "tidb", "binary=bin/tidb-server"),
            ("marriadb", "marriadb", ""),
        ] {
            assert_eq!(read(argument), (kind.to_owned(), options.to_owned()), "{argument}");
        }
    }
}
