//! A compiler's messages without what changes for no reason: places in other files, and pictures of the source.

use std::fmt::Write;

use serde_json::Value;

/// Reads rustc's JSON lines. Summaries ("aborting due to …") have no place and are left out.
pub(crate) fn read(lines: &str) -> String {
    let mut said = String::new();
    for line in lines.lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
        let places = places(&message);
        if places.is_empty() {
            continue;
        }
        let code = message["code"]["code"].as_str().map(|code| format!("[{code}]")).unwrap_or_default();
        write!(said, "{}{code}: {}\n{places}", text(&message["level"]), text(&message["message"])).unwrap();
        for child in message["children"].as_array().unwrap() {
            let (level, message) = (text(&child["level"]), text(&child["message"]));
            // Where the whole name of a long type is to be found differs from run to run.
            if !message.contains("full name for the type") && !message.contains("full type name") {
                writeln!(said, "  {level}: {}", message.replace('\n', "\n    ")).unwrap();
            }
        }
        said.push('\n');
    }
    said
}

/// Line, column and label of each place in the case itself.
fn places(message: &Value) -> String {
    let mut all: Vec<(u64, u64, String)> = Vec::new();
    for span in message["spans"].as_array().unwrap() {
        if !text(&span["file_name"]).contains("compile_fail/cases/") {
            continue;
        }
        let label = span["label"].as_str().unwrap_or_default().to_owned();
        all.push((span["line_start"].as_u64().unwrap(), span["column_start"].as_u64().unwrap(), label));
    }
    all.sort();
    all.iter()
        .map(|(line, column, label)| format!("  {line}:{column} {label}").trim_end().to_owned() + "\n")
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
