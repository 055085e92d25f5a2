//! The files that the workloads of a plan name: in a folder of this machine, or as contents that came with a plan from
//! another one, where no file of this machine is opened.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::read_text;

/// Reads the files that a plan names.
#[derive(Debug)]
pub struct Files(Origin);

#[derive(Debug)]
enum Origin {
    /// Names are relative to this folder.
    Folder(PathBuf),
    /// The same, and what was read is kept.
    Kept(PathBuf, Mutex<FileContents>),
    Shipped(FileContents),
}

/// Contents by the names that the plan has for the files. `Debug` shows the names alone.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileContents(BTreeMap<String, Vec<u8>>);

impl FileContents {
    /// Each file with its bytes, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }
}

impl Files {
    pub fn of(folder: impl Into<PathBuf>) -> Self {
        Self(Origin::Folder(folder.into()))
    }

    /// The files of a folder; what is read is kept for [`Files::contents`].
    pub fn kept_of(folder: impl Into<PathBuf>) -> Self {
        Self(Origin::Kept(folder.into(), Mutex::default()))
    }

    /// The files that came from another machine.
    pub fn shipped(contents: FileContents) -> Self {
        Self(Origin::Shipped(contents))
    }

    /// What was read so far, for another machine; nothing if it was not kept.
    pub fn contents(&self) -> FileContents {
        match &self.0 {
            Origin::Folder(_) => FileContents::default(),
            Origin::Kept(_, contents) => lock(contents).clone(),
            Origin::Shipped(contents) => contents.clone(),
        }
    }

    /// Where relative names start, for messages.
    pub fn place(&self) -> String {
        match &self.0 {
            Origin::Folder(folder) | Origin::Kept(folder, _) => folder.display().to_string(),
            Origin::Shipped(_) => "the plan's folder, on the machine of `dyno run`".to_owned(),
        }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.made_of(name, |folder| std::fs::read(folder.join(name)))
    }

    /// The text of a file.
    ///
    /// # Errors
    /// As [`read_text`].
    pub fn read_text(&self, name: &str) -> io::Result<String> {
        let read = |folder: &Path| read_text(&folder.join(name)).map(String::into_bytes);
        let bytes = self.made_of(name, read)?;
        String::from_utf8(bytes).map_err(|_| io::Error::from(ErrorKind::InvalidData))
    }

    /// What `make` makes of a file in the folder that it is given, such as its compiled form with all that it includes.
    /// It is made where the file is, and shipped instead of the file.
    ///
    /// # Errors
    /// The error of `make`, or that the file did not come with the plan.
    pub fn made_of<E: From<io::Error>>(
        &self,
        name: &str,
        make: impl FnOnce(&Path) -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        match &self.0 {
            Origin::Folder(folder) => make(folder),
            Origin::Kept(folder, contents) => {
                let made = make(folder)?;
                lock(contents).0.insert(name.to_owned(), made.clone());
                Ok(made)
            }
            Origin::Shipped(FileContents(contents)) => {
                contents.get(name).cloned().ok_or_else(|| {
                    io::Error::new(ErrorKind::NotFound, "it did not come with the plan").into()
                })
            }
        }
    }
}

fn lock(contents: &Mutex<FileContents>) -> MutexGuard<'_, FileContents> {
    contents.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for FileContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_files_are_read_as_those_of_the_folder_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.sql"), "SELECT 1").unwrap();
        std::fs::write(folder.path().join("b.bin"), [0, 255]).unwrap();
        std::fs::write(folder.path().join("unread"), "x").unwrap();
        let here = Files::kept_of(folder.path());
        assert_eq!(here.read_text("a.sql").unwrap(), "SELECT 1");
        assert_eq!(here.read("b.bin").unwrap(), [0, 255]);
        assert_eq!(here.read_text("b.bin").unwrap_err().kind(), ErrorKind::InvalidData);
        let contents = here.contents();
        assert_eq!(format!("{contents:?}"), "[\"a.sql\", \"b.bin\"]");
        let path = folder.path().join("unread");
        folder.close().unwrap();
        let there = Files::shipped(contents);
        assert_eq!(there.read_text("a.sql").unwrap(), "SELECT 1");
        assert_eq!(there.read("b.bin").unwrap(), [0, 255]);
        let absent = there.read("unread").unwrap_err();
        assert_eq!(absent.to_string(), "it did not come with the plan");
        assert!(there.read(path.to_str().unwrap()).is_err());
    }

    #[test]
    fn shipped_files_open_no_file_of_this_machine() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = file.path().to_str().unwrap();
        assert!(Files::of("/").read(name).is_ok());
        assert!(Files::shipped(FileContents::default()).read(name).is_err());
    }

    #[test]
    fn nothing_is_kept_unless_asked_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = Files::of("/");
        files.read(file.path().to_str().unwrap()).unwrap();
        assert_eq!(files.contents(), FileContents::default());
    }
}
