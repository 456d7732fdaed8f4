//! JSON that is written row by row: each row exists only until its text does, and all text goes
//! into one buffer.

use super::text::Text;
use serde::Serialize;
use serde_json::Value;

/// Text between two rows: the front writes long lists to files as they are, and a row is a line
/// there.
const BETWEEN_ROWS: &str = ",\n  ";

/// Writes rows, until that is to end.
type Write<'a> = dyn FnOnce(&mut Text, &dyn Fn() -> bool) + 'a;

/// A member of the object whose rows are not made yet.
pub(super) struct List<'a> {
    key: &'static str,
    write: Box<Write<'a>>,
}

impl<'a> List<'a> {
    pub(super) fn new<R: Serialize>(
        key: &'static str,
        rows: impl IntoIterator<Item = R, IntoIter: 'a>,
    ) -> List<'a> {
        let rows = rows.into_iter();
        List {
            key,
            write: Box::new(move |text, is_to_end| {
                write_rows(text, rows.take_while(|_| !is_to_end()))
            }),
        }
    }
}

/// An object of the members of `head`, but with the rows of these lists, in the order of all keys.
/// No further row is made where that is to end early.
pub(super) fn object(
    head: &impl Serialize,
    mut lists: Vec<List<'_>>,
    is_to_end: impl Fn() -> bool,
) -> Text {
    let Ok(Value::Object(mut values)) = serde_json::to_value(head) else {
        unreachable!("it is an object")
    };
    lists.iter().for_each(|list| drop(values.remove(list.key)));
    lists.sort_by_key(|list| list.key);
    let (mut values, mut lists) = (values.into_iter().peekable(), lists.into_iter().peekable());
    let mut text = Text::default();
    text.put("{");
    let mut is_first = true;
    loop {
        if let Some((key, value)) =
            values.next_if(|(key, _)| lists.peek().is_none_or(|list| key.as_str() < list.key))
        {
            begin_member(&mut text, &key, &mut is_first);
            text.put(value);
        } else if let Some(list) = lists.next() {
            begin_member(&mut text, list.key, &mut is_first);
            text.put("[");
            text.put_list(list.key, |text| (list.write)(text, &is_to_end));
            text.put("]");
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

/// A row is first a line in a buffer of its own: written bit by bit into the text it takes more
/// than twice as long.
fn write_rows(text: &mut Text, rows: impl Iterator<Item = impl Serialize>) {
    let mut line = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut line, &row).expect("a row has text, and a vector takes it");
        text.put(str::from_utf8(&line).expect("it is JSON"));
        line.clear();
        line.extend_from_slice(BETWEEN_ROWS.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_is_what_the_whole_value_would_be() {
        let rows = [json!({ "b": "x\"y", "a": 1.5 }), json!(null)];
        let whole = json!({ "rows": rows.clone(), "none": [], "zeta": 3, "alpha": "\u{e4}" });
        let lists = vec![List::new("rows", rows), List::new("none", [Value::Null; 0])];
        let text =
            object(&json!({ "zeta": 3, "alpha": "\u{e4}", "rows": [] }), lists, || false).whole();
        assert_eq!(text.replace(BETWEEN_ROWS, ","), whole.to_string());
        assert_eq!(text.matches(BETWEEN_ROWS).count(), 1);
    }
}
