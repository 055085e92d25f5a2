//! Circles between the files of a room: a file that imports another one, which imports it in return, cannot be read alone.
//! What a module takes from the modules that contain it is not counted: a parent that calls its children, which share its
//! types, is Rust's idiom.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};

use super::Finding;
use super::source::Source;

/// More files than these are too many to keep in mind at once.
const FILES_MAX: usize = 3;

/// Follows re-exports of re-exports up to this number, so that names that lead to themselves end.
const HOPS_MAX: usize = 16;

type Path = Vec<String>;

/// One file of a room, by the names that it declares, imports and uses.
#[derive(Default)]
struct Module {
    declared: BTreeSet<String>,
    /// Each imported name and its path.
    imported: Vec<(String, Path)>,
    /// Modules whose names are all imported.
    globs: Vec<Path>,
    /// The paths that its code names, private imports included.
    used: BTreeSet<Path>,
}

/// The modules of a room by their paths from its root.
struct Room(BTreeMap<Path, Module>);

/// Every circle of more than [`FILES_MAX`] files in a room.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut rooms: BTreeMap<&str, Vec<(Path, &Source)>> = BTreeMap::new();
    for source in sources.iter().filter(|it| !it.is_test) {
        if let Some((room, file)) = source.file.split_once("/src/") {
            rooms.entry(room).or_default().push((module_path(file), source));
        }
    }
    rooms.into_values().flat_map(|files| circles(&files)).collect()
}

/// `a/b.rs` is the module `a::b`; `lib.rs`, `main.rs` and `mod.rs` are that of their folder.
fn module_path(file: &str) -> Path {
    let mut path: Path = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    path.pop_if(|last| matches!(last.as_str(), "lib" | "main" | "mod"));
    path
}

fn circles(files: &[(Path, &Source)]) -> Vec<Finding> {
    let parsed = files.iter().filter_map(|(path, source)| {
        // The compiler reports a file that cannot be parsed.
        let file = syn::parse_file(&source.text).ok()?;
        let mut module = Module::default();
        module.visit_file(&file);
        Some((path.clone(), module))
    });
    let room = Room(parsed.collect());
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        room.0.keys().map(|from| (from, room.reached(from))).collect();
    let reaches = |from: &Path, to: &Path| reached.get(from).is_some_and(|it| it.contains(to));
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for (path, source) in files {
        let circle = files.iter().filter(|(it, _)| reaches(path, it) && reaches(it, path));
        let names: Vec<&str> = circle.map(|(_, source)| source.file.as_str()).collect();
        if names.len() > FILES_MAX && seen.insert(names[0]) {
            let message = format!(
                "{} files import each other in a circle, {FILES_MAX} are the most: {}",
                names.len(),
                names.join(", ")
            );
            findings.push(source.finding(1, message));
        }
    }
    findings
}

impl Room {
    /// Every module that `from` imports, directly or through others, but for those that contain the importing one.
    fn reached<'a>(&'a self, from: &'a Path) -> BTreeSet<&'a Path> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(module) = open.pop() {
            let used = self.0.get(module).into_iter().flat_map(|it| &it.used);
            let targets = used.filter_map(|path| self.declares(module, path, HOPS_MAX));
            open.extend(targets.filter(|it| !module.starts_with(it) && reached.insert(*it)));
        }
        reached
    }

    /// The module that declares what `path` names in `module`; `None` for other crates and for modules themselves.
    fn declares<'a>(&'a self, module: &Path, path: &[String], hops: usize) -> Option<&'a Path> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.below(Vec::new(), rest, hops),
            "self" => self.below(module.clone(), rest, hops),
            "super" => {
                let parent = module[..module.len().checked_sub(1)?].to_vec();
                if rest.first().is_some_and(|next| next == "super") {
                    return self.declares(&parent, rest, hops);
                }
                self.below(parent, rest, hops)
            }
            _ => self.below(module.clone(), path, hops),
        }
    }

    /// The same for a path below `module`.
    fn below<'a>(&'a self, mut module: Path, path: &[String], hops: usize) -> Option<&'a Path> {
        let (first, rest) = path.split_first()?;
        let (own, names) = self.0.get_key_value(&module)?;
        let hops = hops.checked_sub(1)?;
        if names.declared.contains(first) {
            return Some(own);
        }
        module.push(first.clone());
        // A function and a module may have the same name; only the module has names below it.
        if !rest.is_empty() && self.0.contains_key(&module) {
            return self.below(module, rest, hops);
        }
        if let Some((_, target)) = names.imported.iter().find(|(name, _)| name == first) {
            return self.declares(own, &[target, rest].concat(), hops);
        }
        names.globs.iter().find_map(|glob| self.declares(own, &[glob, path].concat(), hops))
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, mut path: Path, is_private: bool) {
        let (name, last) = match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                return self.import(&tree.tree, path, is_private);
            }
            UseTree::Group(group) => {
                return group.items.iter().for_each(|it| self.import(it, path.clone(), is_private));
            }
            UseTree::Glob(_) => return self.globs.push(path),
            UseTree::Name(tree) => (tree.ident.to_string(), tree.ident.to_string()),
            UseTree::Rename(tree) => (tree.rename.to_string(), tree.ident.to_string()),
        };
        let name = match last.as_str() {
            "self" => path.last().cloned().unwrap_or_default(),
            _ => {
                path.push(last);
                name
            }
        };
        if is_private {
            self.used.insert(path.clone());
        }
        self.imported.push((name, path));
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let (name, attributes) = match item {
            Item::Use(item) => {
                let is_private = matches!(item.vis, Visibility::Inherited);
                if !is_for_tests(&item.attrs) {
                    self.import(&item.tree, Vec::new(), is_private);
                }
                return;
            }
            Item::Const(it) => (Some(&it.ident), &it.attrs),
            Item::Enum(it) => (Some(&it.ident), &it.attrs),
            Item::Fn(it) => (Some(&it.sig.ident), &it.attrs),
            Item::Macro(it) => (it.ident.as_ref(), &it.attrs),
            Item::Mod(it) => (it.content.as_ref().map(|_| &it.ident), &it.attrs),
            Item::Static(it) => (Some(&it.ident), &it.attrs),
            Item::Struct(it) => (Some(&it.ident), &it.attrs),
            Item::Trait(it) => (Some(&it.ident), &it.attrs),
            Item::Type(it) => (Some(&it.ident), &it.attrs),
            Item::Impl(it) => (None, &it.attrs),
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            self.declared.extend(name.map(ToString::to_string));
            visit::visit_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.used.insert(path.segments.iter().map(|it| it.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |it: &Attribute| {
        it.path().is_ident("cfg") && it.parse_args::<syn::Ident>().is_ok_and(|it| it == "test")
    };
    attributes.iter().any(is_test)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `lib.rs`, and files `a`, `b`, `c`, `d` with these texts.
    fn found(lib: &str, texts: [&str; 4]) -> Vec<String> {
        let file = |name: &str, text: &str| {
            Source::new(format!("crates/x/src/{name}.rs"), text.to_owned())
        };
        let names = ["a", "b", "c", "d"];
        let files = names.iter().zip(texts).map(|(name, text)| file(name, text));
        let sources: Vec<Source> = files.chain([file("lib", lib)]).collect();
        check(&sources).iter().map(Finding::to_string).collect()
    }

    const CIRCLE: [&str; 4] = [
        "use crate::b::B; pub struct A(B);",
        "pub struct B; fn b() { super::c::c(); }",
        "use crate::D; pub fn c() -> D { D }",
        "use crate::a; pub struct D; impl D { fn d(_: &a::A) {} }",
    ];

    #[test]
    fn four_files_in_a_circle_are_a_finding() {
        assert_eq!(
            found("mod a; mod b; mod c; mod d; pub use d::D;", CIRCLE),
            ["crates/x/src/a.rs:1: 4 files import each other in a circle, 3 are the most: \
              crates/x/src/a.rs, crates/x/src/b.rs, crates/x/src/c.rs, crates/x/src/d.rs"]
        );
    }

    #[test]
    fn three_files_and_imports_of_tests_modules_and_other_crates_are_none() {
        let [a, b, c, _] = CIRCLE;
        for [c, d] in [
            [c, "pub struct D; #[cfg(test)] mod tests { use crate::a::A; }"],
            [c, "pub struct D; use crate::a;"],
            [c, "pub struct D; use a::A;"],
            ["use crate::a::A; pub fn c() {}", ""],
        ] {
            assert!(found("pub use d::D;", [a, b, c, d]).is_empty(), "{c} {d}");
        }
    }
}
