//! Properties of templates that hold for any text.

use std::sync::Arc;

use super::template::{DrawnText, Template};

fuzzing::targets! {
    rpc_template: template, from templates;
}

/// A template without parts is its own text, and the draws of a seed are the same each time.
fn template(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(template) = Template::parse("template", &text) else {
        assert!(text.contains("${"), "a text without parts is refused");
        return;
    };
    let has_parts = template.draws() > 0;
    let template = Arc::new(template);
    let draw = || {
        let mut drawn = DrawnText::new(&template, 3, 4);
        drawn.draw();
        drawn.draw();
        drawn.text().map(str::to_owned)
    };
    let drawn = draw();
    assert_eq!(draw(), drawn);
    if !has_parts {
        assert_eq!(drawn, Ok(text.replace("$${", "${")));
    }
}

fn templates() -> Vec<Vec<u8>> {
    [
        "{\"id\": ${random(1, 100)}, \"name\": \"${template('@@@')}\"}",
        "${:client_id} $${x} ${'}'} $${${1}",
        "${random_zipfian(1, 1000, 0.99) * 2 - abs(-3)}\n${least(1.5, 2)}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}
