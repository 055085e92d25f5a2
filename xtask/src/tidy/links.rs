//! Links of the documents: each leads to a file and a heading that are there, and the book has every page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;

use super::{Finding, files, read};

/// Folders with documents, below the root; those of the root itself are read too.
const FOLDERS: &[&str] = &["docs", "benchmarks", "plans"];
const ENDING: &str = "md";
/// The book's table of contents, and the folder of its pages.
const CONTENTS: &str = "docs/SUMMARY.md";
const BOOK: &str = "docs/";

struct Document {
    /// Path from the root.
    file: String,
    text: String,
}

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let documents = documents(root)?;
    let mut findings = Vec::new();
    for document in &documents {
        for (line, target) in links(&document.text) {
            if let Some(why) = broken(root, &documents, document, target) {
                let message = format!("the link to `{target}` is broken: {why}");
                findings.push(Finding { file: document.file.clone(), line, message });
            }
        }
    }
    findings.extend(missing_pages(&documents));
    Ok(findings)
}

fn documents(root: &Path) -> anyhow::Result<Vec<Document>> {
    let mut all = Vec::new();
    let entries = fs::read_dir(root).with_context(|| format!("cannot list {}", root.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) {
            all.push(read(root, &path)?);
        }
    }
    for folder in FOLDERS {
        all.extend(files(root, &root.join(folder), ENDING)?);
    }
    Ok(all.into_iter().map(|(file, text)| Document { file, text }).collect())
}

/// Lines outside of blocks of code, counted from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// The targets of all links, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    prose(text)
        .flat_map(|(at, line)| {
            let ends = line.split("](").skip(1);
            ends.filter_map(move |rest| Some((at, rest.split_once(')')?.0)))
        })
        .collect()
}

/// Why a link leads nowhere; `None` when it leads to something, or out of the repository.
fn broken(root: &Path, all: &[Document], from: &Document, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => from.file.clone(),
        path => joined(&from.file, path),
    };
    if !root.join(&file).exists() {
        return Some(format!("there is no {file}"));
    }
    let document = all.iter().find(|it| it.file == file)?;
    let is_there = heading.is_empty() || anchors(&document.text).contains(heading);
    (!is_there).then(|| format!("{file} has no heading `{heading}`"))
}

/// A path beside a file, without `.` and `..`.
fn joined(from: &str, path: &str) -> String {
    let mut out = PathBuf::from(from);
    out.pop();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out.to_string_lossy().into_owned()
}

/// The names by which headings and marks are linked, as Git hosts and mdBook make them: in lower case, without signs, with
/// dashes for spaces, and with a number from the second of the same on.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (_, line) in prose(text) {
        let marks = line.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        all.extend(marks.map(str::to_owned));
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().to_lowercase();
        let kept = kept.chars().filter(|it| it.is_alphanumeric() || "-_ ".contains(*it));
        let name: String = kept.map(|it| if it == ' ' { '-' } else { it }).collect();
        let numbered = (1..).map(|count| format!("{name}-{count}"));
        let first = std::iter::once(name.clone()).chain(numbered).find(|it| !all.contains(it));
        all.extend(first);
    }
    all
}

/// Pages of the book that its table of contents does not name.
fn missing_pages(documents: &[Document]) -> Vec<Finding> {
    let Some(contents) = documents.iter().find(|it| it.file == CONTENTS) else { return Vec::new() };
    let named: BTreeSet<String> =
        links(&contents.text).into_iter().map(|(_, target)| joined(CONTENTS, target)).collect();
    let is_page = |it: &&Document| it.file.starts_with(BOOK) && it.file != CONTENTS;
    let missing = documents.iter().filter(is_page).filter(|it| !named.contains(&it.file));
    let finding = |it: &Document| Finding {
        file: CONTENTS.to_owned(),
        line: 1,
        message: format!("the book has no {}: name it here", it.file),
    };
    missing.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(file: &str, text: &str) -> Document {
        Document { file: file.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_link_to_no_file_or_no_heading_is_broken() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("docs")).unwrap();
        for file in ["README.md", "docs/a.md"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        let all = [
            document("README.md", ""),
            document("docs/a.md", "# The `p99`, and why\n## b\n## b\n"),
        ];
        let broken = |from: usize, target| broken(root.path(), &all, &all[from], target);
        for target in ["docs/a.md", "docs/a.md#the-p99-and-why", "docs/", "https://example.org/x"] {
            assert_eq!(broken(0, target), None, "{target}");
        }
        assert_eq!(broken(1, "../README.md"), None);
        assert_eq!(broken(1, "#b-1"), None);
        assert_eq!(broken(0, "docs/b.md").unwrap(), "there is no docs/b.md");
        assert_eq!(broken(1, "#c").unwrap(), "docs/a.md has no heading `c`");
    }

    #[test]
    fn links_within_code_are_none() {
        let text = "[a](b.md) and [c](d.md#e)\n```\n[x](y)\n```\n";
        assert_eq!(links(text), [(1, "b.md"), (1, "d.md#e")]);
    }

    #[test]
    fn a_page_that_the_contents_do_not_name_is_a_finding() {
        let all = [
            document("docs/SUMMARY.md", "- [a](a.md)\n"),
            document("docs/a.md", ""),
            document("docs/b/c.md", ""),
        ];
        let findings = missing_pages(&all);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains("no docs/b/c.md"), "{findings:?}");
    }
}
