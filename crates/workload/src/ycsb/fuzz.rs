//! Properties of YCSB's files that hold for any text.

use std::fmt::Write as _;

use super::lengths::{Lengths, MOST_BYTES, histogram};
use super::properties::parse;
use crate::random::Random;

fuzzing::targets! {
    ycsb_properties: properties;
    ycsb_lengths: lengths;
}

/// Draws from each histogram.
const DRAWS: usize = 20;

/// A histogram that is written and read again is the same. Its lengths fit into a packet, each that was counted can be
/// drawn, and no other is. One that is refused is refused with a reason.
fn lengths(bytes: &[u8]) -> Option<()> {
    let given = String::from_utf8_lossy(bytes);
    let buckets = match histogram(&given) {
        Ok(buckets) => buckets,
        Err(why) => {
            assert!(!why.is_empty(), "no reason");
            return None;
        }
    };
    let mut text = "BlockSize\t1\n".to_owned();
    let (mut counted, mut before) = (Vec::new(), 0);
    for (length, until) in &buckets {
        assert!((1..=MOST_BYTES as usize).contains(length), "a value of {length} bytes");
        let count = until.checked_sub(before).expect("the counts add up");
        let _ = writeln!(text, "{}\t{count}", length - 1);
        counted.extend((count > 0).then_some(*length));
        before = *until;
    }
    let lines = given.lines().filter(|line| !line.trim().is_empty()).skip(1);
    let counts = lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    assert_eq!(counted.len(), counts.filter(|count| *count > 0).count(), "a count is lost");
    assert_eq!(histogram(&text).as_ref(), Ok(&buckets), "it is not written as it was read");
    let lengths = Lengths::Histogram(buckets);
    let mut random = Random::new(bytes.len() as u64);
    for length in (0..DRAWS).map(|_| lengths.draw(&mut random)) {
        assert!(counted.contains(&length), "{length} was not counted");
        assert!(length <= lengths.most(), "{length} is more than the most");
    }
    Some(())
}

/// Properties whose letters are all written as escapes are read as the same properties.
fn properties(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let pairs = |text: &str| {
        let all = parse(text).into_iter();
        all.map(|property| (property.name, property.value)).collect::<Vec<_>>()
    };
    let read = parse(&text);
    let lines = text.lines().count();
    assert!(read.iter().all(|property| (1..=lines).contains(&property.line)));
    let escaped: String =
        read.iter().map(|it| format!("{}={}\n", escaped(&it.name), escaped(&it.value))).collect();
    assert_eq!(pairs(&escaped), pairs(&text));
}

/// A letter that needs more than four digits has no escape.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        let _ = match u16::try_from(u32::from(letter)) {
            Ok(code) => write!(escaped, "\\u{code:04x}"),
            Err(_) => write!(escaped, "{letter}"),
        };
    }
    escaped
}
