//! What every page begins and ends with.

pub(crate) const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("page.js");

/// A page up to its body; the title is escaped.
pub(super) fn opening(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n"
    )
}

/// The rest of a page after its sections.
pub(super) fn closing() -> String {
    format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}
