//! A property of expressions that holds for any text.

use super::{CLIENT_ID, Cell, Expression, Scope, Variables, parse};
use crate::random::Random;

fuzzing::targets! {
    expression: values;
}

/// An expression is computed to the same value for the same seed, in brackets too.
fn values(bytes: &[u8]) -> Option<()> {
    let text = String::from_utf8_lossy(bytes);
    let scope = Scope::from([("client_id".to_owned(), Expression::Slot(CLIENT_ID))]);
    let plain = parse(&text, &scope, 1).ok()?;
    // Brackets are a level more, and two more words.
    let in_brackets = parse(&format!("({text})"), &scope, 1).ok()?;
    let value = |expression: &Expression| {
        let mut variables = Variables { slots: vec![Cell::Int(5)], random: Random::new(7) };
        format!("{:?}", variables.compute(expression))
    };
    assert_eq!(value(&in_brackets), value(&plain));
    Some(())
}
