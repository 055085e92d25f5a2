//! Finds load that is concentrated on one of several servers.

/// At least this multiple of its fair share makes a server a hot spot.
const FAR_ABOVE: f64 = 1.5;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HotSpot {
    pub(crate) name: String,
    pub(crate) share: f64,
    /// Its part if all took the same.
    pub(crate) fair_share: f64,
}

/// The server with the most load, if it takes at least half as much again as its fair share. `None` when the
/// total is less than `least`.
pub(crate) fn hottest(shares: &[(String, f64)], least: f64) -> Option<HotSpot> {
    let all: f64 = shares.iter().map(|(_, amount)| amount).sum();
    if shares.len() < 2 || all < least || all <= 0.0 {
        return None;
    }
    let (name, most) = shares.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let (share, fair_share) = (most / all, 1.0 / shares.len() as f64);
    (share >= FAR_ABOVE * fair_share).then(|| HotSpot { name: name.clone(), share, fair_share })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hot_spot(amounts: &[f64]) -> Option<(String, f64, f64)> {
        let named = amounts.iter().enumerate();
        let shares: Vec<(String, f64)> =
            named.map(|(at, amount)| (format!("store {at}"), *amount)).collect();
        hottest(&shares, 10.0).map(|hot_spot| (hot_spot.name, hot_spot.share, hot_spot.fair_share))
    }

    #[test]
    fn a_hot_spot_is_named_with_its_share() {
        assert_eq!(hot_spot(&[900.0, 60.0, 40.0, 0.0]), Some(("store 0".to_owned(), 0.9, 0.25)));
        assert_eq!(hot_spot(&[0.0, 100.0]), Some(("store 1".to_owned(), 1.0, 0.5)));
        assert_eq!(hot_spot(&[75.0, 25.0]), Some(("store 0".to_owned(), 0.75, 0.5)));
    }

    #[test]
    fn roughly_even_shares_have_no_hot_spot() {
        assert_eq!(hot_spot(&[74.0, 26.0]), None);
        assert_eq!(hot_spot(&[40.0, 30.0, 30.0]), None);
    }

    #[test]
    fn one_instance_or_no_load_has_no_hot_spot() {
        assert_eq!(hot_spot(&[]), None);
        assert_eq!(hot_spot(&[1_000.0]), None);
        assert_eq!(hot_spot(&[9.0, 0.0]), None);
        assert_eq!(hot_spot(&[0.0, 0.0, 0.0]), None);
    }
}
