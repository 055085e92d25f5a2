//! The ids of calls on one connection.

/// The first id. All ids from here to [`LAST`] have three bytes as a varint, so that all requests with one body are of
/// one length.
const FIRST: u32 = 1 << 14;
const LAST: u32 = (1 << 21) - 1;

/// Gives each slot ids of its own, each different from the slot's ids before it, for as long as possible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    slots: u32,
}

impl Ids {
    /// The most slots of a connection.
    pub(super) const SLOTS_MAX: usize = ((LAST - FIRST) / 2) as usize;

    pub(super) fn new(slots: usize) -> Self {
        Self { slots: slots.clamp(1, Self::SLOTS_MAX) as u32 }
    }

    pub(super) fn first(self, slot: usize) -> u32 {
        FIRST + slot as u32
    }

    /// The slot's id after `id`.
    #[inline]
    pub(super) fn after(self, id: u32) -> u32 {
        let next = id + self.slots;
        if next <= LAST { next } else { FIRST + (id - FIRST) % self.slots }
    }

    /// The slot of an id; `None` for an id that no slot has.
    #[inline]
    pub(super) fn slot(self, id: u32) -> Option<usize> {
        let slot = id.checked_sub(FIRST)? % self.slots;
        (id <= LAST).then_some(slot as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_slot_differ_until_all_were_given_and_name_their_slot() {
        let ids = Ids::new(13);
        let mut id = ids.first(12);
        let first = id;
        let mut given = 0;
        loop {
            assert_eq!(ids.slot(id), Some(12));
            given += 1;
            id = ids.after(id);
            if id == first {
                break;
            }
        }
        // 2,080,768 ids, a thirteenth of them for each slot.
        assert_eq!(given, 160_059);
        assert_eq!([0, FIRST - 1, LAST + 1, u32::MAX].map(|id| ids.slot(id)), [None; 4]);
    }
}
