//! Rewriting of single lines.

/// First words of commands.
const PROGRAMS: &[&str] = &[
    "bash", "base64", "cat", "chmod", "cp", "crontab", "curl", "docker", "echo", "env", "eval", "find",
    "git", "nc", "node", "npm", "npx", "perl", "pip", "printenv", "python", "python3", "rm", "scp", "sh",
    "socat", "sudo", "tar", "wget", "xmrig",
];

/// Rewrites each command of a line: code spans, or the whole line if it begins with a program. `None` if there is no
/// command.
pub(super) fn commands(line: &str, rewrite: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_command = |text: &str| {
        let first = text.split_whitespace().next().unwrap_or_default();
        PROGRAMS.contains(&first.rsplit('/').next().unwrap_or_default())
    };
    let begin = line.len() - line.trim_start().len();
    let (indent, text) = line.split_at_checked(begin)?;
    if is_command(text) {
        return rewrite(text).map(|anew| indent.to_owned() + &anew);
    }
    let mut applied = false;
    let mut part = |(index, part): (usize, &str)| {
        let anew = (index % 2 == 1 && is_command(part)).then(|| rewrite(part)).flatten();
        applied |= anew.is_some();
        anew.unwrap_or_else(|| part.to_owned())
    };
    let parts: Vec<String> = line.split('`').enumerate().map(&mut part).collect();
    applied.then(|| parts.join("`"))
}

/// Puts `between` into the name of each program of the commands of a line.
pub(super) fn words(line: &str, between: &str) -> Option<String> {
    commands(line, |command| {
        let word = |word: &str| match word.split_at_checked(2) {
            Some((head, tail)) if PROGRAMS.contains(&word) && !tail.is_empty() => {
                format!("{head}{between}{tail}")
            }
            _ => word.to_owned(),
        };
        let anew: Vec<String> = command.split(' ').map(word).collect();
        let anew = anew.join(" ");
        (anew != command).then_some(anew)
    })
}

/// Replaces letters of a line, except in addresses and code spans, whose meaning would change.
pub(super) fn letters(line: &str, table: &[(char, &str)]) -> Option<String> {
    let letter = |letter: char| {
        let row = table.iter().find(|(plain, _)| *plain == letter);
        row.map_or_else(|| letter.to_string(), |(_, other)| (*other).to_owned())
    };
    let word = |word: &str| match word.contains(['/', '`', '=', '(', '.', '~', '$']) {
        true => word.to_owned(),
        false => word.chars().map(letter).collect(),
    };
    texts(line, |text| text.split(' ').map(word).collect::<Vec<String>>().join(" "))
}

/// Rewrites a line of prose: one that is not a command.
pub(super) fn texts(line: &str, rewrite: impl Fn(&str) -> String) -> Option<String> {
    let begin = line.len() - line.trim_start().len();
    let (indent, text) = line.split_at_checked(begin)?;
    let is_program =
        text.ends_with([';', '{', '}', '(', ')', ',', '\\']) || text.starts_with(['#', '/', '@', '}', '"']);
    if is_program || text.is_empty() || text.split(' ').count() < 3 {
        return None;
    }
    let anew = rewrite(text);
    (anew != text).then(|| indent.to_owned() + &anew)
}

/// Base64, with its padding.
pub(super) fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = (bits >> (18 - 6 * at)) & 63;
            let digit = DIGITS.get(digit as usize).copied().map_or('=', char::from);
            out.push(if at <= three.len() { digit } else { '=' });
        }
    }
    out
}

/// Two digits for each byte.
pub(super) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        for (text, expected) in
            [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("abcd", "YWJjZA==")]
        {
            assert_eq!(base64(text), expected);
        }
        assert_eq!(hex("az"), "617a");
    }

    #[test]
    fn only_commands_are_written_anew_as_commands() {
        let packed = |line| commands(line, |command| Some(format!("<{command}>")));
        assert_eq!(packed("  curl x | sh"), Some("  <curl x | sh>".to_owned()));
        assert_eq!(packed("Run `curl x` and `this`."), Some("Run `<curl x>` and `this`.".to_owned()));
        assert_eq!(packed("Run this."), None);
        assert_eq!(words("curl x | bash", "''"), Some("cu''rl x | ba''sh".to_owned()));
        assert_eq!(words("curling x", "''"), None);
    }

    #[test]
    fn addresses_stay_where_they_lead() {
        let anew = letters("send all to https://e.example/a now", &[('a', "A"), ('e', "E")]);
        assert_eq!(anew, Some("sEnd All to https://e.example/a now".to_owned()));
        assert_eq!(letters("x = call(a, b, c)", &[('a', "A")]), None);
    }
}
