//! Whether a cluster's stores are up and its regions have their replicas, as PD reports it.

use std::net::SocketAddr;

use serde_json::Value;

use super::pd::{PAGE_BOUND, ask};

/// PD's default number of replicas, for a PD that does not report it.
const REPLICAS: u64 = 3;

/// The number of the learner role of a replica in TiKV's protocol (metapb.PeerRole).
const LEARNER: u64 = 1;

/// How many replicas each region should have: PD's setting, but not more than there are stores.
pub(super) fn replicas(pd: SocketAddr, stores: usize) -> usize {
    let told =
        ask(pd, "config/replicate", PAGE_BOUND).ok().and_then(|it| it["max-replicas"].as_u64());
    usize::try_from(told.unwrap_or(REPLICAS)).unwrap_or(usize::MAX).min(stores)
}

/// What the cluster still lacks before it can be used; `None` when it is complete.
pub(super) fn lacks(pd: SocketAddr, stores: &[SocketAddr], replicas: usize) -> Option<String> {
    let answered = |place: &str| ask(pd, place, PAGE_BOUND).map_err(|error| format!("{error:#}"));
    match answered("stores").map(|answer| lacking_stores(&answer, stores)) {
        Ok(None) => {}
        Ok(lack) => return lack,
        Err(error) => return Some(error),
    }
    match answered("regions") {
        Ok(answer) => lacking_replicas(&answer, replicas),
        Err(error) => Some(error),
    }
}

/// `{"stores": [{"store": {"address": "127.0.0.1:20160", "state_name": "Up"}}]}`
pub(super) fn lacking_stores(answer: &Value, stores: &[SocketAddr]) -> Option<String> {
    let is_up = |address: &SocketAddr| {
        list(&answer["stores"]).any(|it| {
            it["store"]["address"] == address.to_string() && it["store"]["state_name"] == "Up"
        })
    };
    let up = stores.iter().filter(|address| is_up(address)).count();
    (up < stores.len()).then(|| format!("{up} of {} stores are up", stores.len()))
}

/// `{"regions": [{"leader": {"id": 3}, "peers": [{"id": 3, "role_name": "Voter"}], "pending_peers": []}]}`
pub(super) fn lacking_replicas(answer: &Value, replicas: usize) -> Option<String> {
    let is_whole = |region: &&Value| {
        let votes = |peer: &&Value| {
            // PD before 5.1 does not name roles.
            peer["role"] != LEARNER && peer["role_name"] != "Learner" && peer["is_learner"] != true
        };
        list(&region["peers"]).filter(votes).count() >= replicas
            && list(&region["pending_peers"]).chain(list(&region["down_peers"])).count() == 0
            && region["leader"]["id"].is_number()
    };
    let whole = list(&answer["regions"]).filter(is_whole).count();
    let all = list(&answer["regions"]).count();
    (whole < all || all == 0)
        .then(|| format!("{whole} of {all} regions have {replicas} replicas that work"))
}

/// The items of a list; PD omits empty lists.
fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stores_count_when_pd_calls_them_up() {
        let stores = ["127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap()];
        let store = |at: &str, state: &str| json!({"store": {"address": at, "state_name": state}});
        let answer = |second| json!({"stores": [store("127.0.0.1:1", "Up"), second]});
        assert_eq!(lacking_stores(&answer(store("127.0.0.1:2", "Up")), &stores), None);
        for second in [store("127.0.0.1:2", "Down"), store("127.0.0.1:3", "Up"), json!({})] {
            assert_eq!(lacking_stores(&answer(second), &stores).unwrap(), "1 of 2 stores are up");
        }
        assert_eq!(lacking_stores(&json!("no"), &stores).unwrap(), "0 of 2 stores are up");
    }

    #[test]
    fn regions_count_when_all_their_replicas_work() {
        let lacks = |region: Value| lacking_replicas(&json!({"regions": [region]}), 2);
        let (voter, learner) = (json!({"role_name": "Voter"}), json!({"role_name": "Learner"}));
        let leader = json!({"id": 7});
        assert_eq!(lacks(json!({"leader": leader, "peers": [voter, voter]})), None);
        for region in [
            json!({"leader": leader, "peers": [voter]}),
            json!({"leader": leader, "peers": [voter, learner]}),
            json!({"leader": leader, "peers": [voter, json!({"id": 9, "role": 1})]}),
            json!({"leader": leader, "peers": [voter, voter], "pending_peers": [voter]}),
            json!({"leader": leader, "peers": [voter, voter], "down_peers": [voter]}),
            json!({"peers": [voter, voter]}),
        ] {
            let lack = lacks(region.clone()).unwrap_or_else(|| panic!("{region}"));
            assert_eq!(lack, "0 of 1 regions have 2 replicas that work");
        }
        assert!(lacking_replicas(&json!({}), 1).is_some(), "a cluster has a region at least");
    }
}
