//! `dyno schema`: JSON Schemas of what dyno reads and writes, for editors and programs.

mod keys;
mod plan;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use anyhow::Result;
use serde_json::Value;

use crate::args::SchemaOf;

/// The draft that editors of TOML read as well.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

pub(crate) fn run(of: SchemaOf) -> Result<ExitCode> {
    super::print(&format!("{:#}\n", schema(of)))?;
    Ok(ExitCode::SUCCESS)
}

fn schema(of: SchemaOf) -> Value {
    match of {
        SchemaOf::Plan => plan::schema(),
        SchemaOf::Report => report::schema(),
    }
}
