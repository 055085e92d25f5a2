//! Loads that several processes offer together: what each must know, and which plans it is not for.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "generators get their jobs from the run, which comes next")
)]
pub(crate) mod job;
pub(crate) mod job_workload;
pub(crate) mod unfit;
