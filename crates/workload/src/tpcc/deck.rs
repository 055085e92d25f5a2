//! The order of transactions: clause 5.2.4.

use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

pub(super) const TYPES: usize = 5;

impl Kind {
    pub(super) const ALL: [Self; TYPES] =
        [Self::NewOrder, Self::Payment, Self::OrderStatus, Self::Delivery, Self::StockLevel];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "new_order",
            Self::Payment => "payment",
            Self::OrderStatus => "order_status",
            Self::Delivery => "delivery",
            Self::StockLevel => "stock_level",
        }
    }

    /// Its minimum share of all transactions, in percent (clause 5.2.3); New-Order has the rest.
    pub(super) fn least_percent(self) -> Option<f64> {
        match self {
            Self::NewOrder => None,
            Self::Payment => Some(43.0),
            Self::OrderStatus | Self::Delivery | Self::StockLevel => Some(4.0),
        }
    }
}

/// How the next kind is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mix {
    /// Drawn from a deck of 23 cards that is reshuffled when it is used up (clause 5.2.4.2).
    Deck,
    /// Drawn independently, with these weights (clause 5.2.4.1).
    Weights([u32; TYPES]),
}

/// Cards of each kind in a deck (clause 5.2.4.2): the required mix with the highest possible share of New-Orders.
const CARDS: [usize; TYPES] = [10, 10, 1, 1, 1];
const DECK: usize = 23;

/// Selects the kinds of one client's transactions.
#[derive(Clone, Debug)]
pub(super) struct TransactionPicker {
    mix: Mix,
    deck: [Kind; DECK],
    drawn: usize,
}

impl TransactionPicker {
    pub(super) fn new(mix: Mix) -> Self {
        let mut cards =
            Kind::ALL.iter().zip(CARDS).flat_map(|(kind, count)| std::iter::repeat_n(*kind, count));
        let deck = std::array::from_fn(|_| cards.next().unwrap_or(Kind::NewOrder));
        Self { mix, deck, drawn: DECK }
    }

    #[inline]
    pub(super) fn draw(&mut self, random: &mut Random) -> Kind {
        if let Mix::Weights(weights) = self.mix {
            return weighted(&weights, random);
        }
        if self.drawn == DECK {
            self.shuffle(random);
            self.drawn = 0;
        }
        self.drawn += 1;
        self.deck[self.drawn - 1]
    }

    /// Shuffles the deck; every order is equally likely (R. Durstenfeld, Algorithm 235: Random permutation, CACM
    /// 7(7), 1964).
    fn shuffle(&mut self, random: &mut Random) {
        for last in (1..DECK).rev() {
            self.deck.swap(last, random.below(last as u64 + 1) as usize);
        }
    }
}

fn weighted(weights: &[u32; TYPES], random: &mut Random) -> Kind {
    let all = weights.iter().map(|weight| u64::from(*weight)).sum();
    let mut at = random.below(all);
    for (kind, weight) in Kind::ALL.into_iter().zip(weights) {
        let weight = u64::from(*weight);
        if at < weight {
            return kind;
        }
        at -= weight;
    }
    Kind::NewOrder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(mix: Mix, draws: usize) -> [usize; TYPES] {
        let (mut cards, mut random) = (TransactionPicker::new(mix), Random::new(3));
        let mut counts = [0; TYPES];
        for _ in 0..draws {
            counts[cards.draw(&mut random) as usize] += 1;
        }
        counts
    }

    #[test]
    fn a_deck_is_exhausted_before_it_is_reshuffled() {
        assert_eq!(count(Mix::Deck, DECK), CARDS);
        assert_eq!(count(Mix::Deck, 1_000 * DECK), CARDS.map(|cards| cards * 1_000));
    }

    #[test]
    fn decks_are_shuffled() {
        let (mut cards, mut random) = (TransactionPicker::new(Mix::Deck), Random::new(3));
        // The position of the one Delivery: each is equally likely.
        let mut places = [0_u32; DECK];
        for _ in 0..2_300 {
            let deck: Vec<Kind> = (0..DECK).map(|_| cards.draw(&mut random)).collect();
            places[deck.iter().position(|kind| *kind == Kind::Delivery).unwrap()] += 1;
        }
        let statistic: f64 =
            places.iter().map(|count| (f64::from(*count) - 100.0).powi(2) / 100.0).sum();
        // The 99.9th percentile of chi-square with 22 degrees of freedom.
        assert!(statistic < 48.3, "{statistic}: {places:?}");
    }

    #[test]
    fn weights_are_kept() {
        assert_eq!(count(Mix::Weights([0, 1, 0, 0, 0]), 50), [0, 50, 0, 0, 0]);
        let counts = count(Mix::Weights([45, 43, 4, 4, 4]), 100_000);
        for (count, percent) in counts.into_iter().zip([45.0, 43.0, 4.0, 4.0, 4.0]) {
            let share = count as f64 / 1_000.0;
            assert!((share - percent).abs() < 0.6, "{counts:?}");
        }
    }
}
