//! Properties of every input, however hostile. The fuzz target calls this function; ordinary tests replay the seeds and random texts
//! through it.

use stockade_credentials::{
    Redactor, contains_secret, is_credential_header, is_credential_parameter, sensitivity,
};

/// A token that no text before it may hide.
const TOKEN: &str = "ghp_4KqW9ZxT2mLb7RcV1nYd8HsG3fJp6QaE5uOi";

/// A value that only the caller knows to be a secret.
const KNOWN: &str = "correct horse battery";

/// Redaction is bounded, and no text before a secret hides it: neither a token with a known shape nor a known value.
pub(crate) fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let redactor = Redactor::default().hide([KNOWN]);
    let with_secrets = format!("{text}\n{TOKEN}\n{KNOWN}\n");
    let redacted = redactor.redact(&with_secrets);
    assert!(!redacted.contains(TOKEN) && !redacted.contains(KNOWN), "{redacted}");
    assert!(redacted.len() <= with_secrets.len() * ("[redacted]".len() + 1));
    assert!(contains_secret(with_secrets.as_bytes()));
    let words: Vec<String> = with_secrets.split(' ').map(str::to_owned).collect();
    assert_eq!(redactor.redact_words(&words).len(), words.len());
    // How an option is written says nothing about its name.
    let (name, _) = text.split_once(['=', ':']).unwrap_or((&text, ""));
    if name.chars().count() < 64 {
        assert_eq!(sensitivity(name), sensitivity(&format!("--{name}")), "{name}");
    }
    // `_` and `-` are the same in a header.
    assert_eq!(is_credential_header(name), is_credential_header(&name.replace('_', "-")), "{name}");
    assert!(is_credential_header(name) || !is_credential_parameter(name), "{name}");
}
