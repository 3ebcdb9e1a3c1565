//! `.git-credentials`: a URL with a user and a password in each line.

use crate::draft::{Draft, Spelling, secret_of};
use crate::file::LoginFileError;
use crate::login::{Destination, Login};

pub(crate) fn read(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((scheme, rest)) = line.split_once("://") else {
            return Err(LoginFileError::new("has a line that is not a URL"));
        };
        // A password may contain an `@` that is not escaped.
        let end = rest.rfind('@');
        let Some((login, to)) = end.and_then(|end| Some((rest.get(..end)?, rest.get(end + 1..)?))) else {
            continue;
        };
        let (host, _) = to.split_once('/').unwrap_or((to, ""));
        if scheme != "https" {
            draft.leave_out(host, "is not for https");
            continue;
        }
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (Some(user), Some(password)) = (unescaped(user), unescaped(password)) else {
            draft.leave_out(host, "has an escape that is not valid");
            continue;
        };
        let (secret, spelling) = secret_of(&user, &password);
        let place = vec![Destination::new(host, "", "basic")];
        let Some(number) = draft.take(Login::new(host, &secret, place)) else { continue };
        let mark = draft.mark(number, Spelling::Plain);
        let pair = match spelling {
            Spelling::UserInBase64(password) => format!("{mark}:{}", escaped(&password)),
            _ => format!("{}:{mark}", escaped(&user)),
        };
        draft.text.push_str(&format!("https://{pair}@{to}\n"));
    }
    Ok(())
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

fn escaped(text: &str) -> String {
    let spell = |byte: u8| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(spell).collect()
}
