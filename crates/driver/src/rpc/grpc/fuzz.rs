//! Properties of the codec that hold for any bytes of a server.

use super::call::{RESET, TOO_LONG};
use super::tests::hostile::Client;

fuzzing::targets! {
    grpc_answers: answers;
    grpc_first_answers: first_answers;
}

/// The most bytes that the codec sends by itself for nothing.
const OWN_BYTES_MAX: usize = 1024;

/// No call is answered twice or without a question, cuts change no answer, and what is sent is in proportion to what
/// was received. A call may end before its stream, because the server resets it or its message is too long: a server that
/// also breaks the protocol for this stream, in one piece, may be seen to do only one of them.
fn answers(bytes: &[u8]) {
    let mut whole = Client::new();
    whole.take_in(bytes);
    let mut cut = Client::new();
    let step = bytes.first().map_or(1, |first| usize::from(*first) % 40 + 1);
    bytes.chunks(step).for_each(|piece| cut.take_in(piece));
    for client in [&whole, &cut] {
        assert!(client.answers.keys().all(|id| (1..4).contains(id)), "an answer to nothing");
        let sent = client.out.len();
        assert!(sent <= OWN_BYTES_MAX + 4 * bytes.len(), "{sent} bytes for {}", bytes.len());
    }
    for (id, result) in &whole.answers {
        let other = cut.answers.get(id);
        assert!(other.is_none_or(|other| other == result), "a cut changes the answer to {id}");
    }
    let mut results = whole.answers.values().chain(cut.answers.values());
    let ends_early = results
        .any(|it| it.as_ref().is_err_and(|error| error.message == RESET || error.code == TOO_LONG));
    let faults = [&whole.fault, &cut.fault];
    let are_alike = faults[0].is_some() == faults[1].is_some();
    assert!(are_alike || ends_early, "a cut matters: {faults:?}");
    if faults == [&None, &None] {
        assert_eq!(whole.answers, cut.answers, "a cut loses an answer");
    }
}

/// A server may send anything before it has sent its settings, but no call is answered that was not sent.
fn first_answers(bytes: &[u8]) {
    let mut client = Client::before_preface();
    client.take_in(bytes);
    assert!(client.answers.keys().all(|id| *id == 1), "an answer to what was not sent");
}
