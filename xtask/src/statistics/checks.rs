//! The checks of single trials in a steady state: what they warn of is chance.

use super::simulated::report_of;
use super::simulation::{Case, Seen, Study};

const WARNS: &str = "warns of something";

pub(super) static STUDY: Study = Study {
    name: "checks",
    title: "Checks of single trials",
    goals: const { &[(WARNS, 0.0..=1.0)] },
    cases,
};

/// A server of 100 a second.
const SERVICES: [(&str, &str); 3] = [
    ("exponential", "distribution = \"exponential\""),
    ("lognormal, variation 1.5", "distribution = \"lognormal\"\nvariation = 1.5"),
    ("bimodal, variation 1.5", "distribution = \"bimodal\"\nvariation = 1.5"),
];

/// At half and at nearly all of its capacity, after a warm-up of several times the time in which its queue forgets.
const LOADS: [(&str, &str); 4] = [
    ("open loop at 0.5 of capacity", "clients = 2000\nrate = 50\nwarm_up = \"5s\""),
    ("open loop at 0.95 of capacity", "clients = 2000\nrate = 95\nwarm_up = \"60s\""),
    (
        "closed loop, one client, thinking for a service time",
        "clients = 1\nthink_time = \"10ms\"\nwarm_up = \"5s\"",
    ),
    ("closed loop, 8 clients", "clients = 8\nwarm_up = \"5s\""),
];

fn cases() -> Vec<Case> {
    let of = |(name, load)| {
        SERVICES.map(move |(services, distribution)| {
            let plan = format!(
                "[systems.simulated]\nservice_times = [\"10ms\"]\n{distribution}\n\
                 [load]\ntime = \"30s\"\n{load}\n"
            );
            Case::new(format!("{name}, {services} services"), move |seed| once(&plan, seed))
        })
    };
    LOADS.into_iter().flat_map(of).collect()
}

fn once(plan: &str, seed: u64) -> anyhow::Result<Seen> {
    let report = report_of(plan, seed)?;
    let codes = report["trials"][0]["warnings"].as_array().into_iter().flatten();
    let codes: Vec<&str> = codes.filter_map(|warning| warning["code"].as_str()).collect();
    let mut seen = Seen::default();
    seen.is(WARNS, !codes.is_empty());
    codes.into_iter().for_each(|code| seen.is(format!("a warning is {code}"), true));
    Ok(seen)
}
