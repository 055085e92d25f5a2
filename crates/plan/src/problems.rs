//! All problems of a plan, shown at their places in its text.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use crate::{Options, Problem, Source, scrub};

/// All problems of a plan, formatted for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// At least one.
    pub problems: Vec<Problem>,
    /// The plan's text with the places marked, plain.
    pub rendered: String,
    source: Box<Source>,
    /// For each problem the option of the command line that has set the value, if it is known.
    options: Vec<Option<String>>,
}

/// Whether text for a person has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Plain text.
    Never,
    /// With a terminal's escape sequences.
    Always,
}

impl Problems {
    /// Problems that a reader of `source` found, in the order of its text. The stored and displayed text has no
    /// password.
    pub fn new(source: &Source, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.span.as_ref().map(|span| (span.start, span.end)));
        // Variants share the values of their system, and its mistakes.
        let mut told: Vec<Problem> = Vec::new();
        problems.retain(|problem| {
            let is_new = !told.contains(problem);
            told.extend(is_new.then(|| problem.clone()));
            is_new
        });
        for problem in &mut problems {
            problem.span = problem.span.take().map(|span| scrub::moved(&source.text, &span));
            problem.message = scrub::scrub(&problem.message);
            problem.help = problem.help.take().map(|help| scrub::scrub(&help));
        }
        let source = source.scrubbed();
        let options = vec![None; problems.len()];
        let rendered = render(&source, (&problems, &options), Color::Never);
        Self { problems, rendered, source: Box::new(source), options }
    }

    /// The same problems, shown at the options of the command line that have set the values: nobody has written the
    /// lines that a command line becomes. `option` names the option by the keys that lead to the value in the plan.
    #[must_use]
    pub fn at_options(mut self, option: impl Fn(&[&str]) -> Option<String>) -> Self {
        let Ok(root) = Options::parse(&self.source.text) else { return self };
        let named = |problem: &Problem| {
            let path = root.path_at(problem.span.as_ref()?.start)?;
            let option = option(&path.iter().map(String::as_str).collect::<Vec<_>>())?;
            Some(scrub::scrub(&option))
        };
        self.options = self.problems.iter().map(named).collect();
        self.rendered = render(&self.source, (&self.problems, &self.options), Color::Never);
        self
    }

    /// The plan's text with the places marked.
    pub fn render(&self, color: Color) -> String {
        render(&self.source, (&self.problems, &self.options), color)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl std::error::Error for Problems {}

fn render(
    source: &Source,
    (problems, options): (&[Problem], &[Option<String>]),
    color: Color,
) -> String {
    let renderer = match color {
        Color::Never => Renderer::plain(),
        Color::Always => Renderer::styled(),
    };
    let one = |(problem, option): (_, &Option<String>)| {
        render_one(&renderer, source, problem, option.as_deref())
    };
    problems.iter().zip(options).map(one).collect::<Vec<_>>().join("\n\n")
}

fn render_one(
    renderer: &Renderer,
    source: &Source,
    problem: &Problem,
    option: Option<&str>,
) -> String {
    let title = Level::ERROR.primary_title(problem.message.as_str());
    let mut group = match (&problem.span, option) {
        (_, Some(option)) => title.element(Origin::path(option)),
        (Some(span), None) => {
            let marked = AnnotationKind::Primary.span(one_line(&source.text, span));
            title.element(
                Snippet::source(source.text.as_str()).path(source.name.as_str()).annotation(marked),
            )
        }
        (None, None) => title.element(Origin::path(source.name.as_str())),
    };
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// The part of a place on its first line, cut at character boundaries and within the text.
fn one_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = floor(text, span.start);
    let end = floor(text, span.end).max(start);
    let line_end = text[start..end].find(['\n', '\r']).map_or(end, |length| start + length);
    start..line_end
}

fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
