//! What the headers of an answer say about the call.

use http::{HeaderMap, StatusCode};
use measure::ErrorClass;

use super::super::answer::{Malformed, Origin, ServiceError};
use super::call::CallEnd;

/// The most characters of a peer's text that are kept.
const TEXT_CHARACTERS_MAX: usize = 300;

/// The names of the codes from 0 on (google.golang.org/grpc/codes).
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The result of a call whose answer has ended with these headers.
///
/// # Errors
/// What the service said, or that it said nothing that gRPC knows.
pub(super) fn outcome(status: StatusCode, last: &HeaderMap) -> Result<(), CallEnd> {
    let Some(code) = last.get("grpc-status") else { return Err(without_status(status)) };
    let code = String::from_utf8_lossy(code.as_bytes());
    let number: Option<usize> = code.parse().ok();
    if number == Some(0) {
        return Ok(());
    }
    let name = number.and_then(|number| NAMES.get(number));
    let message = last.get("grpc-message").map(|text| percent_decoded(text.as_bytes()));
    Err(CallEnd::from(Box::new(ServiceError {
        class: ErrorClass::Framework,
        code: name.map_or_else(|| shortened(&code), |name| (*name).to_owned()),
        message: shortened(&message.unwrap_or_default()),
        origin: Origin::Service,
    })))
}

/// The end of an answer without a status of gRPC: one of a proxy, or of another kind of server.
fn without_status(status: StatusCode) -> CallEnd {
    let message = format!("the answer (HTTP status {status}) has no grpc-status");
    match status {
        StatusCode::OK => CallEnd::Broken(Malformed(message)),
        _ => CallEnd::from(Box::new(ServiceError {
            class: ErrorClass::Framework,
            code: format!("HTTP {}", status.as_u16()),
            message,
            origin: Origin::Service,
        })),
    }
}

/// Undoes the encoding of `grpc-message`; what is not encoded rightly stays as it is.
fn percent_decoded(text: &[u8]) -> String {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        let byte = match behind {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        decoded.push(byte.map_or(*first, |(high, low)| high << 4 | low));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

fn shortened(text: &str) -> String {
    text.chars().take(TEXT_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(key, value)| (key.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn shown(status: u16, pairs: &[(&'static str, &'static str)]) -> String {
        match outcome(StatusCode::from_u16(status).unwrap(), &headers(pairs)) {
            Ok(()) => "fine".to_owned(),
            Err(CallEnd::Answered(Err(error))) => {
                format!("{} {:?}: {}", error.class, error.code, error.message)
            }
            Err(other) => format!("{other:?}"),
        }
    }

    #[test]
    fn errors_are_told_by_the_code_that_the_peer_gave() {
        let texts = [
            shown(200, &[("grpc-status", "0")]),
            shown(
                200,
                &[("grpc-status", "5"), ("grpc-message", "no such%20user: 100%25 %e2%82%ac")],
            ),
            shown(200, &[("grpc-status", "00")]),
            shown(200, &[("grpc-status", "14")]),
            shown(200, &[("grpc-status", "99"), ("grpc-message", "%zz%4")]),
            shown(200, &[("grpc-status", "what")]),
            shown(404, &[("grpc-status", "12"), ("grpc-message", "unknown")]),
            shown(503, &[]),
            shown(200, &[]),
        ];
        insta::assert_snapshot!(texts.join("\n"), @r#"
        fine
        framework "NOT_FOUND": no such user: 100% €
        fine
        framework "UNAVAILABLE": 
        framework "99": %zz%4
        framework "what": 
        framework "UNIMPLEMENTED": unknown
        framework "HTTP 503": the answer (HTTP status 503 Service Unavailable) has no grpc-status
        Broken(Malformed("the answer (HTTP status 200 OK) has no grpc-status"))
        "#);
    }

    #[test]
    fn a_long_text_of_the_peer_is_cut() {
        let mut map = headers(&[("grpc-status", "2")]);
        map.insert("grpc-message", "x".repeat(10_000).parse().unwrap());
        let Err(CallEnd::Answered(Err(error))) = outcome(StatusCode::OK, &map) else { panic!() };
        assert_eq!(error.message.len(), TEXT_CHARACTERS_MAX);
    }
}
