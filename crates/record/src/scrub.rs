//! The last guard against passwords on disk: every text of a record goes through here, whatever was
//! scrubbed before.

use crate::{CrossCheck, RunHeader, TrialEnd, TrialHeader, TrialStatus};

/// What stands in a password's place.
const HIDDEN: &str = "***";

/// The text with `user:password@` in URLs turned into `user:***@`.
pub fn scrubbed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after.find(ends_authority).unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        out.push_str(&without_password(authority));
        rest = tail;
    }
    out.push_str(rest);
    out
}

fn ends_authority(c: char) -> bool {
    c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '|')
}

/// The last `@` ends the user's part, as in RFC 3986 readers that forgive a bare `@` in a password.
fn without_password(authority: &str) -> String {
    match authority.rsplit_once('@') {
        Some((user, host)) if user.contains(':') => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{name}:{HIDDEN}@{host}")
        }
        _ => authority.to_owned(),
    }
}

impl RunHeader {
    pub(crate) fn without_secrets(mut self) -> Self {
        self.plan_text = scrubbed(&self.plan_text);
        self.plan_origin = scrubbed(&self.plan_origin);
        self.command = scrubbed(&self.command);
        self
    }
}

impl TrialHeader {
    pub(crate) fn without_secrets(mut self) -> Self {
        self.system = scrubbed(&self.system);
        self.workload.description = scrubbed(&self.workload.description);
        self.load.description = scrubbed(&self.load.description);
        for (_, value) in &mut self.identity.settings {
            *value = scrubbed(value);
        }
        self
    }
}

impl TrialEnd {
    pub(crate) fn without_secrets(mut self) -> Self {
        if let TrialStatus::Failed(reason) | TrialStatus::Crashed(reason) = &mut self.status {
            *reason = scrubbed(reason);
        }
        if let Some(CrossCheck::Missing { reason, .. }) = &mut self.cross_check {
            *reason = scrubbed(reason);
        }
        for failure in self.clients.iter_mut().filter_map(|client| client.failure.as_mut()) {
            *failure = failure.clone().told_as(scrubbed(&failure.message));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_hidden_wherever_it_stands() {
        for (text, expected) in [
            ("mysql://root:secret@127.0.0.1:3306/test", "mysql://root:***@127.0.0.1:3306/test"),
            ("url = \"mysql://a:p@ss@h/t\" # x", "url = \"mysql://a:***@h/t\" # x"),
            ("a mysql://u:p@h, b mysql://v:q@h", "a mysql://u:***@h, b mysql://v:***@h"),
            ("mysql://u:p:q@h", "mysql://u:***@h"),
            ("mysql://root@127.0.0.1:3306/test", "mysql://root@127.0.0.1:3306/test"),
            ("http://127.0.0.1:3306/a:b@c", "http://127.0.0.1:3306/a:b@c"),
            ("ratio 1://", "ratio 1://"),
        ] {
            assert_eq!(scrubbed(text), expected);
        }
    }
}
