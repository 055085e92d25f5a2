//! The `dyno` binary.

fn main() {}
