//! Exact figures of a made-up trial, and the texts when figures are missing.

use super::*;
use crate::Reading;
use crate::sample;

#[test]
fn pure_acknowledgements_are_distinguished_from_messages() {
    let run = sample::watched();
    let digest = Digest::new(&run);
    insta::assert_snapshot!(format!(
        "{}{}\n",
        of_trial(&digest.trials[0]).text(),
        note(&digest.trials[0]).unwrap()
    ), @r"
        between dyno and the system     sent  received
        bytes of a query                90.0       265
        MB in a second                0.0120    0.0353
        TCP segments in a second       1,500     1,000
        of these with data             1,000     1,000
        acknowledgements alone          33 %       0 %
        bytes in a segment with data    90.0       265
        TCP segments for a query        11.3      7.50
        TCP connections: 1; round trip by TCP's own estimate, with part of the server's time: 31.0 µs; segments sent again: 0.250 a second.
        ");
}

#[test]
fn each_point_has_a_row_and_missing_data_is_reported_once() {
    let mut run = sample::watched();
    insta::assert_snapshot!(by_point(&Digest::new(&run)).text(), @r"
        system   workload           load       request B  response B  sent MB/s  received MB/s  segments sent per s  with data  segments received per s  with data  sent again per s  TCP round trip  remarks
        mariadb  oltp_point_select  1 client        90.0         265     0.0120         0.0353                1,500       67 %                    1,000      100 %             0.250         31.0 µs  doubtful
        mariadb  oltp_point_select  4 clients       90.0         265     0.0361          0.106                6,000       67 %                    4,000      100 %             0.250         31.0 µs
        mariadb  oltp_read_write    1 client        90.0         265   0.000495        0.00146                1,500       67 %                    1,000      100 %             0.250         31.0 µs  doubtful
        mariadb  oltp_read_write    4 clients       90.0         265    0.00158        0.00464                6,000       67 %                    4,000      100 %             0.250         31.0 µs  doubtful
        ");
    for trial in &mut run.trials {
        trial.watched.connections.readings.clear();
        trial.watched.connections.absent = Some("dyno reaches it over a unix socket".to_owned());
    }
    let digest = Digest::new(&run);
    assert_eq!(
        absences(&digest),
        ["mariadb has no figures of TCP segments: dyno reaches it over a unix socket."]
    );
    let text = note(&digest.trials[0]).unwrap();
    assert_eq!(text, "There are no figures of TCP segments: dyno reaches it over a unix socket.");
    assert!(!by_point(&digest).text().contains("segments"));
    assert!(of_trial(&digest.trials[0]).text().contains("bytes of a query"));
}

#[test]
fn records_without_segment_counts_show_none() {
    let mut run = sample::watched();
    run.trials.iter_mut().for_each(|trial| trial.watched = measure::Watched::default());
    let reading = Reading::new(&run);
    let digest = &reading.digest;
    assert_eq!((note(&digest.trials[0]), absences(digest)), (None, Vec::new()));
    assert_eq!(json(&digest.trials[0])["tcp"], Value::Null);
}

#[test]
fn unobserved_connection_ends_are_reported() {
    let mut run = sample::watched();
    let last = run.trials[0].watched.connections.readings.last_mut().unwrap();
    (last.ended, last.ended_unreported) = (5, 2);
    let text = note(&Digest::new(&run).trials[0]).unwrap();
    assert!(
        text.contains(
            "ended during the load or with it: 5; of these, 2 are not counted to their end."
        ),
        "{text}"
    );
}
