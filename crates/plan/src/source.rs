//! The text that a plan was read from.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::{Problem, Problems, read_text, scrub, spelling};

/// The text that a plan was read from, to which messages can point. Its `Debug` shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    /// Its origin as shown to a person: a path, or `command line`.
    pub name: String,
    pub text: String,
    /// The folder at which relative paths in the plan start.
    pub folder: PathBuf,
}

impl Source {
    /// Reads a plan's file.
    ///
    /// # Errors
    /// The reason why it cannot be read, with the plans in the same folder, the nearest name first, or in the folder that
    /// it is.
    pub fn read(path: &Path) -> Result<Self, Problems> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let name = path.display().to_string();
        match read_text(path) {
            Ok(text) => Ok(Self { name, text, folder }),
            Err(error) => {
                let (message, help) = match path.is_dir() {
                    true => ("this is a folder, not a plan".to_owned(), plans_within(path)),
                    false => {
                        let help = match error.kind() {
                            ErrorKind::NotFound => plans_beside(path, &folder),
                            _ => None,
                        };
                        (format!("cannot read this plan: {error}"), help)
                    }
                };
                let source = Self { name, text: String::new(), folder };
                Err(Problems::new(&source, vec![Problem { span: None, message, help }]))
            }
        }
    }

    /// The same text without passwords; this one may be written, shown and stored.
    #[must_use]
    pub fn scrubbed(&self) -> Self {
        Self {
            name: scrub::scrub(&self.name),
            text: scrub::scrub(&self.text),
            folder: self.folder.clone(),
        }
    }

    /// The plan's default name: the file's stem, with only characters that are valid in a folder's name.
    pub(crate) fn stem(&self) -> String {
        let stem = Path::new(&self.name).file_stem().and_then(OsStr::to_str).unwrap_or_default();
        clean_name(stem)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, text, folder } = self.scrubbed();
        f.debug_struct("Source")
            .field("name", &name)
            .field("text", &text)
            .field("folder", &folder)
            .finish()
    }
}

/// Help for a name that is not valid for files and folders; `None` when it is valid.
pub fn bad_name(name: &str) -> Option<&'static str> {
    let is_good =
        !name.is_empty() && !name.starts_with(['.', '-']) && name.chars().all(is_name_letter);
    (!is_good).then_some("use letters, digits, `_`, `-`, `+` and `.`, beginning with a letter")
}

/// The name with only characters that are valid for files and folders.
pub(crate) fn clean_name(name: &str) -> String {
    let kept: String = name.chars().map(|c| if is_name_letter(c) { c } else { '_' }).collect();
    let kept = kept.trim_start_matches(['.', '-']);
    if kept.is_empty() { "unnamed".to_owned() } else { kept.to_owned() }
}

/// Characters that are allowed in names which become parts of file names.
fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || "_-.+".contains(letter)
}

/// Help for a plan that is not there: the plans in its folder, the nearest name first.
fn plans_beside(path: &Path, folder: &Path) -> Option<String> {
    let plans = plans_in(folder);
    let names: Vec<&str> = plans.iter().filter_map(|plan| plan.file_name()?.to_str()).collect();
    let wanted = path.file_name()?.to_str()?;
    (!names.is_empty()).then(|| spelling::help_for(wanted, &names).replace("allowed:", "here are:"))
}

/// Help for a folder in the place of a plan: the plans in it, as they are to be typed.
fn plans_within(folder: &Path) -> Option<String> {
    let plans: Vec<String> =
        plans_in(folder).iter().map(|plan| plan.display().to_string()).collect();
    (!plans.is_empty()).then(|| format!("in it are: {}", plans.join(", ")))
}

/// The plans in a folder, in the order of their names.
fn plans_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut plans: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|it| is_plan(it)).collect();
    plans.sort_unstable();
    plans
}

/// Whether a file is of TOML and has a system or a workload, as other TOML files have not.
fn is_plan(file: &Path) -> bool {
    const KEYS: [&str; 4] = ["system", "systems", "workload", "workloads"];
    if file.extension().is_none_or(|extension| extension != "toml") {
        return false;
    }
    let Ok(text) = read_text(file) else { return false };
    let document = text.parse::<toml_edit::DocumentMut>();
    document.is_ok_and(|document| KEYS.iter().any(|key| document.contains_key(key)))
}
