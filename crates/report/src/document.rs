//! A report as a value: its sections, in the order in which every view shows them. The renderers know nothing of what a
//! section is about, and a section nothing of who shows it.

use jiff::Timestamp;

use crate::svg::Chart;
use crate::table::Table;

/// The views that show a block, from the one that shows least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Every view, the summary at the end of a run included.
    Summary,
    /// The views that are files: Markdown and the page.
    Report,
    /// The page alone.
    Page,
}

pub(crate) struct Document<'d> {
    pub(crate) head: Head,
    pub(crate) sections: Vec<Section<'d>>,
}

/// What stands above all sections.
#[derive(Default)]
pub(crate) struct Head {
    pub(crate) title: String,
    /// The systems under test with versions and storage.
    pub(crate) under_test: String,
    /// The machine of dyno in a few words, and with its CPU and operating system.
    pub(crate) machine: String,
    pub(crate) whole_machine: String,
    /// How many trials are valid, doubtful and invalid.
    pub(crate) verdicts: [usize; 3],
    /// The status in one word, and why it is not `complete`.
    pub(crate) status: &'static str,
    pub(crate) reason: Option<String>,
    /// `8 of 8 trials`, and how many of them failed, in words.
    pub(crate) trials: String,
    pub(crate) failed: String,
    pub(crate) started: Timestamp,
    pub(crate) took: Option<std::time::Duration>,
    pub(crate) dyno: String,
}

pub(crate) struct Section<'d> {
    /// Its id on the page.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    pub(crate) place: Place,
    /// What is in it, where it is folded.
    pub(crate) hint: String,
    pub(crate) blocks: Vec<Block<'d>>,
}

/// Where a section is on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Open,
    /// In one line until it is opened or printed.
    Folded,
    /// The same, as data of which the page makes it when it is opened; it is not printed.
    Packed,
}

pub(crate) struct Block<'d> {
    pub(crate) weight: Weight,
    pub(crate) content: Content<'d>,
}

pub(crate) enum Content<'d> {
    Heading(String),
    /// Why there is nothing else.
    Cause(String),
    /// What to know before anything else is read.
    Care(Vec<String>),
    Cards(Vec<Card>),
    /// Without a caption it is what the title of the section says, of all systems.
    Table {
        caption: Option<String>,
        table: Table,
        fold: Fold,
    },
    /// Plots with ids that begin alike.
    Charts {
        id: String,
        charts: Vec<Chart>,
        fold: Fold,
    },
    /// How to read the figures above, in any run.
    Note(String),
    /// What is so in this run.
    Fact(String),
    List(Vec<Item>),
    /// Text as it is: a command, a plan, a log.
    Text {
        title: Option<String>,
        language: &'static str,
        text: String,
    },
    /// Blocks beside each other where there is room.
    Columns([Vec<Block<'d>>; 2]),
    Trials(Trials<'d>),
}

/// The answer to one question: a figure, a plot, and what it says.
#[derive(Default)]
pub(crate) struct Card {
    pub(crate) title: String,
    /// The systems, where they are not all of the run.
    pub(crate) system: String,
    /// How many trials are not valid; empty when all are.
    pub(crate) verdict: String,
    /// Values with what they are, the first one large.
    pub(crate) figures: Vec<(String, String)>,
    pub(crate) chart: Option<Chart>,
    pub(crate) answers: Vec<String>,
    /// Further figures in a line.
    pub(crate) note: String,
}

/// Whether a block of the page is collapsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Open,
    /// When it is long.
    Long,
    Closed,
}

/// One line of a list.
#[derive(Default)]
pub(crate) struct Item {
    /// What it is about; empty where the text says so.
    pub(crate) head: String,
    pub(crate) text: String,
    /// When it is said; empty where that needs no words.
    pub(crate) rule: String,
    /// Where it was found.
    pub(crate) places: Vec<String>,
    pub(crate) link: Option<Link>,
}

/// Where the figures of an item are.
pub(crate) struct Link {
    /// The id of a section, or of a plot on the page.
    pub(crate) id: String,
    /// The section for views without plots.
    pub(crate) section: &'static str,
    pub(crate) label: &'static str,
}

/// The trials of a run, nearly all of a large page: each is made when it is shown.
pub(crate) struct Trials<'d> {
    pub(crate) count: usize,
    pub(crate) get: Box<dyn Fn(usize) -> TrialPart<'d> + Sync + 'd>,
}

pub(crate) struct TrialPart<'d> {
    pub(crate) name: String,
    pub(crate) status: &'static str,
    pub(crate) validity: &'static str,
    /// Throughput per second and 99th percentile.
    pub(crate) rate: String,
    pub(crate) p99: String,
    /// Why it is not valid.
    pub(crate) why: String,
    pub(crate) reason: Option<&'d str>,
    pub(crate) blocks: Vec<Block<'d>>,
}

impl Document<'_> {
    /// Every plot, those of trials included.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let mut all = Vec::new();
        self.sections.iter().for_each(|section| collect(&section.blocks, &mut all));
        all
    }
}

fn collect(blocks: &[Block<'_>], all: &mut Vec<Chart>) {
    for block in blocks {
        match &block.content {
            Content::Charts { charts, .. } => all.extend(charts.iter().cloned()),
            Content::Cards(cards) => all.extend(cards.iter().filter_map(|card| card.chart.clone())),
            Content::Columns(columns) => columns.iter().for_each(|column| collect(column, all)),
            Content::Trials(trials) => {
                (0..trials.count).for_each(|at| collect(&(trials.get)(at).blocks, all));
            }
            _ => {}
        }
    }
}

impl<'d> Section<'d> {
    pub(crate) fn new(id: &'static str, title: impl Into<String>) -> Self {
        let (place, hint) = (Place::Open, String::new());
        Self { id, title: title.into(), place, hint, blocks: Vec::new() }
    }

    pub(crate) fn folded(self, hint: impl Into<String>) -> Self {
        Self { place: Place::Folded, hint: hint.into(), ..self }
    }

    pub(crate) fn packed(self, hint: impl Into<String>) -> Self {
        Self { place: Place::Packed, hint: hint.into(), ..self }
    }

    pub(crate) fn heading(self, text: impl Into<String>) -> Self {
        self.with([Block::new(Weight::Report, Content::Heading(text.into()))])
    }

    /// Whether it says nothing: headings and notes alone explain what is not there.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| !block.content.is_said())
    }

    pub(crate) fn has_cause(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.content, Content::Cause(_)))
    }

    pub(crate) fn has_notes(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.content, Content::Note(_)))
    }

    /// Adds what another section has, under its title; nothing when it says nothing.
    pub(crate) fn and(mut self, other: Self) -> Self {
        if !other.is_empty() {
            self = self.heading(other.title);
            self.blocks.extend(other.blocks);
        }
        self
    }

    pub(crate) fn with(mut self, blocks: impl IntoIterator<Item = Block<'d>>) -> Self {
        self.blocks.extend(blocks);
        self
    }

    /// A table of what the title says, of all systems.
    pub(crate) fn table(self, weight: Weight, table: Table) -> Self {
        self.with(Block::table(weight, None, table, Fold::Long))
    }

    pub(crate) fn captioned(self, weight: Weight, caption: &str, table: Table) -> Self {
        self.with(Block::table(weight, Some(caption.to_owned()), table, Fold::Long))
    }

    pub(crate) fn note(self, text: &str) -> Self {
        self.with([Block::new(Weight::Report, Content::Note(text.to_owned()))])
    }

    pub(crate) fn facts(self, weight: Weight, texts: impl IntoIterator<Item = String>) -> Self {
        let fact = |text| Block::new(weight, Content::Fact(text));
        self.with(texts.into_iter().map(fact))
    }

    pub(crate) fn charts(self, id: String, charts: Vec<Chart>) -> Self {
        self.with(Block::charts(id, charts, Fold::Open))
    }
}

impl Content<'_> {
    pub(crate) fn is_said(&self) -> bool {
        !matches!(self, Self::Note(_) | Self::Heading(_))
    }
}

impl<'d> Block<'d> {
    pub(crate) fn new(weight: Weight, content: Content<'d>) -> Self {
        Self { weight, content }
    }

    /// `None` for a table without rows.
    pub(crate) fn table(
        weight: Weight,
        caption: Option<String>,
        table: Table,
        fold: Fold,
    ) -> Option<Self> {
        let is_empty = table.is_empty();
        (!is_empty).then(|| Self::new(weight, Content::Table { caption, table, fold }))
    }

    /// `None` without a plot.
    pub(crate) fn charts(id: String, charts: Vec<Chart>, fold: Fold) -> Option<Self> {
        let is_empty = charts.is_empty();
        (!is_empty).then(|| Self::new(Weight::Page, Content::Charts { id, charts, fold }))
    }

    pub(crate) fn text(title: impl Into<String>, language: &'static str, text: &str) -> Self {
        let title = Some(title.into());
        Self::new(Weight::Report, Content::Text { title, language, text: text.to_owned() })
    }
}
