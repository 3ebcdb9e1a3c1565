//! Edits of TOML, by `toml_edit`.

use toml_edit::{ArrayOfTables, DocumentMut, Formatted, InlineTable, Item, Table, TableLike, Value};

use super::EditError;

/// Appends tables to the list at `path`, creating missing parents. Each of `tables` is a document with the values of
/// a new table.
pub(super) fn push_tables<T: AsRef<str>>(
    document: &str,
    path: &[&str],
    tables: &[T],
) -> Result<String, EditError> {
    let mut edited = parse(document)?;
    let (last, parent) = parent(&mut edited, path)?;
    let list = parent.entry(last).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let mut before = document;
    for table in tables {
        let new = parse(table.as_ref())?.into_table();
        match list {
            Item::ArrayOfTables(list) => list.push(set_apart(new, before)),
            Item::Value(Value::Array(list)) => list.push(in_one_line(new)?),
            _ => return Err(EditError::new(format!("`{last}` is no list of tables"))),
        }
        before = table.as_ref();
    }
    Ok(edited.to_string())
}

/// Removes the table at `index` from the list at `path`, with the comments above it.
pub(super) fn remove_table(document: &str, path: &[&str], index: usize) -> Result<String, EditError> {
    let mut edited = parse(document)?;
    let (last, parent) = parent(&mut edited, path)?;
    let is_empty = match parent.get_mut(last) {
        Some(Item::ArrayOfTables(list)) if index < list.len() => {
            list.remove(index);
            list.is_empty()
        }
        Some(Item::Value(Value::Array(list))) if index < list.len() => {
            list.remove(index);
            list.is_empty()
        }
        _ => return Err(EditError::new(format!("`{last}` has no table with the number {index}"))),
    };
    if is_empty {
        parent.remove(last);
    }
    Ok(edited.to_string())
}

/// Sets the key at `path` to a value, which is written as TOML, creating missing parents. An existing value is
/// replaced; the rest of the document is preserved.
pub(super) fn set_value(document: &str, path: &[&str], value: &str) -> Result<String, EditError> {
    let mut edited = parse(document)?;
    let (last, parent) = shown_parent(&mut edited, path, document)?;
    let new = value_of(value)?;
    match parent.get_mut(last) {
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = new;
            *old.decor_mut() = decor;
        }
        Some(_) => return Err(EditError::new(format!("`{last}` is a table"))),
        None => drop(parent.insert(last, Item::Value(new))),
    }
    Ok(edited.to_string())
}

/// Appends a value, which is written as TOML, to the list at `path`, unless the list contains it.
pub(super) fn append_value(document: &str, path: &[&str], value: &str) -> Result<String, EditError> {
    let mut edited = parse(document)?;
    let (last, parent) = shown_parent(&mut edited, path, document)?;
    let new = value_of(value)?;
    let list = parent.entry(last).or_insert_with(|| Item::Value(Value::Array(toml_edit::Array::new())));
    let list = list.as_array_mut().ok_or_else(|| EditError::new(format!("`{last}` is no list")))?;
    let text = |value: &Value| value.to_string().trim().to_owned();
    if !list.iter().any(|there| text(there) == text(&new)) {
        list.push(new);
    }
    Ok(edited.to_string())
}

/// Removes a value, which is written as TOML, from the list at `path`. A document without it is returned unchanged.
pub(super) fn remove_value(document: &str, path: &[&str], value: &str) -> Result<String, EditError> {
    let mut edited = parse(document)?;
    let text = |value: &Value| value.to_string().trim().to_owned();
    let gone = text(&value_of(value)?);
    let Some((last, before)) = path.split_last() else { return Err(EditError::new("no key is given")) };
    let mut table: &mut dyn TableLike = edited.as_table_mut();
    for key in before {
        match table.get_mut(key).and_then(Item::as_table_like_mut) {
            Some(below) => table = below,
            None => return Ok(document.to_owned()),
        }
    }
    let Some(list) = table.get_mut(last) else { return Ok(document.to_owned()) };
    let list = list.as_array_mut().ok_or_else(|| EditError::new(format!("`{last}` is no list")))?;
    list.retain(|there| text(there) != gone);
    Ok(edited.to_string())
}

/// Removes the key at `path`, and tables above it that are empty then, unless they have a comment.
pub(super) fn remove_key(document: &str, path: &[&str]) -> Result<String, EditError> {
    let mut edited = parse(document)?;
    remove_below(edited.as_table_mut(), path);
    Ok(edited.to_string())
}

/// Removes a key below a table. The path has the depth of a configuration key, so the recursion is bounded by its caller.
fn remove_below(table: &mut dyn TableLike, path: &[&str]) {
    match path {
        [] => {}
        [last] => drop(table.remove(last)),
        [first, rest @ ..] => {
            let Some(below) = table.get_mut(first) else { return };
            if let Some(below) = below.as_table_like_mut() {
                remove_below(below, rest);
            }
            let has_comment = |table: &Table| {
                table
                    .decor()
                    .prefix()
                    .and_then(|prefix| prefix.as_str())
                    .is_some_and(|text| text.contains('#'))
            };
            let is_left = match below {
                Item::Table(below) => !below.is_empty() || has_comment(below),
                Item::Value(Value::InlineTable(below)) => !below.is_empty(),
                _ => true,
            };
            if !is_left {
                table.remove(first);
            }
        }
    }
}

fn value_of(text: &str) -> Result<Value, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| EditError::new(error.message().to_owned()))
}

/// Returns the parent table of the last key, with a header, which a value needs.
fn shown_parent<'d, 'p>(
    document: &'d mut DocumentMut,
    path: &'p [&'p str],
    text: &str,
) -> Result<(&'p str, &'d mut dyn TableLike), EditError> {
    let Some((last, before)) = path.split_last() else { return Err(EditError::new("no key is given")) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (at, key) in before.iter().enumerate() {
        let is_last = at + 1 == before.len();
        let new = || {
            let mut table = Table::new();
            table.set_implicit(!is_last);
            Item::Table(if is_last { set_apart(table, text) } else { table })
        };
        let found = table.entry(key).or_insert_with(new);
        table = found.as_table_like_mut().ok_or_else(|| EditError::new(format!("`{key}` is no table")))?;
    }
    Ok((last, table))
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| EditError::new(error.message().to_owned()))
}

/// Returns the parent table of the last key, and that key.
fn parent<'d, 'p>(
    document: &'d mut DocumentMut,
    path: &'p [&'p str],
) -> Result<(&'p str, &'d mut dyn TableLike), EditError> {
    let Some((last, before)) = path.split_last() else { return Err(EditError::new("no key is given")) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in before {
        let implicit = || {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        };
        let found = table.entry(key).or_insert_with(implicit);
        table = found.as_table_like_mut().ok_or_else(|| EditError::new(format!("`{key}` is no table")))?;
    }
    Ok((last, table))
}

/// Puts an empty line before a table of its own.
fn set_apart(mut table: Table, document: &str) -> Table {
    let before = match document {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    table.decor_mut().set_prefix(before);
    table.set_position(None);
    table
}

/// Converts the table for an inline list (`{ … }`).
fn in_one_line(table: Table) -> Result<InlineTable, EditError> {
    let mut inline = InlineTable::new();
    for (key, item) in table {
        let mut value =
            item.into_value().map_err(|_| EditError::new(format!("`{key}` is no plain value")))?;
        if let Value::String(text) = &value {
            value = Value::String(Formatted::new(text.value().clone()));
        }
        value.decor_mut().clear();
        inline.insert(key, value);
    }
    Ok(inline)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push_table(document: &str, path: &[&str], table: &str) -> Result<String, EditError> {
        push_tables(document, path, &[table])
    }

    const RULE: &str = "id = \"new\"\nprefix = [\"a\", [\"b\", \"c\"]]\n";

    #[test]
    fn what_a_person_wrote_stays() {
        let text = "# Head.\nversion = 1\n\n# First.\n[[rule]] # of two\nid   = 'a'\n\n[[rule]]\nid = \"b\"\n\n[[test]]\ncommand = \"x\" # last\n";
        let added = push_table(text, &["rule"], RULE).unwrap();
        assert_eq!(
            added.replace("\n[[rule]]\nid = \"new\"\nprefix = [\"a\", [\"b\", \"c\"]]\n", ""),
            text,
            "{added}"
        );
        assert_eq!(remove_table(&added, &["rule"], 2).unwrap(), text);
        let without = remove_table(text, &["rule"], 0).unwrap();
        assert_eq!(without, text.replace("\n# First.\n[[rule]] # of two\nid   = 'a'\n", ""));
    }

    #[test]
    fn a_value_is_removed_and_added_again() {
        let text = "# Head.\n[a]\nb = [\"x\", 'y'] # both\n";
        let without = remove_value(text, &["a", "b"], "'y'").unwrap();
        assert_eq!(without, "# Head.\n[a]\nb = [\"x\"] # both\n");
        assert_eq!(remove_value(&without, &["a", "b"], "'y'").unwrap(), without);
        assert_eq!(append_value(&without, &["a", "b"], "'y'").unwrap(), text);
        for (path, is_error) in [(&["a", "c"][..], false), (&["c", "b"], false), (&["a"], true), (&[], true)]
        {
            assert_eq!(remove_value(text, path, "1").is_err(), is_error, "{path:?}");
        }
        // A table with a comment stays, and so does one with other keys.
        for text in ["# Head.\n[a]\n", "[a]\nc = 1\n"] {
            let with = set_value(text, &["a", "b"], "[]").unwrap();
            assert_eq!(remove_key(&with, &["a", "b"]).unwrap(), text);
        }
        assert_eq!(remove_key("[a.b]\nc = 1\n[d]\n", &["a", "b", "c"]).unwrap(), "[d]\n");
        assert_eq!(remove_key("a = 1\n", &["b", "c"]).unwrap(), "a = 1\n");
    }

    #[test]
    fn several_at_once_are_as_one_after_the_other() {
        for text in ["", "a = 1", "a = 1\n", "rule = [{ id = \"a\" }]\n", "[[rule]]\nid = 'a' # here\n"] {
            let one = push_table(text, &["rule"], RULE).unwrap();
            let both = push_table(&one, &["rule"], "id = \"x\"\n").unwrap();
            assert_eq!(push_tables(text, &["rule"], &[RULE, "id = \"x\"\n"]).unwrap(), both);
        }
    }

    #[test]
    fn a_list_in_braces_stays_one() {
        let text = "rule = [{ id = \"a\" }] # here\n";
        let added = push_table(text, &["rule"], RULE).unwrap();
        assert!(added.contains("{ id = \"new\", prefix = [\"a\", [\"b\", \"c\"]] }] # here\n"), "{added}");
        assert_eq!(remove_table(&added, &["rule"], 1).unwrap(), text);
        assert_eq!(remove_table(text, &["rule"], 0).unwrap(), "");
    }

    #[test]
    fn tables_on_the_way_are_made_and_named_as_they_must_be() {
        let added =
            push_table("[agents.bot]\nmaxSteps = 3\n", &["agents", "*", "commands", "rules"], RULE).unwrap();
        assert!(added.starts_with("[agents.bot]\nmaxSteps = 3\n"), "{added}");
        assert!(added.contains("\n[[agents.\"*\".commands.rules]]\nid = \"new\"\n"), "{added}");
        let again = push_table(&added, &["agents", "bot", "commands", "rules"], RULE).unwrap();
        assert!(again.contains("\n[[agents.bot.commands.rules]]\n"), "{again}");
        let dotted = push_table("agents.bot.maxSteps = 3\n", &["agents", "bot", "commands", "rules"], RULE);
        let read: DocumentMut = dotted.unwrap().parse().unwrap();
        assert_eq!(read["agents"]["bot"]["commands"]["rules"][0]["id"].as_str(), Some("new"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, path) in
            [("rule = 3", &["rule"][..]), ("rule = ", &["rule"]), ("a = 1", &["a", "b"]), ("", &[])]
        {
            assert!(push_table(text, path, RULE).is_err(), "{text}");
            assert!(remove_table(text, path, 0).is_err(), "{text}");
        }
        assert!(remove_table("[[rule]]\n", &["rule"], 1).is_err());
    }
}
