//! JSON that is written row by row: each row is a value only until its text is there, and all text goes to one place.

use serde_json::Value;
use std::fmt::Write;

/// A member of the object whose rows are not values yet.
pub(super) struct List<'a> {
    pub(super) key: &'static str,
    pub(super) rows: Box<dyn Iterator<Item = Value> + 'a>,
}

impl<'a> List<'a> {
    pub(super) fn new(key: &'static str, rows: impl IntoIterator<Item = Value, IntoIter: 'a>) -> List<'a> {
        List { key, rows: Box::new(rows.into_iter()) }
    }
}

/// An object of these values and of lists, in the order of all keys. No further row is made where that is to end early.
pub(super) fn object(values: Value, mut lists: Vec<List<'_>>, is_to_end: impl Fn() -> bool) -> String {
    let Value::Object(values) = values else { unreachable!("it is an object") };
    lists.sort_by_key(|list| list.key);
    let (mut values, mut lists) = (values.into_iter().peekable(), lists.into_iter().peekable());
    let mut text = String::from("{");
    loop {
        if let Some((key, value)) = values.next_if(|(key, _)| lists.peek().is_none_or(|list| key.as_str() < list.key)) {
            begin_member(&mut text, &key);
            write!(text, "{value}").expect("a string takes all text");
        } else if let Some(list) = lists.next() {
            begin_member(&mut text, list.key);
            write_rows(&mut text, list.rows.take_while(|_| !is_to_end()));
        } else {
            break;
        }
    }
    text.push('}');
    text.shrink_to_fit();
    text
}

fn begin_member(text: &mut String, key: &str) {
    let comma = if text.len() > 1 { "," } else { "" };
    write!(text, "{comma}{}:", Value::from(key)).expect("a string takes all text");
}

fn write_rows(text: &mut String, rows: impl Iterator<Item = Value>) {
    text.push('[');
    for (number, row) in rows.enumerate() {
        let comma = if number > 0 { "," } else { "" };
        write!(text, "{comma}{row}").expect("a string takes all text");
    }
    text.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_is_what_the_whole_value_would_be() {
        let rows = [json!({ "b": "x\"y", "a": 1.5 }), json!(null)];
        let whole = json!({ "rows": rows.clone(), "none": [], "zeta": 3, "alpha": "\u{e4}" });
        let lists = vec![List::new("rows", rows), List::new("none", [])];
        assert_eq!(object(json!({ "zeta": 3, "alpha": "\u{e4}" }), lists, || false), whole.to_string());
    }
}
