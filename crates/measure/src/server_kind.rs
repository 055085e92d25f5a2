//! What a kind of server reports in its metrics and what is made of it: panels to draw, and load that
//! several servers should share evenly.
//!
//! A kind of system supplies these values and a record keeps them, so that a report needs to know no product.
//! They are read and written as they are: their names are keys of the record.

use serde::{Deserialize, Serialize};

/// The label that tells servers of one kind apart once their metrics are merged.
pub const INSTANCE: &str = "instance";

/// A kind of server whose metrics are understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerKind {
    /// What it is called in reports, such as `TiDB`.
    pub name: String,
    /// Beginnings of names of metrics that only servers of this kind have. A kind without any takes every
    /// server that is of no other kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
    /// What is drawn of its servers, in the order of a page.
    pub panels: Vec<Panel>,
    /// Load that its servers should share evenly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedLoad>,
    /// The members of the cluster that a server of this kind lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<MemberList>,
    /// What a report says when this kind is watched and another is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note_without: Option<NoteWithout>,
    /// What a reader must know of what its servers did in the measured time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<ServerRemark>,
    /// How many of its sessions wait at a time, on average, told apart by what they wait for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<PanelLine>,
    /// What its servers do from time to time, which plots over time mark.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<ServerMoment>,
}

/// What a server does from time to time, and the counter that grows with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerMoment {
    /// One or two words, such as `checkpoint`.
    pub text: String,
    pub counter: MetricQuery,
}

/// A sentence on a server, for when its metrics say that it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerRemark {
    pub text: String,
    pub test: RemarkTest,
}

/// When a remark holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkTest {
    /// A counter grew in the measured time.
    Grew(MetricQuery),
    /// A gauge grew in the measured time, by at least this part of another.
    GrewByPart { gauge: MetricQuery, of: MetricQuery, part: f64 },
    /// A gauge is higher than another at the end of the measured time.
    IsMore { gauge: MetricQuery, than: MetricQuery },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    pub title: String,
    pub quantity: Quantity,
    pub lines: Vec<PanelLine>,
}

/// One line of a panel, or one for each value of a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PanelLine {
    /// Its name; empty when the value of the label says enough.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(flatten)]
    pub query: MetricQuery,
}

/// Which metrics are taken together, and what is made of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricQuery {
    pub function: MetricFunction,
    /// The name of the family; of a histogram without `_bucket`, `_sum` or `_count`.
    pub family: String,
    /// Labels that must have these values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<(String, String)>,
    /// Labels that must not have these values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<(String, String)>,
    /// The label whose values are distinguished; everything is added up when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricFunction {
    /// Growth of a counter, 1/s.
    Rate,
    Gauge,
    /// Events that a histogram counted, 1/s.
    CountRate,
    /// Growth of the sum of a histogram, 1/s.
    SumRate,
    Mean,
    /// A quantile of a histogram, 0 to 1.
    Quantile(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    CpuThreads,
    Count,
    PerSecond,
    BytesPerSecond,
    Bytes,
    Part,
    /// Lengths of time, s.
    Seconds,
    /// CPU time for each query, us.
    MicrosecondsPerQuery,
    PerQuery,
    KilobytesPerQuery,
}

impl Quantity {
    pub fn unit(self) -> &'static str {
        match self {
            Self::CpuThreads => "cpu threads",
            Self::Count => "count",
            Self::PerSecond => "1/s",
            Self::BytesPerSecond => "bytes/s",
            Self::Bytes => "bytes",
            Self::Part => "part",
            Self::Seconds => "s",
            Self::MicrosecondsPerQuery => "us/query",
            Self::PerQuery => "1/query",
            Self::KilobytesPerQuery => "kB/query",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedLoad {
    /// What it is, such as `requests`.
    pub what: String,
    /// How much each takes, by the label that tells them apart.
    pub query: MetricQuery,
    /// Less than this in all is not worth sharing.
    pub least: f64,
}

/// The list of a cluster's members that one of its servers keeps. It is one series for each member, with the
/// labels `address`, `status_address` (where the member tells its metrics) and `state` (`Up` when it serves).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberList {
    pub family: String,
    /// What a member is called, which is also the label with its number.
    pub member: String,
    pub kind: String,
    /// How much of the data each member is responsible for, by its address.
    pub placed: MetricQuery,
    /// What that is counted in, such as `regions`.
    pub placed_unit: String,
    /// Load that the members should share evenly, by their numbers.
    pub load: SharedLoad,
    #[serde(rename = "load_told_by")]
    pub load_reported_by: String,
    /// Load of the members, by their numbers, that the server counts that has the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<SharedLoad>,
}

/// A sentence for when another kind of server is not watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteWithout {
    pub kind: String,
    pub text: String,
}

impl MetricQuery {
    /// A function of everything of a family.
    pub fn new(function: MetricFunction, family: &str) -> Self {
        Self {
            function,
            family: family.to_owned(),
            with: Vec::new(),
            without: Vec::new(),
            by: None,
        }
    }

    /// The same, told apart by a label.
    #[must_use]
    pub fn by(self, label: &str) -> Self {
        Self { by: Some(label.to_owned()), ..self }
    }

    /// The same, of those only whose label has this value.
    #[must_use]
    pub fn with(mut self, label: &str, value: &str) -> Self {
        self.with.push((label.to_owned(), value.to_owned()));
        self
    }

    /// The same, without those whose label has this value.
    #[must_use]
    pub fn without(mut self, label: &str, value: &str) -> Self {
        self.without.push((label.to_owned(), value.to_owned()));
        self
    }
}
