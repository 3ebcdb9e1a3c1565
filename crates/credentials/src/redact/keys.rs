//! The bodies of private keys: lines of base64 behind a head.

use std::ops::Range;

/// The least letters of a part of a body that is long enough not to be a word of a command.
const LEAST: usize = 16;

/// Start and end of the heads before key bodies.
const HEADS: &[(&str, &str)] = &[("-----BEGIN ", "-----"), ("PuTTY-User-Key-File-", "Private-Lines:")];

/// Finds the bodies of private keys. A body ends with the last base64 character: what follows in a command is not part of it.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    for (head, end) in HEADS {
        let mut at = 0;
        while let Some(start) =
            text.get(at..).and_then(|rest| rest.find(head)).map(|start| at + start + head.len())
        {
            at = start;
            let Some(length) = text.get(start..).and_then(|rest| rest.find(end)) else { break };
            let name = text.get(start..start + length).unwrap_or_default();
            let is_key = name.contains("PRIVATE KEY") && name.len() < 64 || !head.starts_with('-');
            let from = start + length + end.len();
            if is_key {
                // PuTTY says how many lines there are.
                let rest = text.get(from..).unwrap_or_default();
                let number = rest.len()
                    - rest.trim_start_matches(|sign: char| sign == ' ' || sign.is_ascii_digit()).len();
                at = body(text, if head.starts_with('-') { from } else { from + number }, found);
            }
        }
    }
    for (at, _) in text.match_indices(OPENSSH) {
        body(text, at, found);
    }
}

/// How the bodies of OpenSSH's keys begin, with a head or without one.
const OPENSSH: &str = "b3BlbnNzaC1rZXktdjE";

/// Adds the parts of the body that begins here, and returns where it ends.
fn body(text: &str, start: usize, found: &mut Vec<Range<usize>>) -> usize {
    let mut at = start;
    let mut is_long = false;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let blank = rest.len() - after_blank(rest).len();
        let part = text.get(at + blank..).unwrap_or_default();
        let length = part.bytes().position(|byte| !in_base64(byte)).unwrap_or(part.len());
        let behind = after_blank(part.get(length..).unwrap_or_default());
        // The last line is as short as it happens to be.
        let is_last = is_long && behind.starts_with("-----END");
        let is_headed =
            part.get(length..).is_some_and(|rest| rest.starts_with(": ") || rest.starts_with('-'));
        if length == 0 {
            return at;
        }
        if length >= LEAST || is_last {
            found.push(at + blank..at + blank + length);
            is_long = true;
        } else if is_headed && !is_last {
            // `Proc-Type: 4,ENCRYPTED` stands between the head and the body.
            let line = part.find('\n').unwrap_or(part.len());
            at += blank + line;
            continue;
        } else {
            return at;
        }
        at += blank + length;
    }
}

/// Returns the text after blanks, line ends (also escaped as `\n` or `\r`) and the signs that join strings in source code.
fn after_blank(text: &str) -> &str {
    let mut rest = text;
    loop {
        let next = rest.trim_start_matches([' ', '\t', '\r', '\n', '"', '+', ',']);
        let next = next.strip_prefix("\\n").or_else(|| next.strip_prefix("\\r")).unwrap_or(next);
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

const fn in_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str) -> String {
        let mut found = Vec::new();
        find(text, &mut found);
        super::super::replaced(text, found).into_owned()
    }

    #[test]
    fn the_body_of_a_key_is_hidden_and_nothing_behind_it() {
        let line = "MIIEowIBAAKCAQEA0KqW9ZxT2mLb7RcV1nYd8HsG3fJp";
        for (text, kept) in [
            (
                format!(
                    "-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\nab==\n-----END RSA PRIVATE KEY-----"
                ),
                vec!["END RSA"],
            ),
            (format!("-----BEGIN PRIVATE KEY-----\\n{line}\\nabc=\\n-----END PRIVATE KEY-----"), vec!["END"]),
            (format!("-----BEGIN PRIVATE KEY-----{line} and cut off"), vec!["and cut off"]),
            (format!("echo '-----BEGIN PRIVATE KEY-----\n{line}'; touch p"), vec!["'; touch p"]),
            (
                format!(
                    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\n{line}\nx"
                ),
                vec!["Proc-Type"],
            ),
            (format!("PuTTY-User-Key-File-3: ssh\nPrivate-Lines: 8\n{line}\n"), vec!["Private-Lines"]),
        ] {
            let safe = hidden(&text);
            assert!(!safe.contains(line) && !safe.contains("ab=="), "{safe}");
            assert!(kept.iter().all(|part| safe.contains(part)), "{safe}");
        }
        for text in [
            "echo -----BEGIN RSA PRIVATE KEY-----; touch p; id",
            "echo -----BEGIN RSA PRIVATE KEY----- touch p",
            "-----BEGIN RSA PRIVATE KEY-----\ntouch p\nid\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\nMIIEowIBAAKCAQEA0KqW9ZxT2mLb7RcV1nYd8HsG3fJp",
            "PuTTY-User-Key-File is its first line",
        ] {
            assert_eq!(hidden(text), text);
        }
    }
}
