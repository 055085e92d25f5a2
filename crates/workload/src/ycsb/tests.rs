//! Properties as users write them, and all workloads on the embedded database.

use std::fs;
use std::path::Path;

use plan::{Existing, Limit};
use tempfile::TempDir;

use crate::LoadPart;
use crate::testing::{TestSystem, message, try_workload, workload};

fn diagnostics(kind: &str, options: &str, folder: &Path) -> String {
    let problems = try_workload(kind, options, folder).err().expect("something is wrong");
    let show = |problem: plan::Problem| {
        format!("{} ({})", problem.message, problem.help.unwrap_or_default())
    };
    problems.into_iter().map(show).collect::<Vec<_>>().join("\n")
}

/// The published workload A, with its comments left out.
const PUBLISHED: &str = "# Yahoo! Cloud System Benchmark\nrecordcount=1000\noperationcount=1000\n\
                         workload=site.ycsb.workloads.CoreWorkload\n\nreadallfields=true\n\n\
                         readproportion=0.5\nupdateproportion=0.5\nscanproportion=0\n\
                         insertproportion=0\n\nrequestdistribution=zipfian\n";

#[test]
fn a_published_file_is_the_preset_of_its_name() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("workloada"), PUBLISHED).unwrap();
    let from_file =
        try_workload("ycsb/core", "properties = 'workloada'", folder.path()).ok().unwrap();
    let built_in = workload("ycsb/a", "");
    assert_eq!(from_file.dataset(), built_in.dataset());
    assert_eq!(from_file.limit(1), Some(Limit::events(1000)), "its operationcount");
    assert_eq!(built_in.limit(1), None, "what bounds a run is the plan's");
    insta::assert_snapshot!(from_file.describe(), @"YCSB CORE: 50 % reads, 50 % updates; 1000 records of 10 fields of 100 bytes, zipfian requests");
    insta::assert_snapshot!(built_in.describe(), @"YCSB A: half reads, half updates; 1000 records of 10 fields of 100 bytes, zipfian requests");
}

#[test]
fn titles_say_which_operations_ran() {
    let title = |kind, options| workload(kind, options).describe();
    let c = title("ycsb/c", "readproportion = 0.5\nupdateproportion = 0.5");
    assert!(c.starts_with("YCSB C, changed: 50 % reads, 50 % updates; 1000 records"), "{c}");
    let d = title("ycsb/d", "requestdistribution = 'uniform'");
    assert!(d.starts_with("YCSB D, changed: 95 % reads, 5 % inserts; 1000 records"), "{d}");
    let e = title("ycsb/e", "maxscanlength = 10_000");
    assert!(e.starts_with("YCSB E, changed: 5 % inserts, 95 % scans; 1000 records"), "{e}");
    let f = title("ycsb/f", "recordcount = 7");
    assert!(f.starts_with("YCSB F: half reads, half read-modify-writes; 7 records"), "{f}");
}

#[test]
fn options_override_files_and_files_override_presets() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("p"), "fieldcount=3\nfieldlength=7\nrequestdistribution=latest")
        .unwrap();
    fs::write(folder.path().join("q"), "fieldlength=8\nmaxexecutiontime=90").unwrap();
    let options = "properties = ['p', 'q']\nfieldcount = 4\nrecordcount = '2k'";
    let workload = try_workload("ycsb/c", options, folder.path()).ok().unwrap();
    insta::assert_snapshot!(workload.describe(), @"YCSB C, changed: 100 % reads; 2000 records of 4 fields of 8 bytes, latest requests");
    assert_eq!(workload.limit(1), Some(Limit::time(std::time::Duration::from_secs(90))));
}

#[test]
fn operationcount_and_maxexecutiontime_bound_a_run_together() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("workloada"), PUBLISHED).unwrap();
    let options = "properties = 'workloada'\nmaxexecutiontime = 1200";
    let workload = try_workload("ycsb/core", options, folder.path()).ok().unwrap();
    let time = Some(std::time::Duration::from_secs(1200));
    assert_eq!(workload.limit(1), Some(Limit { time, events: Some(1000) }));
}

/// What both tools' workload_template set, without comments; go-ycsb's differs in these three lines.
fn template(class: &str, clients: &str, bigtable: &str) -> String {
    format!(
        "workload={class}\nrecordcount=1000000\noperationcount=3000000\n{clients}insertstart=0\n\
         fieldcount=10\nfieldlength=100\nreadallfields=true\nwriteallfields=false\n\
         fieldlengthdistribution=constant\nreadproportion=0.95\nupdateproportion=0.05\n\
         insertproportion=0\nreadmodifywriteproportion=0\nscanproportion=0\nmaxscanlength=1000\n\
         {bigtable}scanlengthdistribution=uniform\ninsertorder=hashed\n\
         requestdistribution=zipfian\nhotspotdatafraction=0.2\nhotspotopnfraction=0.8\n\
         table=usertable\nmeasurementtype=histogram\nhistogram.buckets=1000\n\
         timeseries.granularity=1000\n"
    )
}

#[test]
fn both_published_templates_are_read_unedited() {
    let folder = TempDir::new().unwrap();
    let bigtable = "maxscanrate=0\nscanoptimelimit=0\ndiscardscannedrecord=false\n";
    let class = "site.ycsb.workloads.CoreWorkload";
    fs::write(folder.path().join("ycsb"), template(class, "", bigtable)).unwrap();
    fs::write(folder.path().join("go"), template("core", "threadcount=500 \n", "")).unwrap();
    for (file, clients) in [("ycsb", None), ("go", Some(500))] {
        let options = format!("properties = '{file}'");
        let workload = try_workload("ycsb/core", &options, folder.path()).ok().unwrap();
        assert_eq!(workload.limit(1), Some(Limit::events(3_000_000)));
        assert_eq!(workload.clients(), clients, "{file}");
        let about =
            "95 % reads, 5 % updates; 1000000 records of 10 fields of 100 bytes, zipfian requests";
        assert_eq!(workload.describe(), format!("YCSB CORE: {about}"));
    }
    let workload = try_workload("ycsb/core", "properties = 'ycsb'", folder.path()).ok().unwrap();
    insta::assert_snapshot!(workload.notes().join("\n"), @"
    ycsb:16: `maxscanrate` changes nothing here (only YCSB's client of Bigtable reads it)
    ycsb:17: `scanoptimelimit` changes nothing here (only YCSB's client of Bigtable reads it)
    ycsb:18: `discardscannedrecord` changes nothing here (only YCSB's client of Bigtable reads it)
    ycsb:25: `measurementtype` changes nothing here (the record has a histogram of three digits for each operation and interval)
    ycsb:26: `histogram.buckets` changes nothing here (the record has a histogram of three digits for each operation and interval)
    ycsb:27: `timeseries.granularity` changes nothing here (the length of an interval is the plan's: `interval` under [load])
    ");
}

#[test]
fn a_later_file_overrides_what_an_earlier_one_asks_for_in_vain() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("p"), "target=500\ndropdata=true\nmeasurementtype=raw\n").unwrap();
    fs::write(folder.path().join("q"), "target=0\ndropdata=false\n").unwrap();
    let told = diagnostics("ycsb/a", "properties = 'p'", folder.path());
    assert_eq!(told.matches("is not offered here").count(), 2, "{told}");
    for both in ["'p,q'", "'p, q'", "['p', 'q']"] {
        let options = format!("properties = {both}");
        let workload = try_workload("ycsb/a", &options, folder.path()).ok().unwrap();
        assert_eq!(workload.notes().len(), 1, "{:?}", workload.notes());
    }
}

/// Source: YCSB's wiki, Core Properties, and the properties of its client and JDBC binding, and go-ycsb's of its MySQL
/// binding.
#[test]
fn properties_of_other_ycsb_parts_are_refused_by_name() {
    let folder = TempDir::new().unwrap();
    for name in [
        "target",
        "warmuptime",
        "db",
        "db.url",
        "db.batchsize",
        "jdbc.autocommit",
        "mysql.port",
        "batch.size",
    ] {
        fs::write(folder.path().join("w"), format!("{name}=9\n")).unwrap();
        let told = diagnostics("ycsb/a", "properties = 'w'", folder.path());
        assert!(told.starts_with(&format!("w:1: `{name}` is not offered here (")), "{told}");
    }
}

#[test]
fn an_option_with_dots_gets_the_answer_of_the_property() {
    let none = Path::new("");
    let file_form = "`mysql.host` is not offered here (where the server is and how to log in stands \
                     under [systems], or after --system)";
    assert_eq!(diagnostics("ycsb/a", "mysql.host = 'db1'", none), file_form);
    let options = "exponential.percentile = 90\nrequestdistribution = 'exponential'";
    assert!(try_workload("ycsb/a", options, none).is_ok());
    let told = diagnostics("ycsb/a", "exponential.percentile = 200", none);
    assert!(told.starts_with("`exponential_percentile` is 200, out of range"), "{told}");
}

#[test]
fn answers_to_properties_say_what_they_would_do() {
    let none = Path::new("");
    let wrong = "tidb.instances = 'tidb-1:4000,tidb-2:4000'\ntidb.cluster_index = false\n\
                 core_workload_insertion_keep_going_on_error = true";
    insta::assert_snapshot!(diagnostics("ycsb/a", wrong, none), @"
    `tidb.instances` is not offered here (its addresses belong in the system's URL, which shares clients out over them: --system mysql://root@tidb-1:4000,tidb-2:4000/test)
    `tidb.cluster_index` is not offered here (leave it out: with false, go-ycsb does not ask for a clustered primary key when it makes the table; dyno always asks. `--existing reuse` takes a table of your own)
    `core_workload_insertion_keep_going_on_error` is not offered here (leave it out: a load that goes on without the records that failed has fewer than `recordcount`, and dyno's requests need all of them; core_workload_insertion_retry_limit tries again)
    ");
    let right = "tidb.cluster_index = true\nmysql.force_index = true\n\
                 core_workload_insertion_keep_going_on_error = false";
    let workload = try_workload("ycsb/a", right, none).ok().unwrap();
    insta::assert_snapshot!(workload.notes().join("\n"), @"`mysql.force_index` changes nothing here (no statement has an index hint: the primary key is the only index)");
}

#[test]
fn ycsbs_own_zipfian_is_told_in_the_description_and_is_not_a_changed_workload() {
    let workload = workload("ycsb/a", "zipfian = 'ycsb'");
    insta::assert_snapshot!(workload.describe(), @"YCSB A: half reads, half updates; 1000 records of 10 fields of 100 bytes, zipfian requests as YCSB draws them, of 10^10 ranks");
}

#[test]
fn errors_are_reported_with_their_place() {
    let folder = TempDir::new().unwrap();
    let text = "recordcount=many\nreadproportions=1\n\ntarget=64\nmysql.host=db1\n\
                workload=site.ycsb.workloads.RestWorkload\nreadallfields=perhaps\ninsertorder=odd\n";
    fs::write(folder.path().join("w"), text).unwrap();
    insta::assert_snapshot!(diagnostics("ycsb/core", "properties = 'w'", folder.path()));
    let options = "target = 100\nfieldlengthdistribution = 'zipfian'\ndataintegrity = true\n\
                   minscanlength = 9\nmaxscanlength = 8\ninsertstart = 900\ninsertcount = 200\n\
                   operationcount = 5\nmaxexecutiontime = 5\nreedproportion = 1\n\
                   'exponential.percentile' = 200\nproperties = 'none'\nkeyprefix = \"a'b\"\n\
                   readproportion = 0\nupdateproportion = 0\ntable = 'x y'";
    insta::assert_snapshot!(diagnostics("ycsb/core", options, folder.path()));
}

#[test]
fn a_file_for_the_load_alone_is_prepared_and_its_run_refused() {
    let test_system = TestSystem::sqlite();
    let options =
        "recordcount = 50\nreadproportion = 0\nupdateproportion = 0\n'redis.host' = 'db1'";
    let workload = workload("ycsb/core", options);
    workload.prepare(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM usertable"), 50);
    let notes = crate::Workload::notes(&*workload).join("\n");
    assert!(notes.contains("no operation has a share"), "{notes}");
    assert!(notes.contains("only the client of another database reads it"), "{notes}");
}

#[test]
fn properties_of_other_tools_are_told_as_what_they_are() {
    let folder = TempDir::new().unwrap();
    let told =
        diagnostics("ycsb/core", "zipfianconstant = 0.5\ndeleteproportion = 0", folder.path());
    assert!(told.contains("the constant is 0.99") && !told.contains("deletes"), "{told}");
    let told = diagnostics("ycsb/core", "recordcount = 200\ninsertstart = 201", folder.path());
    assert!(told.contains("`insertstart` is 201, and `recordcount` is 200"), "{told}");
}

#[test]
fn every_workload_runs_and_finds_all_records() {
    for name in ["a", "b", "c", "d", "e", "f"] {
        let test_system = TestSystem::sqlite();
        let workload = workload(&format!("ycsb/{name}"), "recordcount = 300\ndataintegrity = true");
        workload.prepare(&test_system.context()).unwrap();
        workload.verify(&test_system.context()).unwrap();
        let trial = test_system.trial(&*workload, 3, 600);
        assert_eq!(trial.tally.failed_transactions, 0, "{name}: {:?}", trial.tally.errors);
        let inserted =
            trial.counts().iter().find(|(name, _)| *name == "insert").map_or(0, |it| it.1);
        assert_eq!(
            test_system.integer("SELECT COUNT(*) FROM usertable"),
            300 + inserted as i64,
            "{name}"
        );
        assert_eq!(inserted > 0, matches!(name, "d" | "e"), "{name}: {inserted}");
        let conditions = workload.check(&test_system.context()).unwrap();
        assert_eq!(conditions.len(), 2);
        for condition in conditions {
            assert_eq!(condition.broken(), None, "{name}");
        }
        workload.verify(&test_system.context()).unwrap();
        workload.cleanup(&test_system.context()).unwrap();
        assert_eq!(
            test_system.integer("SELECT COUNT(*) FROM sqlite_master WHERE name = 'usertable'"),
            0
        );
    }
}

#[test]
fn a_read_modify_write_counts_as_one_beside_its_two_statements() {
    let test_system = TestSystem::sqlite();
    let workload = workload("ycsb/f", "recordcount = 100");
    workload.prepare(&test_system.context()).unwrap();
    let trial = test_system.trial(&*workload, 2, 500);
    let counts = trial.counts();
    let of = |name| counts.iter().find(|(known, _)| *known == name).unwrap().1;
    let whole = of("read_modify_write");
    assert_eq!(of("read") + whole, 500);
    assert_eq!([of("read_modify_write.read"), of("read_modify_write.update")], [whole; 2]);
    let queries = trial.tally.queries;
    assert_eq!((queries.read, queries.write, queries.other), (500, whole, 0));
    // Which of the 500 are chosen depends on how the clients share them: 250, plus or minus five standard deviations
    // of 11.2.
    assert!((194..=306).contains(&whole), "half of all: {whole}");
}

#[test]
fn updates_change_what_they_should_and_inserts_go_on_after_those_of_the_last_trial() {
    let test_system = TestSystem::sqlite();
    let options = "recordcount = 200\nfieldcount = 3\nfieldlength = 5\nreadproportion = 0\n\
                   updateproportion = 0.5\ninsertproportion = 0.5\ninsertorder = 'ordered'\n\
                   zeropadding = 6";
    let workload = workload("ycsb/core", options);
    workload.prepare(&test_system.context()).unwrap();
    workload.verify(&test_system.context()).unwrap();
    test_system.run("UPDATE usertable SET FIELD0 = '', FIELD1 = '', FIELD2 = ''");
    let (mut expected, mut updates) = (200, 0);
    for _ in 0..2 {
        let trial = test_system.trial(&*workload, 2, 400);
        assert_eq!(trial.tally.failed_transactions, 0, "{:?}", trial.tally.errors);
        let counts = trial.counts();
        let of = |name| counts.iter().find(|(known, _)| *known == name).unwrap().1 as i64;
        expected += of("insert");
        updates += of("update");
    }
    let last = test_system.rows("SELECT MAX(YCSB_KEY), COUNT(*) FROM usertable");
    assert_eq!(
        format!("{last:?}"),
        format!("[[Text(\"user{:06}\"), Int({expected})]]", expected - 1)
    );
    let changed = ["FIELD0", "FIELD1", "FIELD2"].map(|field| {
        let of_the_first = "usertable WHERE YCSB_KEY < 'user000200'";
        test_system.integer(&format!("SELECT COUNT(*) FROM {of_the_first} AND LENGTH({field}) = 5"))
    });
    // Each update writes one field, and several updates may write the same field. How often depends on how the two
    // clients share the events.
    let fields: i64 = changed.iter().sum();
    assert!((updates / 4..=updates).contains(&fields), "{fields} of {updates}");
    // Each field has a third of about 180: 60. The standard deviation is 6.5, from the draws and from updates of the
    // same field. A sixth of all is lower by more than five standard deviations of the difference (5.6).
    assert!(changed.iter().all(|it| *it > fields / 6), "{changed:?}");
}

#[test]
fn an_interrupted_load_is_resumed() {
    let test_system = TestSystem::sqlite().with(Existing::Reuse);
    let options = "recordcount = 3000\nfieldlength = 20\ndataintegrity = true";
    let first = workload("ycsb/c", options);
    first.prepare(&test_system.context()).unwrap();
    test_system.run("DELETE FROM usertable WHERE rowid % 7 = 0");
    let again = workload("ycsb/c", options);
    assert!(message(again.verify(&test_system.context())).contains("has 2572 rows, not 3000"));
    let loaded = test_system.progress.loaded().unwrap();
    assert_eq!((loaded.rows, loaded.inserts.count()), (3000, 3000), "SQLite inserts row by row");
    assert!(loaded.duration >= std::time::Duration::from_nanos(loaded.inserts.max_ns()));
    again.prepare(&test_system.context()).unwrap();
    again.verify(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM usertable"), 3000);
    assert_eq!(test_system.progress.loaded().unwrap().rows, 3428, "the 428 that were missing");
    again.cleanup(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM usertable"), 3000, "it was there before");
}

#[test]
fn an_existing_table_is_refused_or_replaced() {
    let test_system = TestSystem::sqlite();
    workload("ycsb/c", "recordcount = 50").prepare(&test_system.context()).unwrap();
    let other = workload("ycsb/c", "recordcount = 60");
    insta::assert_snapshot!(message(other.prepare(&test_system.context())), @"table usertable already exists, with 50 rows; `--existing reuse` runs on it, after loading what is missing, `--existing replace` drops and recreates it");
    let test_system = test_system.with(Existing::Replace);
    other.prepare(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM usertable"), 60);
}

#[test]
fn a_table_that_matches_is_used() {
    let system = TestSystem::sqlite().with(Existing::Match);
    let of = |records| workload("ycsb/c", &format!("recordcount = {records}"));
    of(50).prepare(&system.context()).unwrap();
    of(50).prepare(&system.context()).unwrap();
    let note =
        "table usertable exists and matches: used without loading; `--existing replace` recreates";
    assert_eq!(system.progress.take_notes(), [note]);
    for other in [20, 60] {
        let told = message(of(other).prepare(&system.context()));
        assert!(told.starts_with("table usertable already exists, with 50 rows; "), "{told}");
    }
    system.run("DROP TABLE usertable");
    system.run("CREATE TABLE usertable (id INTEGER)");
    let system = system.with(Existing::Replace);
    insta::assert_snapshot!(message(of(50).prepare(&system.context())), @"table usertable has no column YCSB_KEY (it has id): it is not YCSB's; use another database (`--create-database` creates it), or drop the table yourself");
    assert_eq!(system.integer("SELECT COUNT(*) FROM usertable"), 0, "it is there");
}

#[test]
fn a_table_with_far_more_rows_than_recordcount_is_remarked_on() {
    let test_system = TestSystem::sqlite().with(Existing::Reuse);
    workload("ycsb/c", "recordcount = 600").prepare(&test_system.context()).unwrap();
    let notes = |kind, records| {
        let options = format!("recordcount = {records}");
        workload(kind, &options).prepare(&test_system.context()).unwrap();
        test_system.progress.take_notes()
    };
    let remark = "table usertable has 600 rows and `recordcount` is 300: only the records up to there \
                  are asked for, and none of the others";
    assert_eq!(notes("ycsb/c", 300), [remark]);
    assert_eq!(notes("ycsb/c", 301), [""; 0]);
    assert_eq!(notes("ycsb/d", 300), [""; 0], "D follows the latest record of the table");
}

#[test]
fn keys_of_either_tool_are_recognized() {
    for (key_scheme, first) in
        [("ycsb", "user8517097267634966620"), ("go-ycsb", "user6284781860667377211")]
    {
        let test_system = TestSystem::sqlite().with(Existing::Reuse);
        let options = format!("recordcount = 100\ncompatibility = '{key_scheme}'");
        workload("ycsb/c", &options).prepare(&test_system.context()).unwrap();
        let found = format!("SELECT COUNT(*) FROM usertable WHERE YCSB_KEY = '{first}'");
        assert_eq!(test_system.integer(&found), 1, "{key_scheme}");
        let reader = workload("ycsb/c", "recordcount = 100");
        reader.prepare(&test_system.context()).unwrap();
        reader.verify(&test_system.context()).unwrap();
        assert_eq!(test_system.trial(&*reader, 2, 200).tally.failed_transactions, 0);
    }
}

#[test]
fn a_table_with_the_keys_of_the_other_tool_is_refused() {
    let test_system = TestSystem::sqlite().with(Existing::Reuse);
    for (there, other) in [("ycsb", "go-ycsb"), ("go-ycsb", "ycsb")] {
        let keyed = |by| workload("ycsb/c", &format!("recordcount = 2000\ncompatibility = '{by}'"));
        keyed(there).prepare(&test_system.context()).unwrap();
        let refused = message(keyed(other).prepare(&test_system.context()));
        assert!(refused.starts_with("table usertable has 2000 rows, and none that"), "{refused}");
        assert_eq!(test_system.integer("SELECT COUNT(*) FROM usertable"), 2000);
        test_system.run("DROP TABLE usertable");
    }
}

#[test]
fn missing_records_and_wrong_values_are_failures_but_not_fatal() {
    let test_system = TestSystem::sqlite();
    let options = "recordcount = 20\nrequestdistribution = 'sequential'\ndataintegrity = true";
    let workload = workload("ycsb/c", options);
    workload.prepare(&test_system.context()).unwrap();
    workload.verify(&test_system.context()).unwrap();
    test_system.run("DELETE FROM usertable WHERE rowid = 3");
    test_system.run("UPDATE usertable SET FIELD3 = 'x' WHERE rowid = 9");
    let trial = test_system.trial(&*workload, 1, 20);
    let errors: Vec<String> = trial.tally.errors.keys().map(ToString::to_string).collect();
    assert_eq!(errors, ["server NOT_FOUND", "server UNEXPECTED_STATE"]);
    assert_eq!(trial.tally.failed_transactions, 2);
    assert!(message(workload.verify(&test_system.context())).contains("has 19 rows, not 20"));
    test_system.run("INSERT INTO usertable (YCSB_KEY) VALUES ('other')");
    assert!(workload.verify(&test_system.context()).is_err());
}

#[test]
fn interrupted_inserts_are_repeated() {
    let test_system = TestSystem::sqlite();
    let options = "recordcount = 100\ninsertorder = 'ordered'\nreadproportion = 0.5\n\
                   insertproportion = 0.5\nrequestdistribution = 'latest'";
    let workload = workload("ycsb/core", options);
    workload.prepare(&test_system.context()).unwrap();
    // A trial that was cut short has not inserted 101 and 103.
    for number in [100, 102, 104] {
        test_system.run(&format!("INSERT INTO usertable (YCSB_KEY) VALUES ('user{number}')"));
    }
    workload.verify(&test_system.context()).unwrap();
    let trial = test_system.trial(&*workload, 3, 300);
    assert_eq!(trial.tally.failed_transactions, 0, "{:?}", trial.tally.errors);
    let gaps = "SELECT COUNT(*) FROM usertable WHERE YCSB_KEY IN ('user101', 'user103')";
    assert_eq!(test_system.integer(gaps), 2);
}

#[test]
fn gaps_between_the_inserts_of_generators_are_filled_by_the_next_trial() {
    let mut test_system = TestSystem::sqlite();
    let options = "recordcount = 100\nfieldcount = 1\nfieldlength = 4\ninsertorder = 'ordered'\n\
                   readproportion = 0\nupdateproportion = 0\ninsertproportion = 1";
    let first = workload("ycsb/core", options);
    first.prepare(&test_system.context()).unwrap();
    first.verify(&test_system.context()).unwrap();
    // The other generator is so slow that it inserts nothing.
    test_system.part = LoadPart { generator: 0, generators: 2 };
    test_system.trial(&*first, 2, 3000);
    let count = "SELECT COUNT(*) FROM usertable";
    let last = "SELECT MAX(CAST(SUBSTR(YCSB_KEY, 5) AS INTEGER)) FROM usertable";
    assert_eq!((test_system.integer(count), test_system.integer(last)), (3100, 6098));
    test_system.part = LoadPart::default();
    let again = workload("ycsb/core", options);
    again.verify(&test_system.context()).unwrap();
    // 2,999 are missing below the last one.
    let trial = test_system.trial(&*again, 2, 3000);
    assert_eq!(trial.tally.failed_transactions, 0, "{:?}", trial.tally.errors);
    assert_eq!((test_system.integer(count), test_system.integer(last)), (6100, 6099));
}

#[test]
fn what_a_process_knows_of_the_table_goes_to_another_one() {
    let test_system = TestSystem::sqlite();
    let options = "recordcount = 300\ncompatibility = 'ycsb'";
    let here = workload("ycsb/d", options);
    here.prepare(&test_system.context()).unwrap();
    here.verify(&test_system.context()).unwrap();
    assert_eq!(here.in_parts().unwrap().knowledge(&test_system.context()), [1, 300]);
    let there = workload("ycsb/d", "recordcount = 300");
    there
        .in_parts()
        .unwrap()
        .learn(&test_system.context(), &here.in_parts().unwrap().knowledge(&test_system.context()));
    for (run, reads) in [(&here, "one process"), (&there, "the other one")] {
        let trial = test_system.trial(&**run, 2, 200);
        assert_eq!(trial.tally.failed_transactions, 0, "{reads}: {:?}", trial.tally.errors);
    }
    let inserted = test_system.integer("SELECT COUNT(*) FROM usertable") - 300;
    assert!(inserted > 0);
    // A load that has not begun tells what the one before it has found.
    let before = here.in_parts().unwrap().knowledge(&test_system.context());
    here.load(&test_system.context());
    assert_eq!(here.in_parts().unwrap().knowledge(&test_system.context()), before);
    for wrong in [&[][..], &[7, 1], &[u64::MAX, 0], &[0, 1, 2]] {
        there.in_parts().unwrap().learn(&test_system.context(), wrong);
    }
    assert_eq!(
        there.in_parts().unwrap().knowledge(&test_system.context())[0],
        1,
        "what makes no sense is ignored"
    );
}

#[test]
fn lengths_of_fields_vary_as_asked() {
    let test_system = TestSystem::sqlite();
    let options = "recordcount = 2000\nfieldcount = 1\nfieldlength = 8\nminfieldlength = 3\n\
                   fieldlengthdistribution = 'uniform'";
    workload("ycsb/c", options).prepare(&test_system.context()).unwrap();
    let lengths = "SELECT LENGTH(FIELD0), COUNT(*) FROM usertable GROUP BY 1 ORDER BY 1";
    let lengths = test_system.rows(lengths);
    assert_eq!(lengths.len(), 6);
    for row in lengths {
        let count = crate::parallel::as_integer(row.get(1)).unwrap();
        assert!((270..400).contains(&count), "{row:?}");
    }
}

#[test]
fn every_workload_runs_on_mysql() {
    let database = "ycsb_all";
    let test_system = TestSystem::mysql(database).with(Existing::Reuse);
    for name in ["a", "d", "e", "f"] {
        let options = "recordcount = 3000\ndataintegrity = true\nfieldlength = 50";
        let workload = workload(&format!("ycsb/{name}"), options);
        workload.prepare(&test_system.context()).unwrap();
        workload.verify(&test_system.context()).unwrap();
        let trial = test_system.trial(&*workload, 8, 2000);
        assert_eq!(trial.tally.failed_transactions, 0, "{name}: {:?}", trial.tally.errors);
    }
    test_system.run("DELETE FROM usertable WHERE YCSB_KEY LIKE '%7'");
    let again = workload("ycsb/c", "recordcount = 3000\ndataintegrity = true\nfieldlength = 50");
    again.prepare(&test_system.context()).unwrap();
    again.verify(&test_system.context()).unwrap();
    test_system.drop_database(database);
}

#[test]
fn the_check_after_a_load_finds_an_insert_that_was_lost_and_a_value_that_was_changed() {
    let test_system = TestSystem::sqlite();
    let options = "recordcount = 100\ninsertorder = 'ordered'\ndataintegrity = true";
    let workload = workload("ycsb/d", options);
    workload.prepare(&test_system.context()).unwrap();
    workload.verify(&test_system.context()).unwrap();
    test_system.trial(&*workload, 2, 400);
    let broken = || -> Vec<Option<String>> {
        let conditions = workload.check(&test_system.context()).unwrap();
        conditions.iter().map(|one| one.broken().map(str::to_owned)).collect()
    };
    assert_eq!(broken(), [None, None]);
    test_system.run("UPDATE usertable SET FIELD9 = 'x' WHERE YCSB_KEY = 'user101'");
    let seen = broken();
    assert_eq!(seen[0], None);
    assert!(seen[1].as_ref().unwrap().starts_with("FIELD9 of record user101 is \"x\""), "{seen:?}");
    test_system.run("DELETE FROM usertable WHERE YCSB_KEY = 'user102'");
    assert_eq!(broken()[0].as_deref(), Some("record 102, user102, is not there"));
}

#[test]
fn a_range_can_be_added_to_a_table_without_touching_other_keys() {
    let test_system = TestSystem::sqlite().with(Existing::Reuse);
    workload("ycsb/c", "recordcount = 500").prepare(&test_system.context()).unwrap();
    let added = workload("ycsb/c", "recordcount = 800\ninsertstart = 500\ninsertcount = 300");
    added.prepare(&test_system.context()).unwrap();
    added.verify(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM usertable"), 800);
    assert_eq!(test_system.trial(&*added, 2, 300).tally.failed_transactions, 0);
    let other = workload("ycsb/c", "recordcount = 900\nzeropadding = 30");
    let refused = message(other.prepare(&test_system.context()));
    assert!(
        refused.starts_with("table usertable has 800 rows, and none that was looked for"),
        "{refused}"
    );
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM usertable"), 800);
}

#[test]
fn a_failed_load_is_retried_as_configured_and_keeps_its_rows() {
    let test_system = TestSystem::sqlite().with(Existing::Reuse);
    let options = "recordcount = 20000\nfieldcount = 1\nfieldlength = 10\ninsertorder = 'ordered'\n\
                   core_workload_insertion_retry_limit = 2\n\
                   core_workload_insertion_retry_interval = 0";
    test_system
        .run("CREATE TABLE usertable (YCSB_KEY VARCHAR(64) PRIMARY KEY, FIELD0 VARCHAR(10))");
    test_system.run(
        "CREATE TRIGGER full BEFORE INSERT ON usertable WHEN NEW.YCSB_KEY = 'user15000' \
         BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    let workload = workload("ycsb/c", options);
    let told = message(workload.prepare(&test_system.context()));
    assert!(told.contains("no room"), "{told}");
    assert!(told.ends_with("stays: `--existing reuse` goes on from there"), "{told}");
    let left = test_system.integer("SELECT COUNT(*) FROM usertable");
    assert!(left >= 10_000, "the first piece was committed: {left}");
    test_system.run("DROP TRIGGER full");
    workload.prepare(&test_system.context()).unwrap();
    workload.verify(&test_system.context()).unwrap();
    assert_eq!(test_system.integer("SELECT COUNT(*) FROM usertable"), 20_000);
}

#[test]
fn an_interrupted_load_tells_what_stays() {
    let test_system = TestSystem::sqlite();
    test_system.stop.ask();
    let told = message(workload("ycsb/c", "recordcount = 50").prepare(&test_system.context()));
    let stays =
        "what was loaded into usertable until then stays: `--existing reuse` goes on from there";
    assert_eq!(told, format!("interrupted; {stays}"));
    assert_eq!(test_system.progress.take_notes(), [stays]);
}
