//! A property of PD's answers that holds for any text.

use super::placement::{lacking_replicas, lacking_stores};

fuzzing::targets! {
    pd_placement: placement;
}

/// A cluster that is complete with some stores and replicas is complete with fewer.
fn placement(bytes: &[u8]) -> Option<()> {
    let answer = serde_json::from_slice(bytes).ok()?;
    let stores = ["127.0.0.1:20160", "127.0.0.1:20161"].map(|it| it.parse().expect("an address"));
    for count in 1..=2 {
        let is_complete = |count: usize| {
            let stores = lacking_stores(&answer, &stores[..count]);
            (stores.is_none(), lacking_replicas(&answer, count).is_none())
        };
        let (more, fewer) = (is_complete(count), is_complete(count - 1));
        assert!(more.0 <= fewer.0 && more.1 <= fewer.1, "{count} are up, fewer are not");
    }
    Some(())
}
