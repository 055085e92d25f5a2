//! Properties of templates that hold for any text.

use std::sync::Arc;

use super::template::{DrawnText, Template};

fuzzing::targets! {
    rpc_template: template;
}

/// A template without parts is its own text, and the draws of a seed are the same each time.
fn template(bytes: &[u8]) -> Option<()> {
    let text = String::from_utf8_lossy(bytes);
    let Ok(template) = Template::parse("template", &text) else {
        assert!(text.contains("${"), "a text without parts is refused");
        return None;
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
    Some(())
}
