//! The shape of report.json as a JSON Schema, made from one table. Objects whose keys are in it have no others; a test holds
//! it against the reports of all made-up runs, so that a new key is described here.

pub(crate) mod shapes;

use serde_json::{Map, Value, json};

use crate::figure::catalogue::everywhere_keys;
use shapes::SHAPES;

/// A key of an object. A name that ends with `?` may be absent.
pub(crate) type Field = (&'static str, &'static str, &'static str);

/// The schema, in a draft that most validators know.
pub fn schema() -> Value {
    let mut definitions: Map<String, Value> =
        SHAPES.iter().map(|(name, fields)| ((*name).to_owned(), object(fields))).collect();
    for (key, label) in everywhere_keys() {
        let property = json!({ "type": ["number", "null"], "description": label });
        definitions["trial"]["properties"][key] = property;
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A report of dyno as JSON",
        "allOf": [{ "$ref": "#/definitions/report" }],
        "definitions": definitions,
    })
}

fn object(fields: &[Field]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, form, meaning) in fields {
        let key = name.trim_end_matches('?');
        let mut value = any_of(form);
        value["description"] = (*meaning).into();
        properties.insert(key.to_owned(), value);
        if key == *name {
            required.push(key);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Forms, separated by `|`.
fn any_of(forms: &str) -> Value {
    let all: Vec<Value> = forms.split('|').map(form).collect();
    match all.len() {
        1 => json!({ "allOf": all }),
        _ => json!({ "anyOf": all }),
    }
}

/// `any`; a type of JSON; `'word'`; `[form]`, a list; `{form}`, an object with any keys; or the name of a shape.
fn form(form: &str) -> Value {
    let within = |open, close| form.strip_prefix(open).and_then(|it| it.strip_suffix(close));
    if let Some(item) = within('[', ']') {
        return json!({ "type": "array", "items": any_of(&item.replace('/', "|")) });
    }
    if let Some(item) = within('{', '}') {
        let item = any_of(&item.replace('/', "|"));
        return json!({ "type": "object", "additionalProperties": item });
    }
    if let Some(word) = within('\'', '\'') {
        return json!({ "const": word });
    }
    match form {
        "any" => json!({}),
        "integer" | "number" | "string" | "boolean" | "null" => json!({ "type": form }),
        shape => json!({ "$ref": format!("#/definitions/{shape}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reading, sample};

    /// What is wrong with a value, by the few words of JSON Schema that the table uses.
    fn problems(schema: &Value, value: &Value, root: &Value, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.rsplit('/').next().unwrap();
            return problems(&root["definitions"][name], value, root, path);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            found.extend(problems(part, value, root, path));
        }
        if let Some(parts) = schema["anyOf"].as_array() {
            let all: Vec<_> = parts.iter().map(|it| problems(it, value, root, path)).collect();
            if all.iter().all(|it| !it.is_empty()) {
                found.extend(all.into_iter().min_by_key(Vec::len).unwrap_or_default());
            }
        }
        if let Some(types) = schema.get("type") {
            let one = vec![types.clone()];
            let types = types.as_array().unwrap_or(&one);
            if !types.iter().any(|it| is(it.as_str().unwrap(), value)) {
                return vec![format!("{path} is {value:.60}, not {types:?}")];
            }
        }
        if schema.get("const").is_some_and(|it| it != value) {
            found.push(format!("{path} is {value}"));
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            found.extend(problems(&schema["items"], item, root, &format!("{path}[{index}]")));
        }
        for key in schema["required"].as_array().into_iter().flatten() {
            if value.get(key.as_str().unwrap()).is_none() {
                found.push(format!("{path} lacks {key}"));
            }
        }
        for (key, item) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            match schema["properties"].get(key) {
                Some(property) => found.extend(problems(property, item, root, &path)),
                None if schema["additionalProperties"] == false => {
                    found.push(format!("{path} is not in the schema"));
                }
                None => found.extend(problems(&schema["additionalProperties"], item, root, &path)),
            }
        }
        found
    }

    fn is(name: &str, value: &Value) -> bool {
        match name {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "integer" => value.is_u64() || value.is_i64(),
            _ => value.is_number(),
        }
    }

    #[test]
    fn the_reports_of_all_kinds_of_runs_have_the_keys_of_the_schema_and_no_others() {
        let schema = schema();
        let mut bounded = sample::large();
        let bounds = ["p99 > 1us", "errors > 1%"];
        bounded.header.fail_if = bounds.map(|it| plan::FailIf::parse(it).unwrap()).to_vec();
        let mut nothing = sample::run();
        nothing.trials.clear();
        let runs = [
            sample::run(),
            sample::long(),
            sample::repeated(),
            sample::failed(),
            sample::stalled(),
            sample::watched(),
            sample::kept_turns(3),
            sample::quick(),
            sample::compared(),
            sample::variants(),
            sample::in_windows(),
            sample::open(),
            sample::sought(20e6, 1.0, 1_024.0),
            sample::sought(1e6, 1.0, 64.0),
            sample::generators(),
            sample::lost_generator(),
            bounded,
            nothing,
        ];
        let mut points = 0;
        for run in &runs {
            let report: Value = serde_json::from_str(&crate::json(&Reading::new(run))).unwrap();
            assert_eq!(problems(&schema, &report, &schema, ""), Vec::<String>::new());
            let mut wrong = report.clone();
            // A run in which no trial counts has no point.
            let rate = wrong.pointer_mut("/points/0/transactions_per_s");
            let has_point = rate.map(|rate| *rate = "fast".into()).is_some();
            wrong["unknown"] = 1.into();
            let found = problems(&schema, &wrong, &schema, "");
            assert!(found.contains(&".unknown is not in the schema".to_owned()), "{found:?}");
            let is_rate_found = found.iter().any(|it| it.contains("[0].transactions_per_s is"));
            assert_eq!(is_rate_found, has_point, "{found:?}");
            points += usize::from(has_point);
        }
        assert!(points > runs.len() / 2, "{points} of {}", runs.len());
    }

    #[test]
    fn every_shape_that_a_key_names_is_there_and_every_key_has_a_meaning() {
        let schema = schema();
        let text = schema.to_string();
        for part in text.split("\"#/definitions/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(schema["definitions"][name].is_object(), "{name}");
        }
        for (name, fields) in SHAPES {
            assert!(fields.iter().all(|(_, _, meaning)| meaning.len() > 3), "{name}");
        }
    }
}
