//! Where the load comes from: the keys of `[load]` about generators.

use crate::keys::{Form, Key, words};
use crate::{OptionReader, Place};

/// More generators than this are refused.
const GENERATORS_MAX: usize = 1_024;
const LOSS: &[(&str, OnGeneratorLoss)] =
    &[("end", OnGeneratorLoss::End), ("continue", OnGeneratorLoss::Continue)];
const EXAMPLE: &str = "write such as [\"local\", \"ssh://bench1\"]";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnGeneratorLoss {
    #[default]
    End,
    Continue,
}

/// The keys of `[load]` about generators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Generators {
    /// Where they are; empty when this process offers the load.
    pub(crate) places: Vec<Place>,
    pub(crate) on_loss: OnGeneratorLoss,
    /// Whether copies of dyno stay on other hosts after the run.
    pub(crate) keep_copies: bool,
}

/// The keys of `[load]` about generators.
pub(crate) fn keys() -> Vec<Key> {
    vec![
        Key::new(
            "generators",
            Form::Texts,
            "processes that share the load, such as `local` or `ssh://bench1`",
        ),
        Key::new(
            "on_generator_loss",
            words(LOSS),
            "what becomes of a trial that loses a generator",
        )
        .or("end"),
        Key::new("keep_copies", Form::Flag, "whether dyno's copies stay on other hosts").or(false),
    ]
}

/// Reads the keys of `[load]` about generators, of a plan that watches other hosts or none.
pub(crate) fn read(reader: &mut OptionReader<'_>, watches_hosts: bool) -> Generators {
    let places = read_places(reader);
    let read = Generators {
        places,
        on_loss: reader.choice("on_generator_loss", OnGeneratorLoss::End, LOSS),
        keep_copies: reader.boolean("keep_copies", false),
    };
    // An empty list, such as one from an override, switches the generators off and leaves the other keys alone.
    if !reader.is_given("generators") {
        if reader.is_given("on_generator_loss") {
            let help = "the load comes from this process: leave `on_generator_loss` out, or set `generators`";
            let message = "`on_generator_loss` is set without `generators`";
            reader.reject("on_generator_loss", message, help);
        }
        if reader.is_given("keep_copies") && !watches_hosts {
            let help = "no other host is reached: leave `keep_copies` out, set `generators`, or watch a host";
            let message =
                "`keep_copies` is set without `generators` and without a host in `endpoints`";
            reader.reject("keep_copies", message, help);
        }
    }
    read
}

fn read_places(reader: &mut OptionReader<'_>) -> Vec<Place> {
    let texts = reader.texts("generators");
    if texts.len() > GENERATORS_MAX {
        let message = format!("`generators` has {} places", texts.len());
        reader.reject("generators", message, format!("allowed: at most {GENERATORS_MAX}"));
        return Vec::new();
    }
    let mut places = Vec::new();
    for text in &texts {
        match Place::parse(text) {
            Ok(place) => places.push(place),
            Err(why) => reader.reject("generators", format!("`generators`: {why}"), EXAMPLE),
        }
    }
    places
}

/// The names of generators in the record and in reports: the texts of their places, with ` #2` and so on where a text
/// occurs again.
pub fn generator_names(places: &[Place]) -> Vec<String> {
    let texts: Vec<String> = places.iter().map(ToString::to_string).collect();
    let number = |at: usize| texts[..at].iter().filter(|text| **text == texts[at]).count() + 1;
    let name = |(at, text): (usize, &String)| match number(at) {
        1 => text.clone(),
        number => format!("{text} #{number}"),
    };
    texts.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::source;
    use crate::{LoadPlan, Plan};

    fn parse(load: &str) -> Result<LoadPlan, String> {
        let text = format!("system = \"sqlite\"\nworkload = \"w\"\n[load]\n{load}\n");
        Plan::parse(source(&text)).map(|plan| plan.load).map_err(|problems| problems.rendered)
    }

    #[test]
    fn without_generators_this_process_offers_the_load() {
        for load in ["", "generators = []"] {
            assert_eq!(parse(load).unwrap().generators, []);
        }
        let load = parse("generators = []\non_generator_loss = \"continue\"\nkeep_copies = true");
        assert_eq!(load.unwrap().on_generator_loss, OnGeneratorLoss::Continue);
    }

    #[test]
    fn generators_are_a_place_or_a_list_of_places() {
        let one = parse("generators = \"local\"").unwrap();
        assert_eq!(one.generators, [Place::Local]);
        assert_eq!((one.on_generator_loss, one.keep_copies), (OnGeneratorLoss::End, false));
        let several = "generators = [\"local\", \"ssh://bench1\"]\non_generator_loss = \"continue\"\n\
                       keep_copies = true";
        let several = parse(several).unwrap();
        let ssh = Place::Ssh { destination: "bench1".to_owned(), port: None };
        assert_eq!(several.generators, [Place::Local, ssh]);
        let others = (several.on_generator_loss, several.keep_copies);
        assert_eq!(others, (OnGeneratorLoss::Continue, true));
    }

    #[test]
    fn copies_are_kept_on_watched_hosts_too() {
        let with = |watch: &str| {
            let head = "workload = \"w\"\n[load]\nkeep_copies = true\n";
            Plan::parse(source(&format!("{head}{watch}"))).map(|plan| plan.load.keep_copies)
        };
        let of_all = "[systems.s]\nkind = \"sqlite\"\n[watch]\nendpoints = \"ssh://db1\"";
        let of_one = "[systems.s]\nkind = \"sqlite\"\nendpoints = [\"command:env\"]";
        let page = "[systems.s]\nkind = \"sqlite\"\nendpoints = \"http://h/metrics\"";
        assert!(with(of_all).unwrap() && with(of_one).unwrap());
        assert!(with(page).unwrap_err().rendered.contains("without a host in `endpoints`"));
    }

    #[test]
    fn names_are_told_apart_where_a_place_occurs_again() {
        let load = "generators = [\"local\", \"ssh://bench1\", \"local\", \"local\"]";
        let names = generator_names(&parse(load).unwrap().generators);
        assert_eq!(names, ["local", "ssh://bench1", "local #2", "local #3"]);
    }

    #[test]
    fn wrong_keys_of_generators_are_explained_at_their_line() {
        for (load, key, told) in [
            (
                "generators = [\"local\", \"bench1\"]",
                "generators",
                "`generators`: this is not a place",
            ),
            ("generators = [[\"local\"]]", "generators", "a text or a list of texts"),
            ("on_generator_loss = \"end\"", "on_generator_loss", "without `generators`"),
            ("keep_copies = true", "keep_copies", "without `generators`"),
            (
                "generators = \"local\"\non_generator_loss = \"stop\"",
                "on_generator_loss",
                "allowed: end, continue",
            ),
            ("generators = \"local\"\nkeep_copies = \"some\"", "keep_copies", "keep_copies"),
        ] {
            let problems = parse(load).unwrap_err();
            let line = load.lines().find(|line| line.starts_with(key)).unwrap();
            assert!(problems.contains(told), "{load}: {problems}");
            assert!(problems.contains(&format!("| {line}")), "{load}: {problems}");
        }
        let many = format!("generators = [{}]", "\"local\", ".repeat(GENERATORS_MAX + 1));
        assert!(parse(&many).unwrap_err().contains("allowed: at most 1024"));
    }
}
