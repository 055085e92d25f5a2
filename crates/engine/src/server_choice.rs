//! Which of several servers a client uses: its own, until nothing has listened there for a while.

use std::mem;

use net::Nanos;

/// A server that is started again may refuse connections for so long without losing its clients. It is also the
/// longest pause between two attempts of a client.
const REFUSED_MAX_NS: Nanos = 1_000_000_000;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServerChoice {
    /// Its place among the servers in the client's order, in which its own is the first.
    place: usize,
    /// The place of its last connection.
    connected: usize,
    /// Since when the server refuses connections, if it does.
    refused_since: Option<Nanos>,
}

impl ServerChoice {
    /// The server of client `index`, of `0..servers`.
    ///
    /// Clients are shared out over the servers in turn. Those of one server have the others in different orders, so
    /// that they are shared out again when theirs is gone.
    pub(crate) fn server(self, index: usize, servers: usize) -> usize {
        let own = index.checked_rem(servers).unwrap_or(0);
        let Some(step) = self.place.checked_sub(1) else { return own };
        let others = servers.saturating_sub(1).max(1);
        let turn = (index / servers.max(1) + step) % others;
        (own + 1 + turn) % servers.max(1)
    }

    /// The server of this choice, one of so many, refuses connections at this time; the next one is tried when it has
    /// done so for long enough.
    pub(crate) fn refused(&mut self, now: Nanos, servers: usize) {
        let since = *self.refused_since.get_or_insert(now);
        if servers > 1 && now.saturating_sub(since) >= REFUSED_MAX_NS {
            self.place = (self.place + 1) % servers;
            self.refused_since = None;
        }
    }

    /// The client has a connection. Returns whether it is to another server than its last one.
    pub(crate) fn is_moved(&mut self) -> bool {
        self.refused_since = None;
        mem::replace(&mut self.connected, self.place) != self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Nanos = 1_000_000_000;

    /// The servers of nine clients, of three, after so many servers have refused them for long.
    fn servers(refused: u64) -> Vec<usize> {
        let server = |index| {
            let mut choice = ServerChoice::default();
            for at in 0..refused {
                choice.refused(3 * at * S, 3);
                choice.refused(3 * at * S + S, 3);
            }
            choice.server(index, 3)
        };
        (0..9).map(server).collect()
    }

    #[test]
    fn clients_of_a_server_that_is_gone_are_shared_out_over_the_others() {
        assert_eq!(servers(0), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(servers(1), [1, 2, 0, 2, 0, 1, 1, 2, 0]);
        assert_eq!(servers(2), [2, 0, 1, 1, 2, 0, 2, 0, 1]);
        assert_eq!(servers(3), servers(0), "their own is tried again");
    }

    #[test]
    fn a_server_that_comes_back_soon_keeps_its_clients() {
        let mut choice = ServerChoice::default();
        choice.refused(10 * S, 2);
        choice.refused(11 * S - 1, 2);
        assert_eq!(choice.server(0, 2), 0);
        assert!(!choice.is_moved());
        choice.refused(12 * S, 2);
        assert_eq!(choice.server(0, 2), 0, "the time counts from the last connection");
        choice.refused(13 * S, 2);
        assert_eq!(choice.server(0, 2), 1);
        assert!(choice.is_moved());
        assert!(!choice.is_moved(), "it has been counted");
    }

    #[test]
    fn the_only_server_stays_the_one() {
        let mut choice = ServerChoice::default();
        (0..9).for_each(|at| choice.refused(at * S, 1));
        assert_eq!((choice.server(7, 1), choice.is_moved()), (0, false));
    }
}
