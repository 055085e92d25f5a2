//! The probes of a seek by their throughput and each bounded figure.

use analysis::JudgedProbe;
use measure::{BoundedFigure, SeekBound};

use crate::number::{number, several};
use crate::seek::{Sought, name};
use crate::svg::{Arrow, Axis, Chart, Dot, Scale, Series, Shade, ShadeKind, Size, Unit, Width};

const SIZE: Size = Size { width: Width::Row, height: 340.0 };
/// A figure without an upper bound is drawn at so many times the highest other one.
const OUT_OF_REACH: f64 = 2.0;

/// A plot of the probes for each bound.
pub(crate) fn charts(sought: &Sought<'_, '_>, name: &str) -> Vec<Chart> {
    let bounds = sought.record.bounds.iter().enumerate();
    bounds.filter_map(|(place, bound)| chart(sought, name, place, bound)).collect()
}

/// Every probe by its throughput and a bounded figure; `None` when no probe has the figure.
fn chart(sought: &Sought<'_, '_>, name_of: &str, place: usize, bound: &SeekBound) -> Option<Chart> {
    let known: Vec<&JudgedProbe> =
        sought.trials.iter().filter_map(|trial| trial.probe.as_ref()).collect();
    let values = || known.iter().map(|probe| probe.figures[place]);
    let (unit, scale) = match bound.figure {
        BoundedFigure::Errors => (Unit::Percent, 100.0),
        _ => (Unit::Latency, 1.0),
    };
    let finite = values().filter(|value| value.is_finite() && *value > 0.0);
    let highest = finite.fold(bound.most, f64::max) * OUT_OF_REACH;
    let dots = |is_kept: bool, is_confirming: bool| -> Vec<Dot> {
        let here = known
            .iter()
            .filter(|probe| (probe.is_kept, probe.is_confirming) == (is_kept, is_confirming));
        here.map(|probe| dot(probe, probe.figures[place], highest, scale))
            .filter(|dot| dot.y > 0.0)
            .collect()
    };
    let mut series: Vec<Series> = [
        ("kept all bounds", 2, dots(true, false)),
        ("broke a bound", 1, dots(false, false)),
        ("longer trial, kept", 0, dots(true, true)),
        ("longer trial, broke", 3, dots(false, true)),
    ]
    .into_iter()
    .filter(|(_, _, dots)| !dots.is_empty())
    .map(|(name, colour, dots)| Series {
        has_markers: true,
        has_line: false,
        ..Series::line(name, colour, dots)
    })
    .collect();
    let all = || series.iter().flat_map(|line| &line.dots);
    all().next()?;
    let right = all().map(|dot| dot.x).fold(0.0, f64::max);
    let interval = sought.capacity().map(|it| (it.per_s_low, it.per_s_high));
    let ends = interval.map_or(right, |(_, high)| high.max(right));
    let x = Axis::new(sought.event.per_second(), Scale::Linear, Unit::Number, [ends]);
    let figure = name(bound.figure);
    let label = if scale > 1.0 { format!("{figure}, %") } else { figure.clone() };
    let most = bound.most * scale;
    let y = Axis::new(label, Scale::Log10, unit, all().map(|dot| dot.y).chain([most]));
    // Beyond the right end, where it is clamped: the axis ends at a round value.
    let far = 10.0 * ends;
    let line =
        Series::line(format!("bound of {figure}"), 4, vec![Dot::at(0.0, most), Dot::at(far, most)]);
    series.push(Series { dash: 1, ..line });
    let band = interval.map(|(from, to)| Shade {
        from,
        to,
        kind: ShadeKind::Capacity,
        note: format!("95 % interval of the capacity: {} to {} per s", number(from), number(to)),
    });
    Some(Chart {
        title: format!("{name_of}: {figure} of each probe"),
        subtitle: sought.under_test(),
        description: sought.sentences(),
        remark: remark(&known, place),
        x,
        y,
        series,
        shades: band.into_iter().collect(),
        size: SIZE,
        ..Chart::default()
    })
}

/// What an arrow means, and which probes are not drawn.
fn remark(probes: &[&JudgedProbe], place: usize) -> String {
    let values = || probes.iter().map(|probe| probe.figures[place]);
    let arrow = values().any(|value| !value.is_finite()).then(|| {
        "An arrow: transactions that did not succeed reach this figure, so it has no upper bound."
            .to_owned()
    });
    let zeros = values().filter(|value| *value <= 0.0).count() as u64;
    let zeros = (zeros > 0).then(|| {
        let probes = several(zeros, "probe", "probes");
        format!("Not drawn, because the axis has no zero: {probes} with 0.")
    });
    arrow.into_iter().chain(zeros).collect::<Vec<_>>().join(" ")
}

fn dot(probe: &JudgedProbe, value: f64, highest: f64, scale: f64) -> Dot {
    let is_bounded = value.is_finite();
    let shown = if is_bounded { value } else { highest };
    let (load, rate) = (number(probe.load), number(probe.transactions_per_s));
    let kept = if probe.is_kept { "kept" } else { "broken" };
    Dot {
        arrow: (!is_bounded).then_some(Arrow::Value),
        note: Some(format!("load {load}: {rate} per s, {kept}")),
        place: Some(format!("{rate} (load {load}, {kept})")),
        value: (!is_bounded).then(|| "no upper bound".to_owned()),
        ..Dot::at(probe.transactions_per_s, shown * scale)
    }
}
