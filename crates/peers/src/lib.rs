//! Servers that misbehave, for tests: what a hostile one does in place of the message that is due ([`Behaviour`]), in
//! every phase of a connection ([`Phase`]), and the bytes of honest ones up to there. Only tests depend on this crate.
//!
//! A phase and a behaviour make a list of [`Act`]s. [`serve`] performs them on TCP in real time; tests with an event loop
//! of their own perform them in virtual time.

mod act;
mod behaviour;
pub mod dyno;
pub mod http;
pub mod http2;
pub mod mysql;
mod phase;
mod player;
pub mod postgres;
pub mod tls;
pub mod trpc;
mod wire;

pub use act::{Act, Framing};
pub use behaviour::Behaviour;
pub use phase::{LengthField, LengthForm, Phase};
pub use player::{play, receive, serve};
pub use wire::{Wire, WireSocket};
