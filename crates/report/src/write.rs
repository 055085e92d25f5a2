//! Writes the views to files next to the record.

use std::fs;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use crate::digest::Digest;

/// Why a view could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", path.display())]
pub struct ReportError {
    /// The file.
    pub path: PathBuf,
    /// The cause; it is part of the message and therefore not a `source`.
    pub cause: io::Error,
}

/// Writes report.html, report.md, report.csv, report-watch.csv and report.json into `folder` and replaces
/// existing ones. Returns the path of report.html.
///
/// # Errors
/// When a file cannot be written.
pub fn write_all(digest: &Digest<'_>, folder: &Path) -> Result<PathBuf, ReportError> {
    thread::scope(|scope| {
        // The page takes about as long as all the others.
        let page = scope.spawn(|| write(folder, "report.html", &crate::html(digest)));
        write(folder, "report.md", &crate::markdown(digest))?;
        write(folder, "report.csv", &crate::csv(digest))?;
        write(folder, "report-watch.csv", &crate::watch_csv(digest))?;
        write(folder, "report.json", &crate::json(digest))?;
        page.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Writes to a temporary file and renames it, so that a browser never loads half a page.
fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf, ReportError> {
    let path = folder.join(name);
    let temporary = folder.join(format!("{name}.tmp"));
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, &path));
    match written {
        Ok(()) => Ok(path),
        Err(cause) => {
            // Half a page is of no use, and takes room on a full disk.
            let _ = fs::remove_file(&temporary);
            Err(ReportError { path, cause })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_folder_holds_exactly_all_views() {
        let folder = tempfile::tempdir().unwrap();
        let page = write_all(&Digest::new(&sample::run()), folder.path()).unwrap();
        assert_eq!(page, folder.path().join("report.html"));
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let views = ["report-watch.csv", "report.csv", "report.html", "report.json", "report.md"];
        assert_eq!(names, views);
    }

    #[test]
    fn a_view_that_cannot_be_written_leaves_no_file_behind() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("report-watch.csv")).unwrap();
        let error = write_all(&Digest::new(&sample::run()), folder.path()).unwrap_err();
        assert!(error.to_string().contains("report-watch.csv: "), "{error}");
        assert!(!folder.path().join("report-watch.csv.tmp").exists());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error =
            write_all(&Digest::new(&sample::run()), Path::new("/nowhere/at all")).unwrap_err();
        assert!(error.to_string().starts_with("cannot write /nowhere/at all/report.md"), "{error}");
    }
}
