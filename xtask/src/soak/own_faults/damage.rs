//! Damages of a record on disk, and what a reader must make of them.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plan::Shuffle;

use super::checks::Report;

/// How a file is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cut,
    FlippedBit,
    Zeros,
    Removed,
    LongLine,
}

/// A damage that was done.
#[derive(Clone, Debug)]
pub(super) struct Damage {
    kind: Kind,
    /// Below the run's folder.
    file: PathBuf,
    /// The place of the trial whose file it is.
    trial: Option<usize>,
}

/// What a reader made of a damage.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Whether the trial's counts are other than before.
    pub has_changed: bool,
    /// Whether the report says that something is wrong with the trial or the run.
    pub is_named: bool,
    pub wrong: Option<String>,
}

/// Damages one random file of the record.
pub(super) fn damage(record: &Path, random: &mut Shuffle) -> anyhow::Result<Damage> {
    let mut files = Vec::new();
    collect(record, &mut files)?;
    files.sort();
    anyhow::ensure!(!files.is_empty(), "{} has no files", record.display());
    let path = files.swap_remove(random.below(files.len()));
    let kinds = [Kind::Cut, Kind::FlippedBit, Kind::Zeros, Kind::Removed, Kind::LongLine];
    let kind = kinds[random.below(kinds.len())];
    let mut bytes = fs::read(&path)?;
    let at = random.below(bytes.len().max(1));
    match kind {
        Kind::Cut => bytes.truncate(at),
        Kind::FlippedBit => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        Kind::Zeros => bytes.iter_mut().skip(at).take(4_096).for_each(|byte| *byte = 0),
        Kind::LongLine => bytes.extend(std::iter::repeat_n(b'x', 1 << 20)),
        Kind::Removed => {}
    }
    if kind == Kind::Removed { fs::remove_file(&path) } else { fs::write(&path, bytes) }?;
    let file = path.strip_prefix(record).context("a file of the record")?.to_owned();
    let trial = file
        .strip_prefix("trials")
        .ok()
        .and_then(|below| below.components().next()?.as_os_str().to_str()?.parse::<usize>().ok());
    Ok(Damage { kind, file, trial })
}

/// The files of the record itself, without its views and its lock.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else if !name.starts_with("report") && name != ".lock" {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// Compares what was read before and after. `None` when the report could not be read, as only a damaged `run.json`
/// may do.
pub(super) fn found(damage: &Damage, whole: &Report, damaged: Option<&Report>) -> Found {
    let Some(damaged) = damaged else {
        let wrong =
            (damage.file != Path::new("run.json")).then(|| "nothing can be read".to_owned());
        return Found { has_changed: true, is_named: true, wrong };
    };
    let mut has_changed = false;
    let mut is_named = false;
    let mut wrong = None;
    for (index, before) in whole.trials.iter().enumerate() {
        let after = damaged.trials.get(index);
        if damage.trial != Some(index) {
            if after.is_none_or(|after| after != before) {
                wrong = Some(format!("trial {index} is read in another way"));
            }
            continue;
        }
        has_changed = after.is_none_or(|after| {
            (after.transactions, after.latencies) != (before.transactions, before.latencies)
        });
        is_named = after.is_none_or(|after| after.status == "damaged");
        if has_changed && !is_named && damage.kind != Kind::FlippedBit {
            wrong = Some(format!("trial {index} has other counts, and is not called damaged"));
        }
    }
    Found { has_changed, is_named, wrong }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {}", self.kind, self.file.display())
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::Trial;
    use super::*;

    fn report(counts: [u64; 2], status: &str) -> Report {
        let trial = |transactions, status: &str| Trial {
            status: status.to_owned(),
            transactions,
            latencies: transactions,
            ..Trial::default()
        };
        Report { trials: vec![trial(counts[0], status), trial(counts[1], "complete")] }
    }

    #[test]
    fn a_changed_count_must_be_named_and_the_other_trial_must_stay() {
        let whole = report([7, 9], "complete");
        let cut =
            Damage { kind: Kind::Cut, file: "trials/0000/latency.hlog".into(), trial: Some(0) };
        let judged = |counts, status| found(&cut, &whole, Some(&report(counts, status)));
        let right = Found { has_changed: true, is_named: true, wrong: None };
        assert_eq!(judged([5, 9], "damaged"), right);
        assert!(judged([5, 9], "complete").wrong.is_some());
        assert!(judged([7, 8], "damaged").wrong.is_some());
        assert_eq!(judged([7, 9], "complete").wrong, None);
        assert!(found(&cut, &whole, None).wrong.is_some());
        let run = Damage { kind: Kind::Zeros, file: "run.json".into(), trial: None };
        assert_eq!(found(&run, &whole, None).wrong, None);
    }

    #[test]
    fn a_damage_changes_one_file_and_names_it() {
        let record = tempfile::tempdir().unwrap();
        let trial = record.path().join("trials/0001");
        fs::create_dir_all(&trial).unwrap();
        fs::write(record.path().join("report.html"), "a view").unwrap();
        fs::write(trial.join("intervals.jsonl"), "0123456789").unwrap();
        for seed in 0..20 {
            let damage = damage(record.path(), &mut Shuffle::new(seed)).unwrap();
            assert_eq!((damage.trial, damage.file.ends_with("intervals.jsonl")), (Some(1), true));
            let left = fs::read_to_string(trial.join("intervals.jsonl")).ok();
            assert_ne!(left.as_deref(), Some("0123456789"), "{damage}");
            fs::write(trial.join("intervals.jsonl"), "0123456789").unwrap();
        }
        assert_eq!(fs::read(record.path().join("report.html")).unwrap(), b"a view");
    }
}
