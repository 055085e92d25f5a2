//! What not to believe, and why: how many trials are valid, doubtful and invalid, with the commonest reasons.

use analysis::{Code as FindingCode, Finding, Severity, Validity, Value};

use super::words::Code;
use super::{Conclusion, Place, Values, counted, text};
use crate::digest::{Digest, Point, Trial};
use crate::doubt::Doubt;
use crate::finding::{figures, headline};

/// At most this many reasons are named, the most frequent first.
const REASONS_MAX: usize = 3;
/// At most this many trials are named in a line.
const NAMES_MAX: usize = 5;

/// How many trials are valid, and why the others are not; and what weakens the run as a whole.
pub(super) fn all(digest: &Digest<'_>, of_whole: &[Finding]) -> Vec<Conclusion> {
    let of = |validity: Validity| -> Vec<&Trial<'_>> {
        digest.trials.iter().filter(|trial| trial.validity() == validity).collect()
    };
    let count = |trials: &[&Trial<'_>]| Value::Small(trials.len() as u64);
    let all = Value::Small(digest.trials.len() as u64);
    let mut found = Vec::new();
    let valid = of(Validity::Valid);
    if !valid.is_empty() {
        let values = vec![("valid", count(&valid)), ("trials", all.clone())];
        found.push(Conclusion::new(Code::TrialsValid, values, None));
    }
    for (code, name, validity) in [
        (Code::TrialsDoubtful, "doubtful", Validity::Doubtful),
        (Code::TrialsInvalid, "invalid", Validity::Invalid),
    ] {
        let trials = of(validity);
        if !trials.is_empty() {
            let why = text(reasons(&trials, is_serious(validity)));
            let values = vec![(name, count(&trials)), ("trials", all.clone()), ("why", why)];
            found.push(Conclusion::new(code, values, Some(Place::Warnings)));
        }
    }
    found.extend(of_run(of_whole));
    found
}

fn is_serious(validity: Validity) -> Severity {
    match validity {
        Validity::Invalid => Severity::Invalid,
        Validity::Valid | Validity::Doubtful => Severity::Doubtful,
    }
}

/// The commonest reasons, each with the number of its trials when there are several trials.
pub(crate) fn reasons(trials: &[&Trial<'_>], severity: Severity) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for trial in trials {
        let codes = trial.reason_codes().into_iter().filter(|code| code.severity() == severity);
        let mut headlines: Vec<String> = codes.map(|code| in_a_sentence(headline(code))).collect();
        headlines.dedup();
        for name in headlines {
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown = counts.iter().take(REASONS_MAX).map(|(name, count)| match trials {
        [_] => name.clone(),
        _ => format!("{name}: {count}"),
    });
    let more = counts.len().saturating_sub(REASONS_MAX);
    let more = (more > 0).then(|| format!("and {more} more"));
    shown.chain(more).collect::<Vec<_>>().join("; ")
}

/// Every reason why one trial is not valid, the most serious first; empty for a valid one.
pub(crate) fn all_reasons(trial: &Trial<'_>) -> String {
    let mut reasons: Vec<String> =
        trial.reason_codes().into_iter().map(|code| in_a_sentence(headline(code))).collect();
    reasons.dedup();
    reasons.join("; ")
}

/// A headline within a sentence: without its capital, unless that begins an abbreviation.
pub(crate) fn in_a_sentence(headline: &str) -> String {
    let mut letters = headline.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => headline.to_owned(),
    }
}

/// What weakens the run as a whole, which is not a fault of one trial.
fn of_run(findings: &[Finding]) -> Option<Conclusion> {
    let serious = findings.iter().filter(|finding| finding.code.severity() != Severity::Note);
    let with_figures = |finding: &Finding| {
        let name = in_a_sentence(headline(finding.code));
        match figures(finding) {
            figures if figures.is_empty() => name,
            figures => format!("{name} ({figures})"),
        }
    };
    let why = serious.map(with_figures).collect::<Vec<_>>().join("; ");
    let values = vec![("why", text(why.clone()))];
    (!why.is_empty()).then(|| Conclusion::new(Code::RunDoubtful, values, Some(Place::Warnings)))
}

/// Why there is no answer to any question.
pub(super) fn nothing(digest: &Digest<'_>) -> Conclusion {
    let has_figures = digest.points.iter().any(|point| !point.counted.is_empty());
    let why = match (digest.trials.is_empty(), has_figures) {
        (true, _) => "no trial was begun",
        (false, false) => "no trial measured anything",
        (false, true) => "no figure answers a question of the plan",
    };
    Conclusion::new(Code::Nothing, vec![("why", text(why))], None)
}

/// In place of an answer about points whose trials are all invalid.
pub(super) fn not_believed(
    digest: &Digest<'_>,
    points: &[&Point<'_>],
    of: &str,
    workload: Option<&str>,
) -> Option<Conclusion> {
    none_believed(&counted(digest, points), of, workload)
}

/// In place of an answer whose trials are all invalid.
pub(crate) fn none_believed(
    trials: &[&Trial<'_>],
    of: &str,
    workload: Option<&str>,
) -> Option<Conclusion> {
    let is_invalid = |trial: &&Trial<'_>| trial.validity() == Validity::Invalid;
    if trials.is_empty() || !trials.iter().all(is_invalid) {
        return None;
    }
    let mut values: Values = vec![("of", text(of))];
    values.extend(workload.map(|name| ("workload", text(name))));
    values.push(("why", text(reasons(trials, Severity::Invalid))));
    Some(Conclusion::new(Code::NotBelieved, values, Some(Place::Warnings)))
}

/// How many of the trials behind an answer are doubtful or invalid, and how many there are; empty when all are valid,
/// and in a run of one trial, where the next line says so.
pub(super) fn behind(digest: &Digest<'_>, points: &[&Point<'_>]) -> Values {
    if digest.trials.len() == 1 { Vec::new() } else { behind_all(&counted(digest, points)) }
}

/// `2 of 5 doubtful`, or of a single trial its verdict; empty when all are valid.
pub(crate) fn not_valid_of(trials: &[&Trial<'_>]) -> String {
    let count = |wanted: Validity| trials.iter().filter(|it| it.validity() == wanted).count();
    let [doubtful, invalid] = [Validity::Doubtful, Validity::Invalid].map(count);
    match (trials.len(), doubtful, invalid) {
        (_, 0, 0) => String::new(),
        (1, 1, _) => Validity::Doubtful.name().to_owned(),
        (1, _, _) => Validity::Invalid.name().to_owned(),
        (all, doubtful, 0) => format!("{doubtful} of {all} doubtful"),
        (all, 0, invalid) => format!("{invalid} of {all} invalid"),
        (_, doubtful, invalid) => format!("{doubtful} doubtful, {invalid} invalid"),
    }
}

/// How many of the trials behind an answer are doubtful or invalid, and how many there are; empty when all are valid.
pub(crate) fn behind_all(trials: &[&Trial<'_>]) -> Values {
    let small = |count: usize| Value::Small(count as u64);
    let counted = [("doubtful", Validity::Doubtful), ("invalid", Validity::Invalid)].map(
        |(name, validity)| {
            (name, trials.iter().filter(|trial| trial.validity() == validity).count())
        },
    );
    let found = counted.into_iter().filter(|(_, count)| *count > 0);
    let mut values: Values = found.map(|(name, count)| (name, small(count))).collect();
    if !values.is_empty() {
        values.push(("behind", small(trials.len())));
    }
    values
}

/// Which trials are doubtful or invalid, and why, in a line, but for those of which nothing but these doubts is known;
/// `None` when there are no others.
pub(crate) fn not_valid(digest: &Digest<'_>, accepted: &[Doubt]) -> Option<String> {
    let is_accepted = |code: &FindingCode| {
        let mut names = accepted.iter().map(|doubt| doubt.0.name());
        code.severity() == Severity::Doubtful && names.any(|name| name == code.name())
    };
    let is_valid = |trial: &&Trial<'_>| trial.reason_codes().iter().all(is_accepted);
    let trials: Vec<&Trial<'_>> = digest.trials.iter().filter(|it| !is_valid(it)).collect();
    let named = |trial: &&Trial<'_>| {
        let header = &trial.record.header;
        let repetition = match digest.is_repeated() {
            true => format!(", repetition {}", header.repetition + 1),
            false => String::new(),
        };
        format!("{}{repetition} ({})", trial.name(), trial.validity_text())
    };
    let mut names: Vec<String> = trials.iter().take(NAMES_MAX).map(named).collect();
    if trials.len() > NAMES_MAX {
        names.push(format!("and {} more", trials.len() - NAMES_MAX));
    }
    let all = digest.trials.len();
    (!names.is_empty()).then(|| {
        let verb = if trials.len() == 1 { "is" } else { "are" };
        format!("{} of {all} trials {verb} not valid: {}", trials.len(), names.join("; "))
    })
}
