//! JSON that is written row by row: each row is a value only until its text is there, and all text goes to one place.

use super::text::Text;
use serde_json::Value;

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
pub(super) fn object(values: Value, mut lists: Vec<List<'_>>, is_to_end: impl Fn() -> bool) -> Text {
    let Value::Object(values) = values else { unreachable!("it is an object") };
    lists.sort_by_key(|list| list.key);
    let (mut values, mut lists) = (values.into_iter().peekable(), lists.into_iter().peekable());
    let mut text = Text::default();
    text.put("{");
    let mut is_first = true;
    loop {
        if let Some((key, value)) = values.next_if(|(key, _)| lists.peek().is_none_or(|list| key.as_str() < list.key)) {
            begin_member(&mut text, &key, &mut is_first);
            text.put(value);
        } else if let Some(list) = lists.next() {
            begin_member(&mut text, list.key, &mut is_first);
            write_rows(&mut text, list.rows.take_while(|_| !is_to_end()));
        } else {
            break;
        }
    }
    text.put("}");
    text.end();
    text
}

fn begin_member(text: &mut Text, key: &str, is_first: &mut bool) {
    let comma = if std::mem::replace(is_first, false) { "" } else { "," };
    text.put(format_args!("{comma}{}:", Value::from(key)));
}

fn write_rows(text: &mut Text, rows: impl Iterator<Item = Value>) {
    text.put("[");
    for (number, row) in rows.enumerate() {
        let comma = if number > 0 { "," } else { "" };
        text.put(format_args!("{comma}{row}"));
    }
    text.put("]");
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
        assert_eq!(object(json!({ "zeta": 3, "alpha": "\u{e4}" }), lists, || false).whole(), whole.to_string());
    }
}
