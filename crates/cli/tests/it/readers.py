"""Opens what dyno writes with public readers, and compares their values with those of report.json.

Arguments: the folder with the outputs (see readers.rs), the folder of the run, and the folder of plans.
"""

import json
import pathlib
import sys

import jsonschema
import junitparser
import pandas
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from markdown_it import MarkdownIt

try:
    import tomllib
except ImportError:
    import tomli as tomllib


def near(a, b, part=1e-9):
    assert abs(a - b) <= part * max(abs(a), abs(b)), (a, b)


def histograms(run, report):
    """Each trial's log: as many values as the report has in its intervals, and its percentiles."""
    for trial in report["trials"]:
        path = run / "trials" / f"{trial['index']:04}" / "latency.hlog"
        reader = HistogramLogReader(str(path), HdrHistogram(1, 3_600_000_000_000, 3))
        by_tag = {}
        while (histogram := reader.get_next_interval_histogram()) is not None:
            tag = histogram.get_tag()
            by_tag.setdefault(tag, HdrHistogram(1, 3_600_000_000_000, 3)).add(histogram)
        names = [operation["name"].replace(" ", "_") for operation in trial["operations"]]
        measured = [i for i in trial["intervals"] if i["phase"] == "measure"]
        counts = [by_tag[name].get_total_count() for name in names]
        assert sum(counts) == sum(i["transactions"] for i in measured), (counts, path)
        assert any("warm-up" in tag for tag in by_tag), list(by_tag)
        for operation, name in zip(trial["operations"], names):
            assert by_tag[name].get_total_count() == operation["succeeded"], name
            # In virtual time, what was due in the window and what ended in it have the same median.
            value = by_tag[name].get_value_at_percentile(50)
            assert value == operation["latency"]["percentiles"]["p50_ns"], (name, value)
    return len(report["trials"])


def junit(outputs, report):
    """A case for each bound at each load and for each trial; failures are those of report.json."""
    suites = {suite.name: suite for suite in junitparser.JUnitXml.fromfile(str(outputs / "run.junit.xml"))}
    assert set(suites) == {"bounds", "trials"}, suites
    bounds = list(suites["bounds"])
    assert suites["bounds"].tests == len(bounds) == len(report["fail_if"])
    for case, bound in zip(bounds, report["fail_if"]):
        assert case.name == bound["bound"], case
        place = f"{bound['workload']} on {bound['system']}, {bound['load']}"
        assert case.classname == place, case.classname
        failed = [r for r in case.result if isinstance(r, junitparser.Failure)]
        assert bool(failed) == (bound["result"] != "kept"), (case.name, bound)
    assert {bound["result"] for bound in report["fail_if"]} == {"kept", "crossed"}
    assert suites["bounds"].failures == sum(b["result"] != "kept" for b in report["fail_if"])
    assert suites["trials"].tests == len(report["trials"]) and suites["trials"].failures == 0
    compared = {s.name: s for s in junitparser.JUnitXml.fromfile(str(outputs / "compare.junit.xml"))}
    assert {s: compared[s].tests > 0 for s in compared} == {"thresholds": True, "verdicts": True}
    assert compared["thresholds"].failures > 0 and compared["verdicts"].failures == 0


def csv(outputs, run, report):
    """The rows of trials have the figures of report.json."""
    for path in (outputs / "report.csv", run / "report.csv"):
        table = pandas.read_csv(path)
        assert table.shape[0] >= len(report["trials"]), table
        for trial in report["trials"]:
            of_trial = table[table["trial"] == trial["index"] + 1]
            assert len(of_trial) >= 1, (table, trial["index"])
            row = of_trial.iloc[0]
            near(row["transactions_per_s"], trial["transactions_per_s"], 1e-6)
            assert row["clients"] == trial["clients"] and row["system"] == trial["system"]
    watched = pandas.read_csv(run / "report-watch.csv")
    assert list(watched.columns), watched


def documents(outputs, run, report):
    """JSON holds its schema, and a changed key does not."""
    schema = json.loads((outputs / "report.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for document in [report] + [json.loads(path.read_text()) for path in outputs.glob("more-*.json")]:
        errors = list(validator.iter_errors(document))
        assert not errors, [(list(e.absolute_path), e.message[:200]) for e in errors]
    assert json.loads((run / "report.json").read_text()) == report
    wrong = json.loads(json.dumps(report))
    wrong["trials"][0]["transaction"] = wrong["trials"][0].pop("transactions")
    assert not validator.is_valid(wrong)
    for name, better in (("bigger", "per_s"), ("smaller", "ns")):
        figures = json.loads((outputs / f"{name}.json").read_text())
        assert figures and all({"name", "unit", "value"} <= set(f) for f in figures), (better, figures)


def plans(outputs, folder):
    """Every plan of the repository holds the schema; with a key misspelled, at any level, it does not."""
    schema = json.loads((outputs / "plan.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    names = sorted(folder.glob("*.toml"))
    assert len(names) > 10, names
    misspelled = 0
    for path in names:
        text = path.read_text()
        errors = list(validator.iter_errors(tomllib.loads(text)))
        assert not errors, (path, [(list(e.absolute_path), e.message[:200]) for e in errors])
        for place in places(tomllib.loads(text), []):
            wrong = tomllib.loads(text)
            table = wrong
            for key in place[:-1]:
                table = table[key]
            table[place[-1] + "q"] = table.pop(place[-1])
            assert not validator.is_valid(wrong), (path, place)
            misspelled += 1
    assert misspelled > 100, misspelled
    return misspelled


# Names in these tables are the user's own, or a server's.
OWN_NAMES = ("systems", "workloads", "settings", "variants", "variables", "env", "pd_env", "tikv_env", "tidb_env")


def places(table, path):
    """The keys of a plan that dyno knows."""
    for key, value in table.items():
        has_own_names = bool(path) and path[-1] in OWN_NAMES
        if not has_own_names:
            yield path + [key]
        if isinstance(value, dict):
            yield from places(value, path + [key])


def markdown(run, report):
    """GitHub's tables: the throughput of each load is in one, and no line of a table is left as text."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse((run / "report.md").read_text())
    rows, row = [], None
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            rows.append(row)
            row = None
        elif token.type == "inline" and row is not None:
            row.append(token.content)
        elif token.type == "inline":
            assert "|---" not in token.content and not token.content.startswith("|"), token.content
    assert rows
    for point in report["points"]:
        per_s = f"{point['transactions_per_s']['median']:.0f}"
        is_of = lambda row: any(cell.strip("* ").replace(",", "").startswith(per_s) for cell in row)
        assert any(is_of(row) for row in rows), (per_s, rows[:12])


def main():
    outputs, run, folder = map(pathlib.Path, sys.argv[1:4])
    report = json.loads((outputs / "report.json").read_text())
    opened = histograms(run, report)
    junit(outputs, report)
    csv(outputs, run, report)
    documents(outputs, run, report)
    misspelled = plans(outputs, folder)
    markdown(run, report)
    print(f"{opened} logs, {misspelled} misspelled keys")


main()
