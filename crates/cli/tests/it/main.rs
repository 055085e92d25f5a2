//! Tests of the whole: the binary as people use it, and the rooms against real servers.

mod command_line;
mod end_to_end;
mod support;
