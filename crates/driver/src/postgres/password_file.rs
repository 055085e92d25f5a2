//! The file of passwords that PostgreSQL's own clients read, `~/.pgpass`.
//!
//! Source: PostgreSQL's documentation, "The Password File" of libpq.

use plan::Password;

/// The password of the first line that is for this login. A line has host, port, database, user and password, between
/// colons; `*` is for all.
pub(super) fn find(text: &str, login: [&str; 4]) -> Option<Password> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (fields, password) = fields(line)?;
        let is_for = |(field, wanted): (&String, &str)| field == "*" || field == wanted;
        fields.iter().zip(login).all(is_for).then(|| Password::new(password))
    })
}

/// The first four fields, and the rest. A backslash takes the meaning of the next character away.
fn fields(line: &str) -> Option<([String; 4], String)> {
    let mut all: [String; 5] = Default::default();
    let mut place = 0;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => all[place].extend(letters.next()),
            // The password ends with the line.
            ':' if place < 4 => place += 1,
            other => all[place].push(other),
        }
    }
    let [host, port, database, user, password] = all;
    (place == 4 && !password.is_empty()).then_some(([host, port, database, user], password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_for_a_login_has_its_password() {
        let text =
            "# db1:5432:*:*:no\nshort\ndb1:5432:test:me:one\n*:*:*:me:t\\:w\\\\o:x\n*:*:*:*:\n";
        let of = |login| find(text, login);
        assert_eq!(of(["db1", "5432", "test", "me"]), Some(Password::new("one")));
        assert_eq!(of(["db2", "5432", "test", "me"]), Some(Password::new("t:w\\o:x")));
        assert_eq!(of(["db2", "5432", "test", "you"]), None);
    }
}
