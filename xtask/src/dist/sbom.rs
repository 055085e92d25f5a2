//! The bill of materials: every crate of dyno with version, licence and checksum, in the format that scanners for
//! known holes read. Source: CycloneDX 1.5 (ECMA-424), JSON; package URLs.

use serde_json::{Value, json};

use super::crates::Crate;

/// The bill of materials of a program, with the time of its commit.
pub(crate) fn of(crates: &[Crate], time: &str) -> Value {
    let (binary, others): (Vec<&Crate>, Vec<&Crate>) =
        crates.iter().partition(|it| it.is_ours && it.name == "dyno-bench");
    let program = binary.iter().map(|it| component(it, "application")).next();
    let components: Vec<Value> = others.iter().map(|it| component(it, "library")).collect();
    let dependencies: Vec<Value> =
        crates.iter().map(|it| json!({ "ref": it.id(), "dependsOn": it.needs })).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "timestamp": time, "component": program },
        "components": components,
        "dependencies": dependencies,
    })
}

fn component(it: &Crate, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": it.id(),
        "name": it.name,
        "version": it.version,
        "licenses": [{ "expression": it.licence }],
    });
    if let Some(checksum) = &it.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if !it.is_ours {
        component["purl"] = format!("pkg:cargo/{}", it.id()).into();
    }
    component
}

#[cfg(test)]
mod tests {
    use super::super::crates::tests::two_crates;
    use super::*;

    #[test]
    fn a_crate_of_the_registry_has_a_package_url_and_a_checksum() {
        let bill = of(&two_crates(), "2026-11-23T00:00:00Z");
        assert_eq!(bill["metadata"]["component"]["name"], "dyno-bench");
        let expected = json!([{
            "type": "library",
            "bom-ref": "linked@1.2.3",
            "name": "linked",
            "version": "1.2.3",
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            "hashes": [{ "alg": "SHA-256", "content": "abc" }],
            "purl": "pkg:cargo/linked@1.2.3",
        }]);
        assert_eq!(bill["components"], expected);
        let of_binary = json!({ "ref": "dyno-bench@0.1.0", "dependsOn": ["linked@1.2.3"] });
        assert_eq!(bill["dependencies"][0], of_binary);
    }
}
