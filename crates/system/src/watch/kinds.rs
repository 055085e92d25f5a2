//! The kinds of servers whose metrics dyno knows.

use measure::ServerKind;

use super::panels::{cpu, garbage_collections, goroutines, memory};
use crate::{go_echo, postgres, tidb};

/// Every kind of server whose metrics dyno knows, in the order of a page. A record keeps all of them, whatever its
/// systems: a plan may name any additional server to watch. The last kind matches every server that no other kind
/// matches.
pub fn server_kinds() -> Vec<ServerKind> {
    let mut kinds = tidb::server_kinds();
    kinds.extend(go_echo::server_kinds());
    kinds.extend(postgres::server_kinds());
    kinds.push(ServerKind {
        name: "server".to_owned(),
        panels: vec![cpu(), memory(), goroutines(), garbage_collections()],
        ..ServerKind::default()
    });
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of a current record that the report's own tests draw.
    const IN_A_RECORD: &str = include_str!("../../../report/src/panels/tidb-8.5/server-kinds.json");

    #[test]
    fn the_kinds_that_are_recorded_are_those_that_the_report_is_tested_with() {
        let kept: Vec<ServerKind> = serde_json::from_str(IN_A_RECORD).unwrap();
        assert_eq!(server_kinds(), kept);
    }
}
