//! What a list of runs shows of a run, kept in a small file beside its views, so that a list does not read whole records.
//! It names the dyno that judged and the size of the record then: a verdict of another dyno is shown as that dyno's, and
//! one of another state of the record is not shown.

use std::path::Path;

use analysis::Validity;
use record::{Dyno, RecordSize, Run};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::headline::{BestLoad, best_load};
use crate::visible::pretty_json;

pub(crate) const FILE: &str = "verdict.json";

const FORMAT: &str = "dyno-verdict";
const VERSION: u32 = 2;

/// How many trials of a run are done and valid, and the figures of its best load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    format: String,
    version: u32,
    pub(crate) dyno: Dyno,
    pub(crate) record: RecordSize,
    trials_done: usize,
    trials_planned: usize,
    valid: usize,
    doubtful: usize,
    invalid: usize,
    best: Option<BestLoad>,
}

impl Verdict {
    /// The verdict of this dyno on a run with a record of this size.
    pub(crate) fn of(digest: &Digest<'_>, dyno: &Dyno, record: RecordSize) -> Self {
        let Run { trials, .. } = digest.run;
        let count = |validity| digest.trials.iter().filter(|it| it.validity() == validity).count();
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            dyno: dyno.clone(),
            record: RecordSize { trials: trials.len(), ..record },
            trials_done: digest.run.trials_done(),
            trials_planned: digest.run.trials_planned(),
            valid: count(Validity::Valid),
            doubtful: count(Validity::Doubtful),
            invalid: count(Validity::Invalid),
            best: best_load(digest),
        }
    }

    /// The verdict that is kept in a run's folder; `None` when there is none on the record as it is now.
    pub fn kept(folder: &Path) -> Option<Self> {
        let kept = Self::parse(&record::read_view(&folder.join(FILE))?)?;
        (RecordSize::of(folder).ok()? == kept.record).then_some(kept)
    }

    /// Reads the file's text; `None` when it is of another format, is no verdict on all trials of its record, or has
    /// figures that no trial has.
    pub(crate) fn parse(json: &[u8]) -> Option<Self> {
        let kept: Self = serde_json::from_slice(json).ok()?;
        let is_known = kept.format == FORMAT && kept.version == VERSION;
        let judged = [kept.valid, kept.doubtful, kept.invalid];
        let judged = judged.into_iter().try_fold(0_usize, usize::checked_add);
        let is_of_all = judged == Some(kept.record.trials);
        let is_whole = is_of_all && kept.best.as_ref().is_none_or(BestLoad::is_possible);
        (is_known && is_whole).then_some(kept)
    }

    pub(crate) fn json(&self) -> String {
        pretty_json(self)
    }

    /// How many trials ran to their end, of how many.
    pub fn trials(&self) -> String {
        format!("{} of {}", self.trials_done, self.trials_planned)
    }

    pub fn best(&self) -> Option<&BestLoad> {
        self.best.as_ref()
    }

    /// How many trials are valid, doubtful and invalid, and which dyno says so when it is not this one.
    pub fn text(&self, this: &Dyno) -> String {
        let counts = [
            (self.valid, Validity::Valid),
            (self.doubtful, Validity::Doubtful),
            (self.invalid, Validity::Invalid),
        ];
        let told = counts.iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> =
            told.map(|(count, validity)| format!("{count} {}", validity.name())).collect();
        let told = if told.is_empty() { "no trial".to_owned() } else { told.join(", ") };
        let by = &self.dyno.version;
        if by == &this.version { told } else { format!("{told} (by dyno {by})") }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sample;

    fn dyno(version: &str) -> Dyno {
        Dyno { version: version.to_owned(), build: String::new() }
    }

    /// A folder with a record of this many bytes in as many trials as the sample has.
    fn recorded(run: &Run) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("run.json"), "{}").unwrap();
        for at in 0..run.trials.len() {
            fs::create_dir_all(folder.path().join(format!("trials/{at:04}"))).unwrap();
        }
        folder
    }

    fn write_verdict(run: &Run, folder: &Path) -> Verdict {
        let size = RecordSize::of(folder).unwrap();
        let verdict = Verdict::of(&Digest::new(run), &dyno("1.0.0"), size);
        fs::write(folder.join(FILE), verdict.json()).unwrap();
        verdict
    }

    #[test]
    fn a_kept_verdict_counts_trials_and_names_another_dyno() {
        let mut run = sample::run();
        run.trials[0].end = None;
        let folder = recorded(&run);
        let verdict = write_verdict(&run, folder.path());
        let kept = Verdict::kept(folder.path()).unwrap();
        assert_eq!(kept, verdict);
        let counts = kept.valid + kept.doubtful + kept.invalid;
        assert_eq!((counts, kept.trials()), (8, "7 of 8".to_owned()));
        assert!(kept.invalid >= 1, "one was cut: {kept:?}");
        assert!(kept.text(&dyno("1.0.0")).ends_with("invalid"), "{kept:?}");
        assert!(kept.text(&dyno("1.1.0")).ends_with("invalid (by dyno 1.0.0)"), "{kept:?}");
        assert_eq!(kept.best(), best_load(&Digest::new(&run)).as_ref());
    }

    #[test]
    fn a_verdict_on_another_state_of_the_record_is_not_shown() {
        let run = sample::run();
        let folder = recorded(&run);
        write_verdict(&run, folder.path());
        let grown = folder.path().join("trials/0003/intervals.jsonl");
        fs::write(&grown, "{}\n").unwrap();
        assert_eq!(Verdict::kept(folder.path()), None, "a file has grown");
        fs::remove_file(&grown).unwrap();
        assert!(Verdict::kept(folder.path()).is_some());
        fs::create_dir(folder.path().join("trials/0008")).unwrap();
        assert_eq!(Verdict::kept(folder.path()), None, "a trial was added");
        fs::remove_dir(folder.path().join("trials/0008")).unwrap();
        let path = folder.path().join(FILE);
        let later =
            fs::read_to_string(&path).unwrap().replace("\"version\": 2,", "\"version\": 3,");
        fs::write(&path, later).unwrap();
        assert_eq!(Verdict::kept(folder.path()), None, "of a later format");
        fs::write(&path, "no JSON").unwrap();
        assert_eq!(Verdict::kept(folder.path()), None);
    }

    #[test]
    fn a_verdict_on_other_trials_than_those_of_its_record_is_not_shown() {
        let run = sample::run();
        let verdict = write_verdict(&run, recorded(&run).path());
        assert_eq!(Verdict::parse(verdict.json().as_bytes()), Some(verdict.clone()));
        for valid in [verdict.valid + 1, usize::MAX] {
            let other = Verdict { valid, ..verdict.clone() };
            assert_eq!(Verdict::parse(other.json().as_bytes()), None);
        }
        let negative = verdict.json().replace("\"p99_ns\": ", "\"p99_ns\": -");
        assert_eq!(Verdict::parse(negative.as_bytes()), None, "{negative}");
    }

    #[test]
    fn a_report_of_one_trial_is_not_a_verdict_on_the_run() {
        let mut run = sample::run();
        let folder = recorded(&run);
        run.trials.truncate(1);
        write_verdict(&run, folder.path());
        assert_eq!(Verdict::kept(folder.path()), None);
    }
}
