//! Settings of systems, machine and run.

use record::{Disk, Run};

use crate::differences::Facts;
use crate::digest::Digest;
use crate::number::{memory, number, several};
use crate::table::Table;

pub(crate) fn systems(digest: &Digest<'_>) -> Table {
    let mut table = Table::new()
        .words("system")
        .words("product")
        .words("version")
        .words("storage")
        .words("build");
    for (name, identity) in digest.systems() {
        table.row(vec![
            name.to_owned(),
            identity.product.clone(),
            identity.version.clone(),
            identity.storage.clone(),
            identity.build.clone().unwrap_or_default(),
        ]);
    }
    table.without_columns(|_, cells| cells.iter().all(|cell| cell.is_empty()))
}

/// Settings of every system; empty when no system reported any.
pub(crate) fn system_settings(digest: &Digest<'_>) -> Table {
    let mut table = Table::new().words("system").words("setting").words("value");
    for (name, identity) in digest.systems() {
        for (setting, value) in &identity.settings {
            table.row(vec![name.to_owned(), setting.clone(), value.clone()]);
        }
    }
    table
}

pub(crate) fn workloads(digest: &Digest<'_>) -> Table {
    let mut table = Table::new().words("workload").words("kind").words("description");
    for name in digest.workloads() {
        let headers = digest.run.trials.iter().map(|trial| &trial.header.workload);
        if let Some(workload) = headers.into_iter().find(|workload| workload.name == name) {
            let cells = [name, &workload.kind, &workload.description];
            table.row(cells.map(str::to_owned).to_vec());
        }
    }
    table
}

/// CPU flags that matter for databases; the full list is in the record.
const NOTABLE_FLAGS: [&str; 12] = [
    "aes",
    "avx2",
    "avx512f",
    "sha_ni",
    "sse4_2",
    "pclmulqdq",
    "hypervisor",
    "asimd",
    "sve",
    "crc32",
    "atomics",
    "v",
];

pub(crate) fn environment(run: &Run) -> Table {
    let mut table = Table::new().words("machine").words("value");
    for (name, value) in environment_facts(run) {
        table.row(vec![name, value]);
    }
    let load = run.header.environment.load_average.map(|load| load.map(number).join(", "));
    if let Some(load) = load {
        table.row(vec!["load average at the start".to_owned(), load]);
    }
    table
}

/// The machine in a few words: its name and CPUs.
pub(crate) fn machine(run: &Run) -> String {
    let environment = &run.header.environment;
    let threads = environment.cpu.threads.map(|count| several(count.into(), "CPU", "CPUs"));
    environment.system.hostname.clone().into_iter().chain(threads).collect::<Vec<_>>().join(", ")
}

/// The same with the model of its CPUs, its operating system and what it runs in.
pub(crate) fn whole_machine(run: &Run) -> String {
    let environment = &run.header.environment;
    let cpu = &environment.cpu;
    let cpus = match cpu.threads {
        Some(threads) if !cpu.model.is_empty() => {
            format!("{threads} x {}", short_model(&cpu.model))
        }
        _ => cpu.model.clone(),
    };
    let system = &environment.system;
    let parts = [Some(cpus), system.os.clone(), system.virtualization.clone()];
    let known = parts.into_iter().flatten().filter(|part| !part.is_empty());
    known.collect::<Vec<_>>().join(", ")
}

/// The model of a CPU without what says nothing.
fn short_model(model: &str) -> String {
    let model = ["(R)", "(TM)", " Processor", " CPU"]
        .iter()
        .fold(model.to_owned(), |model, it| model.replace(it, ""));
    model.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is known of the machine and stays the same from run to run.
pub(crate) fn environment_facts(run: &Run) -> Facts {
    let environment = &run.header.environment;
    let cpu = &environment.cpu;
    let mut facts = Facts::new();
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            facts.push((name.to_owned(), value));
        }
    };
    fact("host", environment.system.hostname.clone());
    fact("operating system", environment.system.os.clone());
    fact("kernel", environment.system.kernel.clone());
    fact("runs in", environment.system.virtualization.clone());
    fact("CPU", Some(cpu.model.clone()));
    fact("architecture", Some(cpu.architecture.clone()));
    fact("CPU topology", topology(run));
    fact("clock rate at most", cpu.frequency_mhz_max.map(|mhz| format!("{} MHz", number(mhz))));
    fact("governor", cpu.governor.clone());
    let telling = |flag: &&String| NOTABLE_FLAGS.contains(&flag.as_str());
    let flags: Vec<&str> = cpu.flags.iter().filter(telling).map(String::as_str).collect();
    fact("CPU flags, some of them", Some(flags.join(" ")));
    fact("memory", environment.memory_bytes.map(memory));
    for disk in &environment.disks {
        fact(&format!("disk of {}", disk.purpose), Some(disk_text(disk)));
    }
    facts
}

fn topology(run: &Run) -> Option<String> {
    let cpu = &run.header.environment.cpu;
    let parts = [
        (cpu.sockets, "socket"),
        (cpu.cores, "core"),
        (cpu.threads, "thread"),
        (cpu.usable_threads.filter(|usable| Some(*usable) != cpu.threads), "usable thread"),
    ];
    let texts: Vec<String> = parts
        .into_iter()
        .filter_map(|(count, name)| {
            let count = count?;
            Some(format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn disk_text(disk: &Disk) -> String {
    let kind = disk.is_rotational.map(|is| if is { "rotational" } else { "not rotational" });
    let parts = [
        disk.filesystem.as_deref(),
        disk.device.as_deref().filter(|device| Some(*device) != disk.filesystem.as_deref()),
        disk.model.as_deref(),
        kind,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(crate) fn run(run: &Run) -> Table {
    let header = &run.header;
    let mut table = Table::new().words("run").words("value");
    let mut fact = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    fact("status", run.status.name().to_owned());
    if let Some(reason) = run.status.reason() {
        fact("reason", reason.to_owned());
    }
    fact("began", format!("{:.0}", header.started));
    if let Some(ended) = run.ended {
        fact("ended", format!("{ended:.0}"));
    }
    fact("plan", format!("{} ({})", header.plan_name, header.plan_origin));
    fact("seed", header.seed.to_string());
    fact("dyno", format!("{} {}", header.dyno.version, header.dyno.build).trim().to_owned());
    fact("trials", format!("{} of {} planned", run.trials_done(), run.trials_planned()));
    table
}
