//! Values that are sent to a database or read from it.

/// A parameter, or a cell of a row to insert. Borrowed, so that sending allocates nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Float(f64),
    Text(&'a str),
}

/// A value read from a database.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    Null,
    Int(i64),
    Float(f64),
    /// Text, or a value of another type in the server's text form.
    Text(String),
}
