//! The systems and workloads of a plan, in their long and their short form.

use crate::keys::{Form, Key};
use crate::options::{Entry, Options};
use crate::source::{bad_name, clean_name};
use crate::value::{Spanned, Value};
use crate::{OptionReader, Problem};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    Workload,
}

pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) table: Options,
}

/// The keys by which a table says what it is.
pub(crate) fn kind_keys() -> Vec<Key> {
    vec![
        Key::new("kind", Form::Text, "what it is; without it, the name of its table says so"),
        Key::new("use", Form::Text, "another word for `kind`"),
    ]
}

impl Role {
    fn one(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::Workload => "workload",
        }
    }

    fn many(self) -> &'static str {
        match self {
            Role::System => "systems",
            Role::Workload => "workloads",
        }
    }

    fn example(self) -> &'static str {
        match self {
            Role::System => "sqlite",
            Role::Workload => "sysbench/oltp_read_write",
        }
    }
}

/// Reads every part of a role: `[systems.NAME]` tables, and the short `system = "kind"`.
pub(crate) fn read(
    reader: &mut OptionReader<'_>,
    role: Role,
    problems: &mut Vec<Problem>,
) -> Vec<Part> {
    let found = problems.len();
    let mut parts = Vec::new();
    if let Some(placed) = reader.placed(role.one()) {
        parts.extend(read_only_one(role, placed, problems));
    }
    for entry in reader.table(role.many(), problems).unwrap_or_default().entries {
        let Some(part) = read_named(role, &entry, problems) else { continue };
        if parts.iter().any(|other: &Part| other.name == part.name) {
            let message = format!("two {} are called `{}`", role.many(), part.name);
            let help = "give each table a name of its own; `kind` says what it is".to_owned();
            problems.push(Problem { span: entry.key_span, message, help: Some(help) });
        }
        parts.push(part);
    }
    if parts.is_empty() && problems.len() == found {
        problems.push(missing(role));
    }
    parts
}

fn missing(role: Role) -> Problem {
    let (one, many, example) = (role.one(), role.many(), role.example());
    Problem {
        span: None,
        message: format!("the plan has no {one}"),
        help: Some(format!(
            "add a [{many}.NAME] table with its `kind`, or set {one} = \"{example}\" at the top"
        )),
    }
}

/// `system = "sqlite"`, or a `[system]` table with its kind.
fn read_only_one(role: Role, placed: &Spanned, problems: &mut Vec<Problem>) -> Option<Part> {
    let table = as_table(role, role.one(), placed, problems)?;
    let Some((kind, table)) = read_kind(table, problems) else {
        problems.push(Problem {
            span: placed.span.clone(),
            message: format!("the {} has no `kind`", role.one()),
            help: Some(format!("set its kind, such as kind = \"{}\"", role.example())),
        });
        return None;
    };
    let name = clean_name(&label(&kind));
    Some(Part { name, kind, table })
}

/// `[systems.NAME]`, or `NAME = "kind"` below `[systems]`.
fn read_named(role: Role, entry: &Entry, problems: &mut Vec<Problem>) -> Option<Part> {
    let table = as_table(role, &entry.written, &entry.placed, problems)?;
    let (kind, table) = match read_kind(table.clone(), problems) {
        Some(read) => read,
        None => (entry.written.clone(), table),
    };
    // A key that is no kind is the name as it stands.
    let name = if kind == entry.written { label(&kind) } else { entry.written.clone() };
    if let Some(help) = bad_name(&name) {
        let message = format!("{name:?} is not a name for a {}", role.one());
        let help = Some(help.to_owned());
        problems.push(Problem { span: entry.key_span.clone(), message, help });
    }
    Some(Part { name, kind, table })
}

/// The part's table; a plain text is its kind.
fn as_table(
    role: Role,
    name: &str,
    placed: &Spanned,
    problems: &mut Vec<Problem>,
) -> Option<Options> {
    match &placed.value {
        Value::Table(table) => Some(table.clone()),
        Value::Text(_) => Some(Options::of_kind(placed)),
        other => {
            let help = format!("write its kind, such as \"{}\", or a table", role.example());
            let message = format!("`{name}` is {}, not a {}", other.kind(), role.one());
            problems.push(Problem { span: placed.span.clone(), message, help: Some(help) });
            None
        }
    }
}

/// The kind of a table, from `kind`, `use` or the scheme of its `url`. A kind that is itself a URL becomes the `url`
/// option.
fn read_kind(mut table: Options, problems: &mut Vec<Problem>) -> Option<(String, Options)> {
    let mut reader = table.reader();
    let (kind, used) = (reader.text("kind"), reader.text("use"));
    if kind.is_some() && used.is_some() {
        reader.reject("use", "both `kind` and `use` are set", "they mean the same: keep one");
    }
    problems.extend(reader.into_problems());
    let said = kind.or(used);
    if let Some(kind) = &said
        && let Some(scheme) = scheme(kind)
    {
        let key = if table.find("kind").is_some() { "kind" } else { "use" };
        table.add_copy(key, "url");
        return Some((scheme, table));
    }
    let by_url = || {
        let url = match &table.find("url")?.placed.value {
            Value::List(urls) => urls.first()?.value.as_text()?,
            url => url.as_text()?,
        };
        scheme(&url)
    };
    let kind = said.or_else(by_url)?;
    Some((kind, table))
}

/// The schemes of URLs, each with the kind of system that it names: for every name of a protocol an existing server.
pub const SCHEMES: [(&str, &str); 8] = [
    ("mysql", "mysql"),
    ("mariadb", "mysql"),
    ("tidb", "mysql"),
    ("postgres", "postgresql"),
    ("postgresql", "postgresql"),
    ("grpc", "grpc"),
    ("trpc", "trpc"),
    ("tcp", "tcp"),
];

/// The kind of system that a URL names; `None` for a text that is not a URL, or has another scheme.
pub fn kind_of_url(url: &str) -> Option<&'static str> {
    let (scheme, _) = url.split_once("://")?;
    SCHEMES.iter().find(|(name, _)| *name == scheme).map(|(_, kind)| *kind)
}

/// The kind of system that a URL names; a scheme that is not known stands for itself.
pub(crate) fn scheme(url: &str) -> Option<String> {
    Some(kind_of_url(url).unwrap_or(url.split_once("://")?.0).to_owned())
}

/// A short name from a long one: `oltp_read_only` of `sysbench/oltp_read_only`, `orders` of
/// `sql/orders.sql`, `pay+look` of `pay.sql@3,look.sql`.
pub(crate) fn label(kind: &str) -> String {
    kind.split(',').map(label_of_one).collect::<Vec<_>>().join("+")
}

fn label_of_one(kind: &str) -> String {
    let last = kind.trim().rsplit('/').next().unwrap_or(kind);
    if last.chars().count() == 1 {
        // A single letter is unclear without its prefix: `ycsb_a` of `ycsb/a`.
        return kind.trim().replace('/', "_");
    }
    last.split_once(".sql").map_or(last, |(stem, _)| stem).to_owned()
}
