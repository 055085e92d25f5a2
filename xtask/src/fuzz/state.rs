//! What the searches of all calls have done, in a file of JSON: their figures add up, and a target that has had
//! enough is not searched again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::figures::Figures;
use super::search::Limits;

/// The figures of all targets that were ever searched.
#[derive(Debug)]
pub(super) struct State {
    path: PathBuf,
    all: BTreeMap<String, Figures>,
}

impl State {
    /// Reads the file; a file that is not there has no figures.
    ///
    /// # Errors
    /// When it cannot be read, or is not one of figures.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", path.display());
        let all: Vec<Figures> = match path.exists() {
            true => {
                let text = fs::read_to_string(path).with_context(cannot)?;
                serde_json::from_str(&text).with_context(cannot)?
            }
            false => Vec::new(),
        };
        let all = all.into_iter().map(|figures| (figures.target.clone(), figures)).collect();
        Ok(Self { path: path.to_path_buf(), all })
    }

    /// What earlier searches for a target have done.
    pub(super) fn of(&self, target: &str) -> Figures {
        self.all.get(target).map_or_else(|| Figures::new(target), Figures::resumed)
    }

    /// Whether a target need not be searched again.
    pub(super) fn has_enough(&self, target: &str, limits: &Limits) -> bool {
        self.all.get(target).is_some_and(|figures| figures.is_enough(limits))
    }

    /// The figures of all targets, by name.
    pub(super) fn all(&self) -> Vec<&Figures> {
        self.all.values().collect()
    }

    /// Replaces the figures of a target, in the file too. What ends the task in the middle leaves the file as it was.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn keep(&mut self, figures: Figures) -> anyhow::Result<()> {
        self.all.insert(figures.target.clone(), figures);
        let text = serde_json::to_string_pretty(&self.all())?;
        let beside = self.path.with_extension("new");
        fs::write(&beside, format!("{text}\n"))
            .and_then(|()| fs::rename(&beside, &self.path))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The figures after another call that tried so many inputs and began with so many edges, in a minute of CPU time.
    fn after_another_call(state: &State, inputs: u64, edges: u64) -> Figures {
        let mut figures = state.of("x");
        figures.cpu += Duration::from_secs(60);
        assert!(figures.read(&format!("#{inputs}\tINITED cov: {edges} ft: 9 corp: 3/9b")));
        figures
    }

    #[test]
    fn figures_of_several_calls_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.json");
        for (inputs, edges, sum, last_edge_s) in
            [(400, 70, 400, 60), (300, 70, 700, 60), (200, 69, 900, 180), (100, 71, 1_000, 240)]
        {
            let mut state = State::read(&path).unwrap();
            let figures = after_another_call(&state, inputs, edges);
            assert_eq!((figures.inputs, figures.edges), (sum, edges));
            assert_eq!(figures.cpu_at_last_edge, Duration::from_secs(last_edge_s));
            state.keep(figures).unwrap();
        }
        let state = State::read(&path).unwrap();
        assert_eq!(state.all().len(), 1);
        let figures = state.all()[0];
        assert_eq!((figures.cpu, figures.quiet()), (Duration::from_secs(240), Duration::ZERO));
    }

    #[test]
    fn a_target_with_a_fault_is_searched_again_from_its_figures() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::read(&folder.path().join("figures.json")).unwrap();
        let fault = Some("a panic".to_owned());
        state.keep(Figures { inputs: 7, fault, ..Figures::new("x") }).unwrap();
        assert_eq!((state.of("x").inputs, state.of("x").fault), (7, None));
        let limits = Limits { quiet: Duration::ZERO, inputs: 7, wall: None };
        assert!(!state.has_enough("x", &limits) && !state.has_enough("y", &limits));
        state.keep(state.of("x")).unwrap();
        assert!(state.has_enough("x", &limits), "it was searched again, without a fault");
        assert!(!state.has_enough("x", &Limits { inputs: 8, ..limits }));
        let quiet = Duration::from_secs(1);
        assert!(!state.has_enough("x", &Limits { quiet, ..limits }));
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.json");
        fs::write(&path, "{}").unwrap();
        let error = State::read(&path).unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("figures.json"), "{error}");
    }
}
