//! The head of a request, which is the same for all calls of a connection.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, TE, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderMap, Method, Request, Version};

use super::super::Compression;

/// The most digits of a time-out on the wire.
const TIMEOUT_MAX: u128 = 99_999_999;

/// Headers that gRPC sets itself, and those that HTTP/2 does not have.
const OWN_HEADERS: [&str; 9] = [
    "connection",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// What every request of a connection begins with.
#[derive(Clone, Debug)]
pub(in super::super) struct RequestHead {
    uri: Uri,
    headers: HeaderMap,
    /// The keys whose values are given with each request.
    drawn: Vec<Key>,
}

/// The key of metadata.
#[derive(Clone, Debug)]
struct Key {
    name: HeaderName,
    /// As it was given, for messages.
    written: String,
    /// Whether no `Debug` output may show the value, and no proxy keep it in its table of headers.
    is_sensitive: bool,
}

/// A part of a request head that HTTP cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum RequestFault {
    #[error("the host `{0}` cannot be in a URL")]
    Authority(String),
    #[error("the method `{0}` cannot be in a URL")]
    Path(String),
    #[error("the metadata key `{0}` cannot be the name of an HTTP header")]
    Key(String),
    #[error("the metadata key `{0}` is one that gRPC and HTTP/2 set themselves")]
    Reserved(String),
    #[error("the value of the metadata key `{0}` cannot be in an HTTP header")]
    Value(String),
    #[error(
        "the value of the metadata key `{0}` is not base64, as that of a key that ends in `-bin` must be"
    )]
    Base64(String),
}

#[derive(Clone, Copy, Debug)]
pub(in super::super) struct RequestParts<'a> {
    pub(in super::super) is_encrypted: bool,
    pub(in super::super) host_and_port: &'a str,
    /// `/package.Service/Method`.
    pub(in super::super) path: &'a str,
    pub(in super::super) timeout: Option<Duration>,
    pub(in super::super) metadata: &'a [(String, String)],
    /// Metadata whose values are given with each request.
    pub(in super::super) drawn: &'a [(String, String)],
    pub(in super::super) compression: Compression,
}

impl RequestHead {
    pub(in super::super) fn new(parts: RequestParts<'_>) -> Result<Self, RequestFault> {
        let uri = Uri::builder()
            .scheme(if parts.is_encrypted { Scheme::HTTPS } else { Scheme::HTTP })
            .authority(authority(parts.host_and_port)?)
            .path_and_query(path(parts.path)?)
            .build()
            .map_err(|_| RequestFault::Path(parts.path.to_owned()))?;
        let mut headers = HeaderMap::new();
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(USER_AGENT, HeaderValue::from_static("dyno"));
        if let Some(timeout) = parts.timeout {
            headers.insert("grpc-timeout", timeout_value(timeout));
        }
        if parts.compression == Compression::Gzip {
            headers.insert("grpc-encoding", HeaderValue::from_static("gzip"));
            headers.insert("grpc-accept-encoding", HeaderValue::from_static("gzip"));
        }
        for (key, value) in parts.metadata {
            let key = Key::read(key)?;
            let value = key.value(value)?;
            key.put(&mut headers, value);
        }
        let drawn = parts.drawn.iter().map(|(key, _)| Key::read(key)).collect::<Result<_, _>>()?;
        Ok(Self { uri, headers, drawn })
    }

    /// The headers of drawn metadata with these values.
    ///
    /// # Errors
    /// When a header cannot have its value.
    pub(super) fn drawn(&self, values: &[String]) -> Result<Vec<HeaderValue>, RequestFault> {
        self.drawn.iter().zip(values).map(|(key, value)| key.value(value)).collect()
    }

    /// A request with these values of drawn metadata.
    pub(in super::super) fn request(&self, drawn: Vec<HeaderValue>) -> Request<()> {
        let mut request = Request::new(());
        *request.method_mut() = Method::POST;
        *request.version_mut() = Version::HTTP_2;
        *request.uri_mut() = self.uri.clone();
        let headers = request.headers_mut();
        *headers = self.headers.clone();
        for (key, value) in self.drawn.iter().zip(drawn) {
            key.put(headers, value);
        }
        request
    }
}

fn authority(text: &str) -> Result<Authority, RequestFault> {
    text.parse().map_err(|_| RequestFault::Authority(text.to_owned()))
}

fn path(text: &str) -> Result<PathAndQuery, RequestFault> {
    let wrong = || RequestFault::Path(text.to_owned());
    let path: PathAndQuery = text.parse().map_err(|_| wrong())?;
    if path.path() == text && text.starts_with('/') { Ok(path) } else { Err(wrong()) }
}

impl Key {
    fn read(key: &str) -> Result<Self, RequestFault> {
        // What follows a space may be a secret.
        let wrong = |_| RequestFault::Key(key.split(' ').next().unwrap_or_default().to_owned());
        let name = HeaderName::from_bytes(key.to_ascii_lowercase().as_bytes()).map_err(wrong)?;
        if name.as_str().starts_with("grpc-") || OWN_HEADERS.contains(&name.as_str()) {
            return Err(RequestFault::Reserved(key.to_owned()));
        }
        let is_sensitive = plan::names_secret_header(name.as_str());
        Ok(Self { name, written: key.to_owned(), is_sensitive })
    }

    fn value(&self, text: &str) -> Result<HeaderValue, RequestFault> {
        // Several values may be in one text.
        let is_base64 = |part: &str| is_base64(part.trim_matches(' ').trim_end_matches('='));
        if self.name.as_str().ends_with("-bin") && !text.split(',').all(is_base64) {
            return Err(RequestFault::Base64(self.written.clone()));
        }
        let wrong = || RequestFault::Value(self.written.clone());
        // RFC 9113, section 8.2.1.
        let is_padded = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
        let mut value = HeaderValue::from_str(text).map_err(|_| wrong())?;
        if is_padded {
            return Err(wrong());
        }
        value.set_sensitive(self.is_sensitive);
        Ok(value)
    }

    fn put(&self, headers: &mut HeaderMap, value: HeaderValue) {
        match self.name == USER_AGENT {
            true => drop(headers.insert(self.name.clone(), value)),
            false => drop(headers.append(self.name.clone(), value)),
        }
    }
}

/// Whether this is base64 without padding.
fn is_base64(text: &str) -> bool {
    STANDARD_NO_PAD.decode(text).is_ok()
}

/// A time-out on the wire: at most eight digits and a unit.
fn timeout_value(timeout: Duration) -> HeaderValue {
    let (micros, millis) = (timeout.as_micros(), timeout.as_millis());
    let (number, unit) = match () {
        () if micros <= TIMEOUT_MAX => (micros, 'u'),
        () if millis <= TIMEOUT_MAX => (millis, 'm'),
        () => (u128::from(timeout.as_secs()).min(TIMEOUT_MAX), 'S'),
    };
    let value = HeaderValue::from_str(&format!("{number}{unit}"));
    value.unwrap_or_else(|_| HeaderValue::from_static("99999999S"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(path: &'a str, metadata: &'a [(String, String)]) -> RequestParts<'a> {
        let host_and_port = "db1:8000";
        let compression = Compression::None;
        RequestParts {
            is_encrypted: false,
            host_and_port,
            path,
            timeout: None,
            metadata,
            drawn: &[],
            compression,
        }
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_request_has_the_headers_of_grpc_and_the_metadata() {
        let metadata = pairs(&[("X-Trace", "a"), ("x-trace", "b"), ("user-agent", "me")]);
        let timeout = Some(Duration::from_millis(1500));
        let head =
            RequestHead::new(RequestParts { timeout, ..parts("/a.B/C", &metadata) }).unwrap();
        let request = head.request(Vec::new());
        assert_eq!(request.uri(), "http://db1:8000/a.B/C");
        let shown: Vec<String> =
            request.headers().iter().map(|(key, value)| format!("{key}: {value:?}")).collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        te: "trailers"
        content-type: "application/grpc"
        user-agent: "me"
        grpc-timeout: "1500000u"
        x-trace: "a"
        x-trace: "b"
        "#);
    }

    #[test]
    fn values_of_drawn_metadata_are_those_of_each_request() {
        let (metadata, drawn) = (pairs(&[("x-id", "0")]), pairs(&[("X-Id", "9"), ("Jwt-bin", "")]));
        let head =
            RequestHead::new(RequestParts { drawn: &drawn, ..parts("/a.B/C", &metadata) }).unwrap();
        for id in ["1", "2"] {
            let values = head.drawn(&[id.to_owned(), "AAEC".to_owned()]).unwrap();
            let request = head.request(values);
            let ids: Vec<_> = request.headers().get_all("x-id").iter().collect();
            assert_eq!(ids, ["0", id]);
            assert!(request.headers()["jwt-bin"].is_sensitive());
        }
        let wrong = |values: [&str; 2]| head.drawn(&values.map(str::to_owned)).unwrap_err();
        assert_eq!(wrong(["a\n", ""]), RequestFault::Value("X-Id".to_owned()));
        assert_eq!(wrong(["a", "%"]), RequestFault::Base64("Jwt-bin".to_owned()));
        let reserved = pairs(&[("grpc-timeout", "1S")]);
        let parts = RequestParts { drawn: &reserved, ..parts("/a.B/C", &metadata) };
        assert!(matches!(RequestHead::new(parts), Err(RequestFault::Reserved(_))));
    }

    #[test]
    fn a_token_is_not_in_debug_output() {
        let metadata = pairs(&[("Authorization", "Bearer hors3")]);
        let head = RequestHead::new(parts("/a.B/C", &metadata)).unwrap();
        assert!(!format!("{head:?}").contains("hors3"), "{head:?}");
    }

    #[test]
    fn what_http_cannot_carry_is_named() {
        let fault = |path, metadata: &[(&str, &str)]| {
            RequestHead::new(parts(path, &pairs(metadata))).unwrap_err().to_string()
        };
        let texts = [
            fault("/a b/C", &[]),
            fault("/a/C?x", &[]),
            fault("/a/C", &[("authorization Basic YWRt", "1")]),
            fault("/a/C", &[("key", "line\nbreak")]),
            fault("/a/C", &[("key", "padded ")]),
            fault("/a/C", &[("key-bin", "AA==,AQI,%")]),
            fault("/a/C", &[("grpc-timeout", "1S")]),
            fault("/a/C", &[("TE", "gzip")]),
            fault("/a/C", &[("connection", "close")]),
        ];
        insta::assert_snapshot!(texts.join("\n"), @"
        the method `/a b/C` cannot be in a URL
        the method `/a/C?x` cannot be in a URL
        the metadata key `authorization` cannot be the name of an HTTP header
        the value of the metadata key `key` cannot be in an HTTP header
        the value of the metadata key `key` cannot be in an HTTP header
        the value of the metadata key `key-bin` is not base64, as that of a key that ends in `-bin` must be
        the metadata key `grpc-timeout` is one that gRPC and HTTP/2 set themselves
        the metadata key `TE` is one that gRPC and HTTP/2 set themselves
        the metadata key `connection` is one that gRPC and HTTP/2 set themselves
        ");
    }

    #[test]
    fn time_outs_have_at_most_eight_digits() {
        let shown = |timeout| timeout_value(timeout).to_str().unwrap().to_owned();
        assert_eq!(shown(Duration::from_micros(99_999_999)), "99999999u");
        assert_eq!(shown(Duration::from_secs(100)), "100000m");
        assert_eq!(shown(Duration::from_secs(200_000)), "200000S");
        assert_eq!(shown(Duration::MAX), "99999999S");
    }
}
