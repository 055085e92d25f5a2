//! Real exchanges with a server of trpc-go 1.0.4 on tnet 1.1.0, captured on the wire.

use super::{Call, ContentType, Method};

/// A request, with the id 16500.
pub(super) const REQUEST: &str = "\
    093000000000007a006300004074010018f480012a17747270632e636c69656e742e6561622e736572766963653\
    21c747270632e746573742e68656c6c6f776f726c642e477265657465723a262f747270632e746573742e68656c\
    6c6f776f726c642e477265657465722f53617948656c6c6f0a0568656c6c6f";
pub(super) const ANSWER: &str = "093000000000001b000400004074010018f480010a0568656c6c6f";
/// The answer to a method that the service does not have.
pub(super) const UNKNOWN_METHOD: &str = "\
    0930000000000089007900004074010018f48001200c3271736572766963652068616e646c653a20727063206e61\
    6d65202f747270632e746573742e68656c6c6f776f726c642e477265657465722f4e6f706520696e76616c69642c\
    2063757272656e7420736572766963653a747270632e746573742e68656c6c6f776f726c642e47726565746572";
/// The answer to a body that is not of the method's message.
pub(super) const BAD_BODY: &str = "\
    093000000000005e004e00004074010018f48001200132467365727669636520636f64656320556e6d61727368616\
    c3a2070726f746f3ac2a063616e6e6f7420706172736520696e76616c696420776972652d666f726d61742064617461";
/// The answer to a request without a header. It has the id of the frame alone.
pub(super) const NO_HEADER: &str = "\
    09300000000000490039000040740100200132357365727669636520636f646563204465636f64653a20736572766\
    572206465636f64652070622068656164206c656e20656d707479";
pub(super) const FAILED_METHOD: &str = "\
    0930000000000031002100004074010018f4800128e70732187468697320726571756573742077617320746f206661\
    696c";

pub(super) fn bytes(hex: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16);
    hex.as_bytes().chunks(2).map(|pair| byte(pair).unwrap()).collect()
}

pub(super) fn call() -> Call {
    Call {
        method: Method::parse("trpc.test.helloworld.Greeter/SayHello"),
        metadata: Vec::new(),
        content_type: ContentType::Protobuf,
        caller: "trpc.client.eab.service".to_owned(),
        answer_bytes: 27,
        ..Call::default()
    }
}
