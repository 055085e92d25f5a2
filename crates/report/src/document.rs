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
    pub(crate) blocks: Vec<Block<'d>>,
}

pub(crate) struct Block<'d> {
    pub(crate) weight: Weight,
    pub(crate) content: Content<'d>,
}

pub(crate) enum Content<'d> {
    Heading(String),
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
    pub(crate) rate: String,
    pub(crate) reason: Option<&'d str>,
    pub(crate) blocks: Vec<Block<'d>>,
}

impl<'d> Section<'d> {
    pub(crate) fn new(id: &'static str, title: impl Into<String>) -> Self {
        Self { id, title: title.into(), blocks: Vec::new() }
    }

    /// Whether it says nothing: notes alone explain what is not there.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| matches!(block.content, Content::Note(_)))
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
