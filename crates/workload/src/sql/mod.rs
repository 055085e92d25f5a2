//! One's own SQL as a workload.

use std::path::Path;

use engine::Load;
use measure::Failure;
use plan::{Options, Problem};

use crate::{OptionInfo, Site, Workload};

/// A file of SQL.
pub(crate) struct SqlWorkload;

impl SqlWorkload {
    pub(crate) const OPTIONS: &[OptionInfo] = &[];

    pub(crate) fn read(_: &str, _: &Path, _: &Options) -> Result<Self, Vec<Problem>> {
        let message = "workloads of SQL files are not here yet".to_owned();
        Err(vec![Problem { span: None, message, help: None }])
    }
}

impl Workload for SqlWorkload {
    fn describe(&self) -> String {
        String::new()
    }
    fn prepare(&self, _site: &Site<'_>) -> Result<(), Failure> {
        Ok(())
    }
    fn verify(&self, _site: &Site<'_>) -> Result<(), Failure> {
        Ok(())
    }
    fn cleanup(&self, _site: &Site<'_>) -> Result<(), Failure> {
        Ok(())
    }
    fn load(&self, _site: &Site<'_>) -> Box<dyn Load> {
        unimplemented!("no SQL workload can be read yet")
    }
}
