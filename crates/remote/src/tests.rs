//! Connections between two ends in this process, honest ones and others, and the script with shells of this machine.

mod hostile;
mod link;
mod script;
