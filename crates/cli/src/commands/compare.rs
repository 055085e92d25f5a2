//! `dyno compare BASELINE CANDIDATE`

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use record::Run;
use report::{Criteria, Digest, Outcome, RunComparison, Selection, Threshold};

use super::WrongArgument;
use crate::args::{CompareArgs, ComparisonFormat};

/// The margins that make sense, in per cent.
const MARGINS: RangeInclusive<f64> = 0.01..=100.0;

#[derive(Debug, PartialEq)]
struct NamedRun {
    folder: PathBuf,
    system: Option<String>,
}

/// The runs of both sides: each is read once, however often it is named.
#[derive(Default)]
struct OpenRuns {
    /// Where each run really is.
    places: Vec<PathBuf>,
    runs: Vec<Run>,
}

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    let criteria = criteria(args)?;
    let baseline = named(&args.baseline)?;
    let candidate = named(&args.candidate)?;
    let mut open = OpenRuns::default();
    let baseline = open.all(baseline)?;
    let candidate = open.all(candidate)?;
    let percentiles = percentiles(&open.runs, &criteria);
    let digests: Vec<Digest<'_>> =
        open.runs.iter().map(|run| Digest::with_percentiles(run, &percentiles)).collect();
    let selections = |side: &[(usize, Option<String>)]| -> Vec<Selection<'_, '_>> {
        let of = side.iter().map(|(at, system)| (&digests[*at], system.clone()));
        of.map(|(digest, system)| Selection { digest, system }).collect()
    };
    let compared = RunComparison::new(&selections(&baseline), &selections(&candidate), criteria)
        .map_err(|refusal| WrongArgument(refusal.to_string()))?;
    if let Some(page) = &args.page {
        fs::write(page, compared.html())
            .with_context(|| format!("cannot write {}", page.display()))?;
    }
    super::print(&match args.format {
        _ if args.brief => compared.brief(),
        ComparisonFormat::Text => compared.text(super::output_width()),
        ComparisonFormat::Markdown => compared.markdown(),
        ComparisonFormat::Json => compared.json(),
        ComparisonFormat::Junit => compared.junit(),
    })?;
    Ok(match compared.outcome() {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed => ExitCode::FAILURE,
    })
}

impl OpenRuns {
    /// The number of each of these runs, with its system.
    fn all(&mut self, named: Vec<NamedRun>) -> Result<Vec<(usize, Option<String>)>> {
        let open = |NamedRun { folder, system }| Ok((self.open(&folder)?, system));
        named.into_iter().map(open).collect()
    }

    fn open(&mut self, folder: &Path) -> Result<usize> {
        let place = fs::canonicalize(folder)?;
        if let Some(known) = self.places.iter().position(|known| *known == place) {
            return Ok(known);
        }
        let run = report::open(folder)?;
        self.places.push(place);
        self.runs.push(run);
        Ok(self.runs.len() - 1)
    }
}

/// The percentiles of all runs, and those that thresholds ask for.
fn percentiles(runs: &[Run], criteria: &Criteria) -> Vec<f64> {
    let of_runs = runs.iter().flat_map(|run| run.header.percentiles.iter().copied());
    let asked = criteria.thresholds.iter().filter_map(Threshold::percentile);
    let mut all: Vec<f64> = of_runs.chain(asked).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn criteria(args: &CompareArgs) -> Result<Criteria> {
    let read = |text: &String| Threshold::parse(text).map_err(|why| WrongArgument(why).into());
    Ok(Criteria {
        margin: part("--margin", &args.margin, &MARGINS)?,
        thresholds: args.fail_if.iter().map(read).collect::<Result<_>>()?,
        is_strict: args.strict,
    })
}

/// `2%` as a part of 1, for an option that takes these per cents.
pub(super) fn part(option: &str, text: &str, allowed: &RangeInclusive<f64>) -> Result<f64> {
    let percent =
        text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let part = percent.filter(|percent| allowed.contains(percent));
    part.map(|percent| percent / 100.0).ok_or_else(|| {
        let (least, most) = (allowed.start(), allowed.end());
        let message =
            format!("{option} {text:?} is not a part from {least}% to {most}%, such as 2%");
        WrongArgument(message).into()
    })
}

/// Reads `RUN`, `RUN:SYSTEM`, or several of them with commas between.
fn named(side: &str) -> Result<Vec<NamedRun>> {
    if Path::new(side).exists() {
        return Ok(vec![named_run(side)?]);
    }
    side.split(',').map(named_run).collect()
}

fn named_run(text: &str) -> Result<NamedRun> {
    let is_run = |folder: &str| Path::new(folder).join("run.json").exists();
    let (folder, system) = match text.rsplit_once(':') {
        Some((folder, system)) if !is_run(text) && is_run(folder) => {
            (folder, Some(system.to_owned()))
        }
        _ => (text, None),
    };
    if is_run(folder) {
        return Ok(NamedRun { folder: folder.into(), system });
    }
    let newest = |folder: &str| match Path::new(folder) {
        folder if folder.is_dir() => super::list::newest(folder),
        _ => Ok(None),
    };
    if let Some(newest) = newest(text)? {
        return Ok(NamedRun { folder: newest, system: None });
    }
    if let Some((folder, system)) = text.rsplit_once(':')
        && let Some(newest) = newest(folder)?
    {
        return Ok(NamedRun { folder: newest, system: Some(system.to_owned()) });
    }
    let problem = if Path::new(folder).exists() { "has no run" } else { "does not exist" };
    let hint = "name the folder of a run, or one of results, whose newest run it means; add a system as RUN:SYSTEM; \
                `dyno list DIR` shows the runs below a folder";
    Err(anyhow!(WrongArgument(format!("{folder} {problem}: {hint}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_parts_in_per_cent() {
        let margin = |text| part("--margin", text, &MARGINS);
        assert_eq!(margin("2%").unwrap(), 0.02);
        assert_eq!(margin(" 0.5 % ").unwrap(), 0.005);
        for wrong in ["2", "0%", "-1%", "101%", "nan%", ""] {
            assert!(margin(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_side_is_a_run_a_system_of_it_or_several() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for name in ["one", "two", "odd:name,too"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(folder.path().join(name).join("run.json"), "{}").unwrap();
        }
        fs::create_dir(path("empty")).unwrap();
        let read = |text: String| {
            named(&text).map(|all| {
                let names = all.into_iter().map(|it| {
                    let name = it.folder.file_name().unwrap().to_string_lossy().into_owned();
                    (name, it.system)
                });
                names.collect::<Vec<_>>()
            })
        };
        let (one, two) = (path("one"), path("two"));
        assert_eq!(read(one.clone()).unwrap(), [("one".to_owned(), None)]);
        let several = read(format!("{one}:a.v1,{two}")).unwrap();
        assert_eq!(
            several,
            [("one".to_owned(), Some("a.v1".to_owned())), ("two".to_owned(), None)]
        );
        assert_eq!(read(path("odd:name,too")).unwrap(), [("odd:name,too".to_owned(), None)]);
        let message = read(path("empty")).unwrap_err().to_string();
        assert!(message.contains("has no run") && message.contains("RUN:SYSTEM"), "{message}");
        assert!(
            read(format!("{one},nowhere")).unwrap_err().to_string().contains("nowhere does not")
        );
    }
}
