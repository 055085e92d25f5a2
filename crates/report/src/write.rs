//! Writes the views to files next to the record.

use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use record::{Dyno, RecordSize, replace_durably};

use crate::digest::Digest;
use crate::generators;
use crate::verdict::{self, Verdict};

/// Why a view could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", path.display())]
pub struct ReportError {
    /// The file.
    pub path: PathBuf,
    /// The cause; it is part of the message and therefore not a `source`.
    pub cause: io::Error,
}

/// Writes report.html, report.md, report.csv, report-watch.csv and report.json into `folder`, and
/// report-generators.csv where there were several generators, and replaces existing ones; beside the record also
/// verdict.json, as the verdict of this dyno. Returns the path of report.html.
///
/// # Errors
/// When a file cannot be written.
pub fn write_all(digest: &Digest<'_>, folder: &Path, this: &Dyno) -> Result<PathBuf, ReportError> {
    // The record may grow while the views are made.
    let size = RecordSize::of(folder).ok().filter(|_| folder == digest.run.folder);
    thread::scope(|scope| {
        // The page takes about as long as all the others.
        let page = scope.spawn(|| write(folder, "report.html", &crate::html(digest)));
        write(folder, "report.md", &crate::markdown(digest))?;
        write(folder, "report.csv", &crate::csv(digest))?;
        write(folder, "report-watch.csv", &crate::watch_csv(digest))?;
        if let Some(text) = generators::csv(digest) {
            write(folder, "report-generators.csv", &text)?;
        }
        write(folder, "report.json", &crate::json(digest))?;
        if let Some(size) = size {
            write(folder, verdict::FILE, &Verdict::of(digest, this, size).json())?;
        }
        page.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Replaces a view as a whole: a browser never loads half a page, and a link in a record of other people is not
/// followed.
fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf, ReportError> {
    let path = folder.join(name);
    match replace_durably(&path, text.as_bytes()) {
        Ok(()) => Ok(path),
        Err(cause) => Err(ReportError { path, cause }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::sample;

    fn written(folder: &Path) -> Result<PathBuf, ReportError> {
        let run = sample::run();
        write_all(&Digest::new(&run), folder, &run.header.dyno)
    }

    #[test]
    fn no_link_in_the_folder_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        fs::write(&kept, "kept").unwrap();
        let views = ["report.md", "report.csv", "report.html", "report.json", "report-watch.csv"];
        for name in views {
            symlink(&kept, folder.path().join(name)).unwrap();
            symlink(&kept, folder.path().join(format!("{name}.tmp"))).unwrap();
        }
        written(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
        for name in views {
            assert!(folder.path().join(name).symlink_metadata().unwrap().is_file(), "{name}");
        }
    }

    #[test]
    fn the_folder_holds_exactly_all_views() {
        let folder = tempfile::tempdir().unwrap();
        let page = written(folder.path()).unwrap();
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
        let error = written(folder.path()).unwrap_err();
        assert!(error.to_string().contains("report-watch.csv: "), "{error}");
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("tmp")).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = written(Path::new("/nowhere/at all")).unwrap_err();
        assert!(error.to_string().starts_with("cannot write /nowhere/at all/report.md"), "{error}");
    }
}
