//! Properties of readers of descriptors and messages that hold for any bytes.

use super::super::Method;
use super::reflection::{answer_of, schema_of};
use super::tests::{GREETER, read};

fuzzing::targets! {
    grpc_reflection: reflection, from reflections;
    grpc_json_message: json_message, from json_messages;
}

/// What a server tells of its types is a schema or an error, and a schema can be asked for any method.
fn reflection(bytes: &[u8]) {
    if let Ok(schema) = schema_of(bytes) {
        let _ = schema.unary_method(&Method::parse("test.v1.Greeter/SayHello").unwrap());
        let again = schema_of(&answer_of(&schema));
        assert!(again.is_ok(), "the files of a schema are none: {again:?}");
    }
}

fn reflections() -> Vec<Vec<u8>> {
    vec![answer_of(&read(GREETER).unwrap())]
}

/// A text is a message or an error; a message has no more bytes than its text can mean.
fn json_message(bytes: &[u8]) {
    thread_local! {
        static SAY_HELLO: super::UnaryMethod = read(GREETER)
            .unwrap()
            .unary_method(&Method::parse("test.v1.Greeter/SayHello").unwrap())
            .unwrap();
    }
    let text = String::from_utf8_lossy(bytes);
    if let Ok(message) = SAY_HELLO.with(|method| method.request(&text)) {
        let most = 16 + 4 * text.len();
        assert!(message.len() <= most, "{} bytes of {}", message.len(), text.len());
    }
}

fn json_messages() -> Vec<Vec<u8>> {
    [
        r#"{"name": {"text": "hello"}, "count": -2, "wait": "1.5s", "sizes": [1, 300]}"#,
        r#"{"count": "9223372036854775807", "wait": "-315576000000.999999999s", "name": null}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
