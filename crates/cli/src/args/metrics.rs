//! Where figures go while a run goes on.

use clap::{Args as ClapArgs, ValueHint};

use super::bench::OUTPUT;

#[derive(Debug, ClapArgs)]
pub(crate) struct MetricsArgs {
    /// Serve what is measured as a page for Prometheus while it runs, such as at 127.0.0.1:9464; with port 0 at a free
    /// one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) metrics: Option<String>,
    /// Send what is measured to an OpenTelemetry collector while it runs, such as http://127.0.0.1:4318.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    #[arg(help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) otlp: Option<String>,
}
