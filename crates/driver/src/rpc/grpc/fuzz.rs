//! Properties of the codec that hold for any bytes of a server.

use super::call::RESET;
use super::tests::hostile::Client;

fuzzing::targets! {
    grpc_answers: answers;
    grpc_first_answers: first_answers;
}

/// The most bytes that the codec sends by itself for nothing.
const OWN_BYTES_MAX: usize = 1024;

/// No call is answered twice or without a question, cuts change no answer, and what is sent is in proportion to what
/// was received. A server that resets a call and breaks the protocol for it in one piece may be seen to do only one of them.
/// One that breaks it for a stream whose call has ended is seen to do so as long as the stream is known, which it is for longer
/// when all comes in one piece.
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
    let has_reset = results.any(|it| it.as_ref().is_err_and(|error| error.message == RESET));
    let faults = [&whole.fault, &cut.fault];
    match faults.map(Option::is_some) {
        [true, true] | [false, false] => {}
        [true, false] => assert!(!cut.answers.is_empty(), "a cut hides a fault: {faults:?}"),
        [false, true] => assert!(has_reset, "a cut makes a fault: {faults:?}"),
    }
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
