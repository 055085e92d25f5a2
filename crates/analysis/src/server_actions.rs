//! What servers did from time to time beside a load, seen from a counter that grew between two of their answers.

use measure::{Nanos, Server, ServerKind};

use crate::{evaluate, kind_of};

/// A server did something, once or several times, between two of its answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServerAction<'a> {
    pub server: &'a str,
    pub text: &'a str,
    pub from_ns: Nanos,
    pub to_ns: Nanos,
    pub count: u64,
}

/// What all servers did, in the order of time.
pub fn server_actions<'a>(servers: &'a [Server], kinds: &'a [ServerKind]) -> Vec<ServerAction<'a>> {
    let of_server = |server| kind_of(kinds, server).map_or(&[][..], |kind| &kind.moments);
    let pairs = servers.iter().flat_map(|it| of_server(it).iter().map(move |moment| (it, moment)));
    let mut all: Vec<ServerAction<'a>> = pairs
        .flat_map(|(server, moment)| {
            let rates = evaluate(&moment.counter, server).into_values().flatten();
            rates.filter_map(|rate| {
                let count = rate.mean * (rate.to_ns - rate.from_ns) as f64 / 1e9;
                Some(ServerAction {
                    server: &server.name,
                    text: &moment.text,
                    from_ns: rate.from_ns,
                    to_ns: rate.to_ns,
                    count: whole(count)?,
                })
            })
        })
        .collect();
    all.sort_by_key(|action| action.from_ns);
    all
}

/// A count that a rate was computed from; `None` for zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at least 1")]
fn whole(count: f64) -> Option<u64> {
    let rounded = count.round();
    (rounded >= 1.0).then_some(rounded as u64)
}

#[cfg(test)]
mod tests {
    use measure::{MetricFunction, MetricQuery, Series, ServerMoment};

    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    #[test]
    fn a_counter_that_grows_between_two_answers_is_something_that_the_server_did_then() {
        let mut jobs = Series::parse("jobs{why=\"asked\"}");
        // Reset between the third answer and the fourth.
        jobs.points = vec![(SECOND, 3.0), (2 * SECOND, 3.0), (3 * SECOND, 5.0), (5 * SECOND, 1.0)];
        let server = Server {
            name: "db".to_owned(),
            families: vec!["jobs".to_owned()],
            answers_ns: [1, 2, 3, 5].map(|second| second * SECOND).to_vec(),
            series: vec![jobs],
            ..Server::default()
        };
        let moment = |text: &str, why: &str| ServerMoment {
            text: text.to_owned(),
            counter: MetricQuery::new(MetricFunction::Rate, "jobs").with("why", why),
        };
        let kind = ServerKind {
            moments: vec![moment("job", "asked"), moment("other job", "timed")],
            ..ServerKind::default()
        };
        let (servers, kinds) = ([server], [kind]);
        let found = server_actions(&servers, &kinds);
        let expected = ServerAction {
            server: "db",
            text: "job",
            from_ns: 2 * SECOND,
            to_ns: 3 * SECOND,
            count: 2,
        };
        assert_eq!(found, [expected]);
    }
}
