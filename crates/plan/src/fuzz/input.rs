//! Inputs for fuzzing: real ones, changed in the ways that readers stumble over, and random bytes.

use crate::split_mix;

/// Random inputs are no longer than this.
const RANDOM_BYTES_MAX: u64 = 512;
/// Inputs do not grow beyond this.
const INPUT_BYTES_MAX: usize = 8 * 1024;
/// Bytes with a meaning of their own in a protocol, in TOML, in URLs and in SQL.
const TELLING: &[u8] =
    b"\x00\x01\x7f\x80\xfa\xfb\xfc\xfd\xfe\xff'\"`\\\n\r\t =[]{}#@:/?%&;,.-_09eE*";

/// An endless row of inputs, the same for the same seed.
pub struct Inputs {
    seeds: Vec<Vec<u8>>,
    random: u64,
}

impl Inputs {
    /// Begins from these real inputs.
    pub fn new(seeds: Vec<Vec<u8>>, seed: u64) -> Self {
        Self { seeds, random: seed }
    }

    /// Puts the next input in place of the last.
    pub fn next(&mut self, input: &mut Vec<u8>) {
        input.clear();
        if self.seeds.is_empty() || self.below(8) == 0 {
            let length = self.below(RANDOM_BYTES_MAX + 1);
            input.extend((0..length).map(|_| self.byte()));
            return;
        }
        let seed = self.place(self.seeds.len());
        input.extend_from_slice(&self.seeds[seed]);
        for _ in 0..=self.below(12) {
            self.change(input);
        }
        input.truncate(INPUT_BYTES_MAX);
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let place = self.place(input.len() + 1);
        let is_at_end = place == input.len();
        match self.below(8) {
            0 | 1 if !is_at_end => input[place] = self.byte(),
            2 if !is_at_end => input[place] = self.telling(),
            3 if !is_at_end => input[place] ^= 1 << self.below(8),
            4 => input.insert(place, self.telling()),
            5 if !is_at_end => {
                let end = (place + 1 + self.place(8)).min(input.len());
                input.drain(place..end);
            }
            6 => {
                let other = self.place(self.seeds.len());
                let from = self.place(self.seeds[other].len() + 1);
                input.truncate(place);
                input.extend_from_slice(&self.seeds[other][from..]);
            }
            7 if self.below(4) == 0 => input.truncate(place),
            _ if input.len() > INPUT_BYTES_MAX => {}
            _ => {
                let again = input[place..].to_vec();
                input.extend_from_slice(&again);
            }
        }
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    fn telling(&mut self) -> u8 {
        TELLING[self.place(TELLING.len())]
    }

    fn place(&mut self, length: usize) -> usize {
        self.below(length.max(1) as u64) as usize
    }

    fn below(&mut self, bound: u64) -> u64 {
        split_mix::next(&mut self.random) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64) -> Vec<Vec<u8>> {
        let mut inputs = Inputs::new(vec![b"SELECT 1".to_vec(), b"x = [2]".to_vec()], seed);
        let mut input = Vec::new();
        let mut next = || {
            inputs.next(&mut input);
            input.clone()
        };
        (0..100).map(|_| next()).collect()
    }

    #[test]
    fn a_seed_makes_the_same_inputs_again_and_another_seed_others() {
        assert_eq!(first(7), first(7));
        assert_ne!(first(7), first(8));
        let mut distinct = first(7);
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > 80, "{} of 100", distinct.len());
    }
}
