//! Which system was measured, and how it was configured.

use serde::{Deserialize, Serialize};

/// The system under test, for the title of every view.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The product, such as `MariaDB`.
    pub product: String,
    pub version: String,
    /// Its build, hash or version comment, if the system reports one.
    pub build: Option<String>,
    /// Its storage, such as `InnoDB by default` or `SQLite file, WAL`.
    pub storage: String,
    pub settings: Vec<(String, String)>,
    /// What a reader must know of its settings, in sentences.
    pub remarks: Vec<String>,
    /// Executions that are not like those after them; `None` where all are alike.
    pub first_executions: Option<FirstExecutions>,
}

/// The first executions of each statement in each session, which take another way than those after them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FirstExecutions {
    pub count: u64,
    /// What is so of them, as a sentence without its end.
    pub text: String,
}

impl Identity {
    /// Product, version and storage in one line, for titles.
    pub fn title(&self) -> String {
        let mut title = self.product.clone();
        for part in [&self.version, &self.storage] {
            if !part.is_empty() {
                let is_storage = std::ptr::eq(part, &self.storage);
                title.push_str(if is_storage { ", " } else { " " });
                title.push_str(part);
            }
        }
        title
    }
}
