//! Hosts in every view.
