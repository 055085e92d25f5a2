//! Writes the views to files next to the record.

use std::collections::BTreeSet;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use record::{Dyno, RecordSize, replace_whole, sync_folder};

use crate::document::Head;
use crate::generators;
use crate::plots::over_run::HALF_ROW;
use crate::reading::Reading;
use crate::sections::document;
use crate::svg::{Chart, Width};
use crate::verdict::{self, Verdict};

/// The view for people.
pub(crate) const PAGE: &str = "report.html";

/// Why a view could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {cause}", path.display())]
pub struct ReportError {
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
pub fn write_all(
    reading: &Reading<'_>,
    folder: &Path,
    this: &Dyno,
) -> Result<PathBuf, ReportError> {
    let digest = &reading.digest;
    let document = document(reading);
    // The record may grow while the views are made.
    let size = RecordSize::of(folder).ok().filter(|_| folder == digest.run.folder);
    let verdict = || size.map(|size| Verdict::of(digest, this, size).json());
    let views: [(&str, &(dyn Fn() -> Option<String> + Sync)); 7] = [
        // The page takes about as long as all the others.
        (PAGE, &|| Some(crate::html::page(&document))),
        ("report.md", &|| Some(crate::markdown::of_document(&document))),
        ("report.csv", &|| Some(crate::csv(reading))),
        ("report-watch.csv", &|| Some(crate::watch_csv(digest))),
        ("report-generators.csv", &|| generators::csv(digest)),
        ("report.json", &|| Some(crate::json(reading))),
        (verdict::FILE, &verdict),
    ];
    // All wait for the disk together.
    let written: Vec<Result<(), ReportError>> = thread::scope(|scope| {
        let threads = views.map(|(name, view)| {
            scope.spawn(move || view().map_or(Ok(()), |text| write(&folder.join(name), &text)))
        });
        let joined = |thread: ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(joined).collect()
    });
    written.into_iter().collect::<Result<(), ReportError>>()?;
    sync_folder(folder).map_err(|cause| ReportError { path: folder.to_path_buf(), cause })?;
    Ok(folder.join(PAGE))
}

/// Writes every plot of a run as an SVG file of its own into `folder`, named by its title.
///
/// # Errors
/// When a file cannot be written.
pub fn write_plots(reading: &Reading<'_>, folder: &Path) -> Result<(), ReportError> {
    let failed = |cause| ReportError { path: folder.to_path_buf(), cause };
    std::fs::create_dir_all(folder).map_err(failed)?;
    let document = document(reading);
    let Head { title, whole_machine, started, .. } = &document.head;
    let date = started.strftime("%-d %b %Y %H:%M UTC").to_string();
    let about = [title.as_str(), whole_machine.as_str(), &date].join(" \u{b7} ");
    // Dark colours are those of pages, and media queries would choose them.
    let style = crate::html::light_style();
    let mut names = BTreeSet::new();
    let (cards, charts): (Vec<Chart>, Vec<Chart>) =
        document.charts().into_iter().partition(|chart| chart.size.width == Width::Card);
    // A card has the plot of its workload in small, where there is a larger one.
    let is_alone = |card: &Chart| charts.iter().all(|chart| chart.title != card.title);
    let cards = cards.iter().filter(|card| is_alone(card));
    let cards = cards.map(|card| Chart { size: HALF_ROW, ..card.clone() });
    for chart in cards.chain(charts.iter().cloned()) {
        let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
        let name: String = chart.title.chars().map(plain).collect();
        let name = name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
        let mut unique = name.clone();
        for number in 2.. {
            if names.insert(unique.clone()) {
                break;
            }
            unique = format!("{name}-{number}");
        }
        write(&folder.join(format!("{unique}.svg")), &chart.file(&about, &style))?;
    }
    Ok(())
}

/// Replaces a view as a whole: a browser never loads half a page, and a link in a record of other people is not
/// followed.
fn write(path: &Path, text: &str) -> Result<(), ReportError> {
    let failed = |cause| ReportError { path: path.to_path_buf(), cause };
    replace_whole(path, text.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::sample;

    fn written(folder: &Path) -> Result<PathBuf, ReportError> {
        let run = sample::run();
        write_all(&Reading::new(&run), folder, &run.header.dyno)
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
    fn every_plot_is_a_file_with_its_title_and_what_it_is_of() {
        let folder = tempfile::tempdir().unwrap();
        let run = sample::quick();
        write_plots(&Reading::new(&run), folder.path()).unwrap();
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let texts: Vec<String> = files.map(|path| fs::read_to_string(path).unwrap()).collect();
        // Of each of three workloads: throughput, latency against clients and against throughput, and by percentile;
        // and three of each of twelve trials.
        assert_eq!(texts.len(), 3 * 4 + 12 * 3);
        for text in &texts {
            assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"), "{text}");
            assert_eq!(text.matches("<svg").count(), text.matches("</svg>").count());
            for part in ["SQLite 3.50.2, file, WAL", "30 Jul 2026", "SG2042", "#0072b2"] {
                assert!(text.contains(part), "{part}: {text}");
            }
            assert!(!text.contains("prefers-color-scheme"), "a file has one set of colours");
        }
        let doubtful = texts.iter().filter(|text| text.contains("doubtful</text>"));
        assert_eq!(doubtful.count(), 4 * 3 + 3, "four trials and their workload");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = written(Path::new("/nowhere/at all")).unwrap_err();
        assert!(
            error.to_string().starts_with("cannot write /nowhere/at all/report.html"),
            "{error}"
        );
    }
}
