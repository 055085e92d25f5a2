//! The table, as go-ycsb and YCSB's JDBC binding create it.

use driver::Dialect;
use plan::OptionReader;
use plan::declared::{Number, Text, number, text};

pub(super) const KEY: &str = "YCSB_KEY";
const MOST_FIELDS: u64 = 1_000;

pub(super) const TABLE: Text = text("table", "usertable", "name of the table");
pub(super) const FIELD_COUNT: Number<u64> =
    number("fieldcount", 10, 1..=MOST_FIELDS, "fields of a record");
pub(super) const FIELD_NAME_PREFIX: Text =
    text("fieldnameprefix", "field", "names of columns without their number");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    /// Names of the columns after the key.
    pub(super) fields: Vec<String>,
    /// Names of the fields in values that can be checked.
    pub(super) field_names: Vec<String>,
    /// The longest value, bytes.
    pub(super) field_bytes: usize,
}

impl Table {
    pub(super) fn read(reader: &mut OptionReader<'_>, field_bytes: usize) -> Self {
        let (name, prefix) = (TABLE.read(reader), FIELD_NAME_PREFIX.read(reader));
        for (option, text) in [(TABLE, &name), (FIELD_NAME_PREFIX, &prefix)] {
            if !is_plain(text) {
                let message = format!("`{}` is {text:?}, no plain name", option.name);
                let help = "letters, digits and `_`, a letter first, at most 48";
                reader.reject(option.name, message, help);
            }
        }
        let count = FIELD_COUNT.read(reader);
        let field_names: Vec<String> = (0..count).map(|field| format!("{prefix}{field}")).collect();
        let fields = field_names.iter().map(|name| name.to_ascii_uppercase()).collect();
        Self { name, fields, field_names, field_bytes }
    }

    pub(super) fn create(&self, dialect: &Dialect) -> String {
        let kind = dialect.text_type(self.field_bytes, self.fields.len());
        let fields: String = self.fields.iter().map(|field| format!(", {field} {kind}")).collect();
        let hint = dialect.clustered_key_hint;
        format!("CREATE TABLE {} ({KEY} VARCHAR(64) PRIMARY KEY{hint}{fields})", self.name)
    }

    pub(super) fn columns(&self) -> Vec<&str> {
        std::iter::once(KEY).chain(self.fields.iter().map(String::as_str)).collect()
    }
}

fn is_plain(name: &str) -> bool {
    name.len() <= 48
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
