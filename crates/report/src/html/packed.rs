//! Parts of a page that it makes when they are opened: texts, packed together.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// All parts in an element of the page: a JSON array of their texts, deflated (RFC 1951) and in base 64.
pub(super) fn element(parts: &[String]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    let text = serde_json::to_string(parts).unwrap_or_default();
    // Writing to memory does not fail.
    let bytes =
        packed.write_all(text.as_bytes()).and_then(|()| packed.finish()).unwrap_or_default();
    format!("<script type=\"text/plain\" id=\"parts\">{}</script>\n", STANDARD.encode(bytes))
}

#[cfg(test)]
pub(super) fn parts(page: &str) -> Vec<String> {
    use std::io::Read;
    let Some((_, rest)) = page.split_once("id=\"parts\">") else { return Vec::new() };
    let bytes = STANDARD.decode(rest.split('<').next().unwrap()).unwrap();
    let mut text = String::new();
    flate2::read::DeflateDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}
