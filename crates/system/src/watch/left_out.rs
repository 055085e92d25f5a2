//! What is left out of the answers of a server, because there is more of it than dyno keeps.

const SHOWN_CHARACTERS: usize = 60;

#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// The first name that is too long.
    long_name: Option<String>,
    /// Whether there were more series than are kept.
    has_too_many: bool,
    /// Why the list of stores could not be read, the first time.
    list: Option<String>,
}

impl LeftOut {
    /// A series or a family, because its name is too long.
    pub(super) fn add_long_name(&mut self, name: &str) {
        self.long_name.get_or_insert_with(|| shown(name));
    }

    /// A series, because there are too many.
    pub(super) fn add_too_many(&mut self) {
        self.has_too_many = true;
    }

    pub(super) fn add_list(&mut self, why: &str) {
        self.list.get_or_insert_with(|| format!("its list of stores is missing: {why}"));
    }

    pub(super) fn words(&self) -> Option<String> {
        let long_name = self.long_name.as_ref();
        let long_name =
            long_name.map(|name| format!("names that are too long are left out: {name}..."));
        let too_many =
            "it has more series than are kept, and the last ones are left out".to_owned();
        let words = [long_name, self.has_too_many.then_some(too_many), self.list.clone()];
        let words: Vec<String> = words.into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

fn shown(name: &str) -> String {
    let printable = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    printable.take(SHOWN_CHARACTERS).collect()
}
