//! The text that a plan was read from.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Problem, Problems, scrub, spelling};

/// The text that a plan was read from, for pointing into it. Its `Debug` shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it came from, as a person names it: a path, or `command line`.
    pub name: String,
    /// The text.
    pub text: String,
    /// The folder that relative paths in the plan count from.
    pub folder: PathBuf,
}

impl Source {
    /// Reads a plan's file.
    ///
    /// # Errors
    /// Why it cannot be read, with the nearest plan in the same folder.
    pub fn read(path: &Path) -> Result<Self, Problems> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let name = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Ok(Self { name, text, folder }),
            Err(error) => {
                let message = format!("cannot read this plan: {error}");
                let help = plans_beside(path, &folder);
                let source = Self { name, text: String::new(), folder };
                Err(Problems::new(&source, vec![Problem { span: None, message, help }]))
            }
        }
    }

    /// The same text without passwords: what may be written, shown and kept.
    #[must_use]
    pub fn scrubbed(&self) -> Self {
        Self {
            name: scrub::scrub(&self.name),
            text: scrub::scrub(&self.text),
            folder: self.folder.clone(),
        }
    }

    /// The plan's name when its text does not say: the file's stem, with letters that a folder's
    /// name takes.
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

/// What to say about a name that files and folders cannot bear; `None` when they can.
pub(crate) fn bad_name(name: &str) -> Option<&'static str> {
    let is_good =
        !name.is_empty() && !name.starts_with(['.', '-']) && name.chars().all(is_name_letter);
    (!is_good).then_some("use letters, digits, `_`, `-`, `+` and `.`, beginning with a letter")
}

/// The name with letters that files and folders can bear.
pub(crate) fn clean_name(name: &str) -> String {
    let kept: String = name.chars().map(|c| if is_name_letter(c) { c } else { '_' }).collect();
    let kept = kept.trim_start_matches(['.', '-']);
    if kept.is_empty() { "unnamed".to_owned() } else { kept.to_owned() }
}

/// Letters of names that become parts of file names.
fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || "_-.+".contains(letter)
}

/// What to say about a plan that cannot be read: the plans that are in its folder.
fn plans_beside(path: &Path, folder: &Path) -> Option<String> {
    let mut plans: Vec<String> = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()))
        .collect();
    plans.sort_unstable();
    let names: Vec<&str> = plans.iter().map(String::as_str).collect();
    let wanted = path.file_name()?.to_str()?;
    (!names.is_empty()).then(|| spelling::help_for(wanted, &names).replace("allowed:", "here are:"))
}
