//! Which levers are on in which window.

use measure::Lever;

/// Windows of a cycle: each lever is on in half of them, and on in half of the windows in which another one is on.
pub const CYCLE: usize = 16;
/// The same where there are more levers than [`WHY_LEVERS`].
const LONG_CYCLE: usize = 32;
/// Fewer cycles than these decide nothing.
pub const WHY_CYCLES_MIN: usize = 6;
/// Each look comes after this part more cycles than the one before.
const LOOKS_GROWTH: f64 = 1.4;
/// Levers that a cycle tells apart, and a long one.
pub const WHY_LEVERS: usize = 8;
pub const WHY_LEVERS_OF_LONG_CYCLE: usize = 16;

/// The columns of the fractional factorials 2^(8-4) and, with one factor more, 2^(16-11): factors, and their products of
/// three and of five. No lever's effect is mixed with that of two others together (resolution IV), because a product of an odd
/// number of factors is none of two of them.
///
/// Source: G. E. P. Box, J. S. Hunter, The 2^(k-p) fractional factorial designs, Technometrics 3 (1961).
const FACTORS: [u8; WHY_LEVERS_OF_LONG_CYCLE] = [
    0b0_0001, 0b0_0010, 0b0_0100, 0b0_1000, 0b0_1110, 0b0_1101, 0b0_0111, 0b0_1011, //
    0b1_0000, 0b1_0011, 0b1_0101, 0b1_0110, 0b1_1001, 0b1_1010, 0b1_1100, 0b1_1111,
];

/// Windows of a cycle with so many levers.
pub fn why_cycle(levers: usize) -> usize {
    if levers > WHY_LEVERS { LONG_CYCLE } else { CYCLE }
}

/// After which of so many cycles the results are looked at.
pub fn why_looks(cycles: usize) -> Vec<usize> {
    crate::looks(WHY_CYCLES_MIN.min(cycles), cycles, LOOKS_GROWTH)
}

/// The settings of all windows for some levers.
#[derive(Clone, Debug)]
pub struct Design {
    levers: Vec<Lever>,
    random: u64,
}

impl Design {
    /// `levers` are at most sixteen; with more than eight of them a cycle is a long one.
    pub fn new(levers: &[Lever], seed: u64) -> Self {
        Self { levers: levers.iter().copied().take(FACTORS.len()).collect(), random: seed }
    }

    /// The settings of so many cycles. The order within a cycle is drawn; each second cycle is the one before it
    /// backwards, so that a drift favours no setting.
    pub fn settings(mut self, cycles: usize) -> Vec<u32> {
        let windows = why_cycle(self.levers.len());
        let mut order: Vec<u8> = (0..windows as u8).collect();
        let mut settings = Vec::with_capacity(cycles * windows);
        for cycle in 0..cycles {
            match cycle % 2 {
                0 => self.shuffle(&mut order),
                _ => order.reverse(),
            }
            settings.extend(order.iter().map(|run| self.setting(*run)));
        }
        settings
    }

    fn setting(&self, run: u8) -> u32 {
        let is_on = |factor: u8| (run & factor).count_ones() % 2 == 1;
        let on = self.levers.iter().zip(FACTORS).filter(|(_, factor)| is_on(*factor));
        on.map(|(lever, _)| lever.bit()).fold(0, |setting, bit| setting | bit)
    }

    /// Fisher and Yates' shuffle.
    fn shuffle(&mut self, order: &mut [u8]) {
        for last in (1..order.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            order.swap(last, other);
        }
    }

    /// `SplitMix64`. Source: G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as a design tells apart.
    const LEVERS_OF_ALL: [Lever; WHY_LEVERS] = [
        Lever::Null,
        Lever::Before,
        Lever::Inside,
        Lever::ClientCpu,
        Lever::ServerCpu,
        Lever::Flush,
        Lever::Clients,
        Lever::Toggle,
    ];

    fn sign(setting: u32, lever: Lever) -> i32 {
        if setting & lever.bit() == 0 { -1 } else { 1 }
    }

    fn assert_apart(levers: &[Lever], windows: usize) {
        let settings = Design::new(levers, 7).settings(3);
        assert_eq!(settings.len(), 3 * windows);
        for cycle in settings.chunks(windows) {
            for (at, one) in levers.iter().enumerate() {
                assert_eq!(cycle.iter().map(|it| sign(*it, *one)).sum::<i32>(), 0, "{one:?}");
                for (next, other) in levers.iter().enumerate().skip(at + 1) {
                    let both = |it: &u32| sign(*it, *one) * sign(*it, *other);
                    assert_eq!(cycle.iter().map(both).sum::<i32>(), 0, "{one:?} and {other:?}");
                    for third in levers.iter().skip(next + 1) {
                        let three = cycle.iter().map(|it| both(it) * sign(*it, *third));
                        assert_eq!(three.sum::<i32>(), 0, "{one:?}, {other:?} and {third:?}");
                    }
                }
            }
        }
        assert_eq!(
            settings[..windows].iter().rev().collect::<Vec<_>>(),
            settings[windows..2 * windows].iter().collect::<Vec<_>>()
        );
        assert_ne!(settings[..windows], settings[2 * windows..]);
    }

    #[test]
    fn levers_are_on_independently_and_no_effect_is_mixed_with_that_of_a_pair() {
        assert_apart(&LEVERS_OF_ALL, CYCLE);
        let members = (0..8).map(Lever::Member);
        let all: Vec<Lever> = LEVERS_OF_ALL.into_iter().chain(members).collect();
        assert_apart(&all, LONG_CYCLE);
        assert_apart(&all[..9], LONG_CYCLE);
    }

    #[test]
    fn the_same_seed_gives_the_same_order_and_levers_that_are_not_used_stay_off() {
        let used = [Lever::Null, Lever::Cores];
        let settings = Design::new(&used, 1).settings(2);
        assert_eq!(settings, Design::new(&used, 1).settings(2));
        assert_ne!(settings, Design::new(&used, 2).settings(2));
        let all = Lever::Null.bit() | Lever::Cores.bit();
        assert!(settings.iter().all(|setting| setting & !all == 0));
    }
}
