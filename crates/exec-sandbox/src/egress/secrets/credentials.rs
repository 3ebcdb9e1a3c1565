//! Which headers and parts of a query say who somebody is: where a host gets a secret, no other of them goes along.

/// Names that are credentials and do not end as such.
const HEADERS: &[&str] = &[
    "authorization",
    "authentication",
    "cookie",
    "x-honeycomb-team",
    "x-auth",
    "x-password",
    "x-apikey",
    "apikey",
];

/// How names of headers end that are credentials.
const ENDS: &[&str] =
    &["-authorization", "-token", "-key", "-secret", "-auth", "-password", "-credential", "-apikey"];

/// Names that end so and say nothing of the kind.
const NO_CREDENTIALS: &[&str] = &[
    "sec-websocket-key",
    "idempotency-key",
    "x-idempotency-key",
    "surrogate-key",
    "x-surrogate-key",
    "x-csrf-token",
    "x-xsrf-token",
    "csrf-token",
    "x-amz-copy-source-server-side-encryption-customer-key",
];

/// Names in a query, in small letters.
const IN_QUERIES: &[&str] = &[
    "access_token",
    "accesstoken",
    "api_key",
    "apikey",
    "api-key",
    "auth",
    "auth_token",
    "authorization",
    "client_secret",
    "key",
    "oauth_token",
    "password",
    "private_token",
    "secret",
    "sig",
    "signature",
    "token",
    "x-amz-credential",
    "x-amz-security-token",
    "x-amz-signature",
    "x-goog-credential",
    "x-goog-signature",
];

/// Returns whether a header, in small letters, says who somebody is.
pub(super) fn is_header(name: &str) -> bool {
    let plain = name.replace('_', "-");
    let ends_so = ENDS.iter().any(|end| plain.ends_with(end));
    (HEADERS.contains(&plain.as_str()) || ends_so) && !NO_CREDENTIALS.contains(&name)
}

/// Returns whether a name in a query does, as it reads when it is decoded.
pub(super) fn is_in_query(name: &str) -> bool {
    IN_QUERIES.iter().any(|one| name.eq_ignore_ascii_case(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_what_looks_like_them() {
        for name in [
            "authorization",
            "proxy-authorization",
            "cookie",
            "x-api-key",
            "api-key",
            "x-goog-api-key",
            "private-token",
            "job-token",
            "x-vault-token",
            "x-amz-security-token",
            "x-functions-key",
            "ocp-apim-subscription-key",
            "x-auth-token",
        ] {
            assert!(is_header(name), "{name}");
        }
        for name in
            ["accept", "content-type", "idempotency-key", "sec-websocket-key", "user-agent", "x-csrf-token"]
        {
            assert!(!is_header(name), "{name}");
        }
        assert!(is_in_query("Access_Token") && is_in_query("X-Amz-Signature") && !is_in_query("page"));
    }
}
