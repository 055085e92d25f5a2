//! Inputs that come from real ones.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// The longest input that is made of random bytes alone.
const RANDOM_BYTES_MAX: usize = 512;
/// The longest input of any kind.
const INPUT_BYTES_MAX: usize = 16 * 1024;
/// The largest number of changes to one real input.
const CHANGES_MAX: usize = 13;
/// Bytes that have a meaning in a protocol, in TOML, in URLs or in SQL.
const SYNTAX_BYTES: &[u8] =
    b"\x00\x01\x7f\x80\xfa\xfb\xfc\xfd\xfe\xff'\"`\\\n\r\t =[]{}#@:/?%&;,.-_09eE*";

/// Random bytes, or one of these inputs with some changes.
pub(crate) fn variations(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let random = vec(any::<u8>(), 0..=RANDOM_BYTES_MAX);
    let changes = vec((any::<Index>(), change()), 0..=CHANGES_MAX);
    let changed = (any::<Index>(), changes).prop_map(move |(seed, changes)| {
        let mut input = seed.get(&seeds).clone();
        for (place, change) in changes {
            let place = place.index(input.len() + 1);
            change.apply(&mut input, place, &seeds);
            input.truncate(INPUT_BYTES_MAX);
        }
        input
    });
    prop_oneof![1 => random, 7 => changed]
}

/// What happens to an input at one place.
#[derive(Clone, Debug)]
enum Change {
    /// Another byte stands there.
    Replace(u8),
    /// One bit of the byte there is the other way round.
    Flip(u32),
    /// A byte comes before it.
    Insert(u8),
    /// So many bytes are gone.
    Remove(usize),
    /// From there on, it goes on as another input does from some place of its own.
    Splice(Index, Index),
    /// It ends there.
    Cut,
    /// All from there on comes a second time.
    Repeat,
}

fn change() -> impl Strategy<Value = Change> {
    let syntax = || proptest::sample::select(SYNTAX_BYTES);
    prop_oneof![
        8 => any::<u8>().prop_map(Change::Replace),
        4 => syntax().prop_map(Change::Replace),
        4 => (0..u8::BITS).prop_map(Change::Flip),
        4 => syntax().prop_map(Change::Insert),
        4 => (1..=8_usize).prop_map(Change::Remove),
        4 => any::<(Index, Index)>().prop_map(|(other, from)| Change::Splice(other, from)),
        1 => Just(Change::Cut),
        3 => Just(Change::Repeat),
    ]
}

impl Change {
    /// Changes `input` at `place`, which is at most its length; a byte that is not there stays so.
    fn apply(self, input: &mut Vec<u8>, place: usize, seeds: &[Vec<u8>]) {
        match self {
            Self::Replace(byte) => input[place..].iter_mut().take(1).for_each(|old| *old = byte),
            Self::Flip(bit) => input[place..].iter_mut().take(1).for_each(|old| *old ^= 1 << bit),
            Self::Insert(byte) => input.insert(place, byte),
            Self::Remove(count) => drop(input.drain(place..(place + count).min(input.len()))),
            Self::Splice(other, from) => {
                let other = other.get(seeds);
                input.truncate(place);
                input.extend_from_slice(&other[from.index(other.len() + 1)..]);
            }
            Self::Cut => input.truncate(place),
            Self::Repeat => input.extend_from_within(place..),
        }
    }
}
