//! The published workloads, with the properties of their files.

/// A workload of the core package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preset {
    A,
    B,
    C,
    D,
    E,
    F,
    /// No properties but the given ones and the core workload's defaults.
    Core,
}

/// Properties of all published files, without their `operationcount=1000`: the plan limits a run.
const COMMON: [(&str, &str); 3] = [
    ("recordcount", "1000"),
    ("workload", "site.ycsb.workloads.CoreWorkload"),
    ("readallfields", "true"),
];

impl Preset {
    /// All presets, in the order of help texts.
    pub(crate) const ALL: [Self; 7] =
        [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::Core];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
            Self::D => "d",
            Self::E => "e",
            Self::F => "f",
            Self::Core => "core",
        }
    }

    pub(crate) fn summary(self) -> &'static str {
        match self {
            Self::A => "half reads, half updates",
            Self::B => "95 % reads, 5 % updates",
            Self::C => "reads only",
            Self::D => "95 % reads of the latest records, 5 % inserts",
            Self::E => "95 % short scans, 5 % inserts",
            Self::F => "half reads, half read-modify-writes",
            Self::Core => "a mix of your own, of YCSB's core properties",
        }
    }

    /// The properties of its file as brianfrankcooper/YCSB publishes it. go-ycsb's copies differ: they set
    /// `requestdistribution=uniform`, and E scans one record.
    pub(crate) fn properties(self) -> Vec<(&'static str, &'static str)> {
        let own: &[(&str, &str)] = match self {
            Self::A => &[("readproportion", "0.5"), ("updateproportion", "0.5")],
            Self::B => &[("readproportion", "0.95"), ("updateproportion", "0.05")],
            Self::C => &[("readproportion", "1"), ("updateproportion", "0")],
            Self::D => &[
                ("readproportion", "0.95"),
                ("updateproportion", "0"),
                ("insertproportion", "0.05"),
                ("requestdistribution", "latest"),
            ],
            Self::E => &[
                ("readproportion", "0"),
                ("updateproportion", "0"),
                ("scanproportion", "0.95"),
                ("insertproportion", "0.05"),
                ("maxscanlength", "100"),
                ("scanlengthdistribution", "uniform"),
            ],
            Self::F => &[
                ("readproportion", "0.5"),
                ("updateproportion", "0"),
                ("readmodifywriteproportion", "0.5"),
            ],
            Self::Core => return Vec::new(),
        };
        let zipfian = ("requestdistribution", "zipfian");
        COMMON.iter().copied().chain([zipfian]).chain(own.iter().copied()).collect()
    }

    /// The value of a property where neither the plan nor a file gives one.
    pub(crate) fn value_of(self, name: &str) -> Option<&'static str> {
        self.properties().into_iter().rev().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}
