//! A doubt that `--strict` accepts, by its code.

use analysis::Code;

/// A code that makes a trial doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt(pub(crate) Code);

impl Doubt {
    /// Reads the name of a code, as reports write it.
    ///
    /// # Errors
    /// The known ones, when it is none of them.
    pub fn parse(name: &str) -> Result<Self, String> {
        let known = Code::doubts().find(|code| code.name() == name.trim());
        known.map(Self).ok_or_else(|| {
            let mut names: Vec<&str> = Code::doubts().map(Code::name).collect();
            names.sort_unstable();
            let meant = plan::nearest(name, &names);
            let meant = meant.map_or(String::new(), |near| format!("did you mean `{near}`? "));
            format!(
                "`{name}` is no doubt that can be accepted: {meant}they are {}",
                names.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reading, sample};

    #[test]
    fn an_unknown_code_is_refused_with_the_known_ones() {
        assert_eq!(Doubt::parse("cpu-used-by-others"), Ok(Doubt(Code::CpuUsedByOthers)));
        let told = Doubt::parse("cpu-used-by-other").unwrap_err();
        assert!(told.contains("did you mean `cpu-used-by-others`?"), "{told}");
        assert!(told.contains("trend, unfair, unfinished"), "{told}");
        assert!(Doubt::parse("crashed").is_err(), "what is invalid is not accepted");
    }

    #[test]
    fn a_trial_is_accepted_when_all_of_its_doubts_are() {
        let run = sample::quick();
        let reading = Reading::new(&run);
        let doubtful: Vec<_> =
            reading.digest.trials.iter().filter(|trial| !trial.reasons().is_empty()).collect();
        let mut codes: Vec<&str> = doubtful.iter().flat_map(|trial| trial.reasons()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert!(!codes.is_empty() && reading.not_valid(&[]).is_some());
        let all: Vec<Doubt> = codes.iter().map(|code| Doubt::parse(code).unwrap()).collect();
        assert_eq!(reading.not_valid(&all), None);
        let other = Doubt::parse("server-away").unwrap();
        assert_eq!(reading.not_valid(&[other]), reading.not_valid(&[]));
    }
}
