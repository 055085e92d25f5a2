//! The schema of a plan, made from the tables of options that help and readers share.

use ::plan::declared::{OptionInfo, infos};
use ::plan::{Key, SCHEMES, plan_keys};
use serde_json::{Map, Value, json};

use super::DRAFT;
use super::keys::{any_of, closed, properties, text};

/// Options that have a second name, which help does not list.
const OTHER_NAMES: [(&str, &str); 1] = [("engine", "mysql_storage_engine")];

/// A kind of system or workload, or several that have the same options.
struct Kinds {
    /// The name of its definition.
    definition: String,
    /// How a plan writes them.
    names: Vec<String>,
    /// Patterns of other spellings: a URL, a file.
    patterns: Vec<String>,
    options: Vec<OptionInfo>,
}

pub(super) fn schema() -> Value {
    let keys = plan_keys();
    let (systems, workloads) = (systems(), workloads());
    let mut definitions = Map::new();
    for (kinds, own) in [(&systems, &keys.system), (&workloads, &keys.workload)] {
        for kind in kinds {
            kind.define(own, &mut definitions);
        }
    }
    let mut top = properties(&keys.top);
    for (one, many, kinds) in
        [("system", "systems", &systems), ("workload", "workloads", &workloads)]
    {
        definitions.insert(one.to_owned(), part(kinds));
        set_form(&mut top, one, json!({ "allOf": [reference(one)] }));
        set_form(&mut top, many, named(one, kinds));
    }
    let mut schema = closed(top);
    schema["$schema"] = DRAFT.into();
    schema["title"] = "A plan of dyno".into();
    schema["definitions"] = definitions.into();
    schema
}

/// Replaces the form of a property and keeps its description.
fn set_form(properties: &mut Map<String, Value>, name: &str, mut form: Value) {
    if let Some(property) = properties.get_mut(name) {
        form["description"] = property["description"].take();
        *property = form;
    }
}

fn systems() -> Vec<Kinds> {
    let kind = |kind: &&system::Kind| {
        let schemes = SCHEMES.iter().filter(|(_, named)| *named == kind.name);
        Kinds {
            definition: format!("system-{}", kind.name),
            names: vec![kind.name.to_owned()],
            patterns: schemes.map(|(scheme, _)| format!("^{scheme}://")).collect(),
            options: infos(kind.options),
        }
    };
    system::catalogue().iter().map(kind).collect()
}

/// Kinds with the same options, such as the scripts of sysbench, share a definition.
fn workloads() -> Vec<Kinds> {
    let mut all: Vec<Kinds> = Vec::new();
    for info in workload::catalogue() {
        let is_file = info.kind.ends_with(".sql");
        let mut names = if is_file { Vec::new() } else { vec![info.kind.clone()] };
        let short = info.kind.rsplit('/').next().unwrap_or_default();
        if workload::whole_name(short).is_some_and(|whole| whole == info.kind) {
            names.push(short.to_owned());
        }
        let patterns = if is_file { vec![r"\.sql".to_owned()] } else { Vec::new() };
        match all.iter_mut().find(|kinds| kinds.options == info.options) {
            Some(kinds) => {
                kinds.names.extend(names);
                kinds.patterns.extend(patterns);
            }
            None => all.push(Kinds {
                definition: format!("workload-{}", info.kind.replace('/', "-")),
                names,
                patterns,
                options: info.options,
            }),
        }
    }
    all.push(Kinds {
        definition: "workload-simulated".to_owned(),
        names: vec!["simulated".to_owned()],
        patterns: Vec::new(),
        options: Vec::new(),
    });
    all
}

impl Kinds {
    /// Adds the definitions of its table, and of the tables of its variants if it has any.
    fn define(&self, own: &[Key], definitions: &mut Map<String, Value>) {
        let options: Vec<Key> = self.options.iter().map(OptionInfo::key).collect();
        let mut all = properties(own.iter().chain(&options));
        for (option, other) in OTHER_NAMES {
            if let Some(property) = all.get(option).cloned() {
                all.insert(other.to_owned(), property);
            }
        }
        if let Some(mut variants) = all.remove("variants") {
            let mut variant = all.clone();
            ["kind", "use"].iter().for_each(|key| drop(variant.remove(*key)));
            let name = format!("{}-variant", self.definition);
            variants["additionalProperties"] = reference(&name);
            all.insert("variants".to_owned(), variants);
            definitions.insert(name, closed(variant));
        }
        for key in ["kind", "use"] {
            set_form(&mut all, key, self.spelling());
        }
        let mut table = closed(all);
        if self.names.iter().any(|name| name.starts_with("ycsb/")) {
            // Properties of go-ycsb's bindings, which dyno answers one by one.
            table["patternProperties"] = json!({ r"^[a-z]+\.": {} });
        }
        definitions.insert(self.definition.clone(), table);
    }

    /// The texts that name it.
    fn spelling(&self) -> Value {
        let words = (!self.names.is_empty()).then(|| json!({ "enum": self.names }));
        any_of(words.into_iter().chain(self.patterns.iter().map(|it| text(it))).collect())
    }

    /// A table that says that it is of this kind.
    fn said(&self) -> Value {
        let mut ways = vec![json!({ "required": ["kind"] }), json!({ "required": ["use"] })];
        let schemes: Vec<Value> =
            self.patterns.iter().filter(|it| it.ends_with("://")).map(|it| text(it)).collect();
        if !schemes.is_empty() {
            let list = json!({ "type": "array", "items": any_of(schemes.clone()) });
            let url = any_of(schemes.into_iter().chain([list]).collect());
            ways.push(json!({ "required": ["url"], "properties": { "url": url } }));
        }
        json!({ "allOf": [reference(&self.definition), any_of(ways)] })
    }
}

/// The text or the table of one part, whatever it is called.
fn part(kinds: &[Kinds]) -> Value {
    any_of(kinds.iter().flat_map(|kind| [kind.spelling(), kind.said()]).collect())
}

/// The tables of all parts; one that is called as a kind needs no `kind`.
fn named(one: &str, kinds: &[Kinds]) -> Value {
    let mut properties = Map::new();
    for kind in kinds {
        for name in &kind.names {
            let form = any_of(vec![reference(&kind.definition), reference(one)]);
            properties.insert(name.clone(), form);
        }
    }
    // A table that is called as a file or by a URL.
    let patterns = kinds.iter().flat_map(|kind| {
        let form = move || any_of(vec![reference(&kind.definition), reference(one)]);
        kind.patterns.iter().map(move |pattern| (pattern.clone(), form()))
    });
    json!({
        "type": "object",
        "properties": properties,
        "patternProperties": patterns.collect::<Map<_, _>>(),
        "additionalProperties": reference(one),
    })
}

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{definition}") })
}
