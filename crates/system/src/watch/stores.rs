//! The stores that PD knows: a list in JSON next to its metrics, kept as if it were one of them.

use serde_json::Value;

/// The name of the metric under which the list is kept.
pub(crate) const STORES: &str = "dyno_pd_store";
/// The start of the names of PD's metrics, which no other server uses.
const PD: [&str; 2] = ["\npd_server_", "\npd_cluster_"];
/// The path of the list on the same server.
const LIST: &str = "/pd/api/v1/stores";
/// The label, key and value, that marks a store as TiFlash and not TiKV.
const TIFLASH: (&str, &str) = ("engine", "tiflash");

/// The URL of the list, when a page of metrics belongs to a PD.
pub(super) fn url(page: &str, page_url: &str) -> Option<String> {
    if !PD.iter().any(|beginning| page.contains(beginning)) {
        return None;
    }
    let (scheme, rest) = page_url.split_once("://")?;
    let host = rest.split('/').next()?;
    Some(format!("{scheme}://{host}{LIST}"))
}

/// The list in the text format of Prometheus: `dyno_pd_store{store="1",address="10.0.0.7:20160",...} 1`. TiFlash serves
/// no requests of transactions and is left out, and so is what is not a store.
///
/// # Errors
/// When the text is not such a list.
pub(super) fn exposition(list: &str) -> Result<String, String> {
    let list: Value = serde_json::from_str(list).map_err(|error| format!("not JSON: {error}"))?;
    let stores = list["stores"].as_array().ok_or("it has no `stores`")?;
    let mut text = format!("\n# TYPE {STORES} gauge\n");
    for entry in stores {
        let store = &entry["store"];
        let is_tiflash = |label: &Value| label["key"] == TIFLASH.0 && label["value"] == TIFLASH.1;
        let mut labels = store["labels"].as_array().into_iter().flatten();
        let Some(id) = store["id"].as_u64() else { continue };
        if labels.any(is_tiflash) {
            continue;
        }
        text.push_str(&format!(
            "{STORES}{{store=\"{id}\",address={},status_address={},state={}}} 1\n",
            quoted(&store["address"]),
            quoted(&store["status_address"]),
            quoted(&store["state_name"]),
        ));
    }
    Ok(text)
}

fn quoted(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Part of the answer of a PD of 2021 with three stores written in Go. TiKV also reports a status address
    /// (metapb.Store), which was added to the second one by hand.
    const LIST_OF_2021: &str = r#"{"count": 3, "stores": [
        {"store": {"id": 1, "address": "127.0.0.1:43887", "version": "3.0.0-bata.1",
          "last_heartbeat": 1795321747708795761, "state_name": "Up"},
         "status": {"capacity": "252GiB", "available": "252GiB", "used_size": "0B", "leader_count": 5,
          "leader_weight": 1, "region_count": 5, "start_ts": "1970-01-01T00:00:00Z"}},
        {"store": {"id": 12, "address": "127.0.0.1:36919", "version": "3.0.0-bata.1",
          "status_address": "127.0.0.1:20180", "state_name": "Up"}, "status": {"leader_count": 0}}]}"#;

    #[test]
    fn only_pd_is_asked_for_its_stores() {
        let page = "# TYPE x gauge\nx 1\npd_cluster_status{type=\"a\"} 1\n";
        let stores = "http://10.0.0.7:2379/pd/api/v1/stores".to_owned();
        assert_eq!(url(page, "http://10.0.0.7:2379/metrics"), Some(stores));
        let tidb = "# TYPE x gauge\nx 1\npd_client_cmd_handle_cmds_duration_seconds_sum 1\n";
        assert_eq!(url(tidb, "http://10.0.0.7:10080/metrics"), None);
    }

    #[test]
    fn each_store_is_a_line() {
        insta::assert_snapshot!(exposition(LIST_OF_2021).unwrap(), @r#"

        # TYPE dyno_pd_store gauge
        dyno_pd_store{store="1",address="127.0.0.1:43887",status_address="",state="Up"} 1
        dyno_pd_store{store="12",address="127.0.0.1:36919",status_address="127.0.0.1:20180",state="Up"} 1
        "#);
    }

    #[test]
    fn what_is_not_a_store_list_is_named_and_what_is_not_a_store_is_left_out() {
        let tiflash = r#"{"stores": [{"store": {"id": 9, "labels":
            [{"key": "engine", "value": "tiflash"}]}}, {"store": {}}, 7]}"#;
        assert!(!exposition(tiflash).unwrap().contains("dyno_pd_store{"));
        let deep = "[".repeat(1 << 20);
        for text in ["", "no", &deep] {
            assert!(exposition(text).unwrap_err().starts_with("not JSON: "), "{text:.10}");
        }
        for text in ["[]", r#"{"stores": 3}"#] {
            assert_eq!(exposition(text).unwrap_err(), "it has no `stores`");
        }
        let odd = r#"{"stores": [{"store": {"id": 1, "address": "a\"\\\nb"}}]}"#;
        let odd = exposition(odd).unwrap();
        assert!(odd.contains(r#"address="a\"\\\nb""#), "{odd}");
    }
}
