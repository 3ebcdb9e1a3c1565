//! Requests that are signed and carry no key: version 4 of the signatures of AWS, in a header.
//!
//! In the sandbox, a request is signed with the placeholder. That signature is checked, so that a request signed with another key
//! is not signed here, and then the request is signed anew. The URI encoding of a service is unknown: S3 signs the path as sent,
//! others escape it once more, and some normalise dots before. The encoding that makes the first signature valid is used for the
//! second.

use std::fmt::Write as _;
use stockade_text::to_hex;

use hmac::{Hmac, KeyInit as _, Mac as _};
use hyper::http::{HeaderMap, HeaderValue, request};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::super::target::NetTarget;
use super::percent;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const HASH: &str = "x-amz-content-sha256";
const DATE: &str = "x-amz-date";

/// Bodies whose pieces are signed one by one.
const SIGNED_IN_PIECES: &str = "STREAMING-AWS4";

/// The most headers that a signature is about.
const MAX_HEADERS: usize = 64;

/// What `Authorization` says of a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signed {
    credential: String,
    /// The day, the region, the service and the last word.
    scope: [String; 4],
    headers: Vec<String>,
    signature: String,
}

impl Signed {
    /// Reads `Authorization`.
    ///
    /// # Errors
    /// When it is no such signature.
    pub(super) fn read(value: &[u8]) -> Result<Self, &'static str> {
        const WRONG: &str = "this one has no signature of version 4";
        let text = std::str::from_utf8(value).map_err(|_| WRONG)?;
        let rest = text.strip_prefix(ALGORITHM).and_then(|rest| rest.strip_prefix(' ')).ok_or(WRONG)?;
        let (mut credential, mut headers, mut signature) = (None, None, None);
        for part in rest.split(',') {
            let (name, value) = part.trim().split_once('=').ok_or(WRONG)?;
            let place = match name {
                "Credential" => &mut credential,
                "SignedHeaders" => &mut headers,
                "Signature" => &mut signature,
                _ => return Err(WRONG),
            };
            // A repeated part could be read differently by the service, so it is refused.
            if place.replace(value.to_owned()).is_some() {
                return Err(WRONG);
            }
        }
        let (Some(credential), Some(headers), Some(signature)) = (credential, headers, signature) else {
            return Err(WRONG);
        };
        let mut parts = credential.split('/').skip(1).map(str::to_owned);
        let scope = [parts.next(), parts.next(), parts.next(), parts.next()];
        let [Some(day), Some(region), Some(service), Some(last)] = scope else { return Err(WRONG) };
        if parts.next().is_some() || last != "aws4_request" {
            return Err(WRONG);
        }
        drop(parts);
        let headers: Vec<_> = headers.split(';').map(str::to_owned).collect();
        // Without the host in the signature, the signed request could be replayed to another service of AWS.
        if headers.len() > MAX_HEADERS || !headers.iter().any(|name| name == "host") {
            return Err("its signature is not about its host");
        }
        Ok(Self { credential, scope: [day, region, service, last], headers, signature })
    }

    /// Signs a request with the second key that was signed with the first: `before` are its headers as they were then, and
    /// `hash` the payload hash of its body.
    ///
    /// # Errors
    /// When it was not signed with the first key.
    pub(super) fn anew(
        &self,
        before: &HeaderMap,
        head: &request::Parts,
        target: &NetTarget,
        hash: &str,
        (placeholder, key): (&str, &[u8]),
    ) -> Result<HeaderValue, &'static str> {
        let (path, query) = (head.uri.path(), canonical_query(head.uri.query().unwrap_or_default()));
        let request = |headers: &HeaderMap, names: &[String], path: &str| {
            let lines = canonical_headers(headers, names, target)?;
            let names = names.join(";");
            Some(format!("{}\n{path}\n{query}\n{lines}\n{names}\n{hash}", head.method))
        };
        let spelling = SPELLINGS.iter().find(|spelling| {
            let request = request(before, &self.headers, &spelling(path));
            request.and_then(|text| self.sign(before, &text, placeholder.as_bytes())).as_ref()
                // Not compared in constant time: the placeholder is not secret, the command has it.
                == Some(&self.signature)
        });
        let spelling = spelling.ok_or("this one was signed with another key, or changed after signing")?;
        // What was taken out since then is not signed any more.
        let is_there = |name: &&String| *name == "host" || head.headers.contains_key(name.as_str());
        // The proxy removes hop-by-hop headers such as `connection`, which some SDKs sign.
        let names: Vec<String> = self.headers.iter().filter(is_there).cloned().collect();
        let new = request(&head.headers, &names, &spelling(path))
            .and_then(|text| self.sign(&head.headers, &text, key));
        let new = new.ok_or("a signed header is missing")?;
        let (credential, names) = (&self.credential, names.join(";"));
        let value = format!("{ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={new}");
        HeaderValue::from_str(&value).map_err(|_| "its signature cannot be written")
    }

    fn sign(&self, headers: &HeaderMap, canonical: &str, key: &[u8]) -> Option<String> {
        let date = headers.get(DATE)?.to_str().ok()?;
        let text = format!("{ALGORITHM}\n{date}\n{}\n{}", self.scope.join("/"), hash(canonical.as_bytes()));
        let first: Zeroizing<Vec<u8>> = Zeroizing::new([b"AWS4", key].concat());
        let key = self.scope.iter().try_fold(first, |key, part| Some(Zeroizing::new(mac(&key, part)?)))?;
        Some(to_hex(&mac(&key, &text)?))
    }
}

/// One line for each header that is signed; nothing if one is missing.
fn canonical_headers(headers: &HeaderMap, names: &[String], target: &NetTarget) -> Option<String> {
    let mut lines = String::new();
    for name in names {
        let mut values: Vec<String> = headers
            .get_all(name.as_str())
            .iter()
            .map(|value| value.to_str().map(plain_blanks))
            .collect::<Result<_, _>>()
            .ok()?;
        if values.is_empty() && name == "host" {
            // HTTP/2 has no `host` header, but the signature is about one.
            values.push(match target.port {
                Some(80 | 443) | None => target.host.to_string(),
                Some(_) => target.to_string(),
            });
        }
        if values.is_empty() {
            return None;
        }
        // Writing to a text does not fail.
        writeln!(lines, "{name}:{}", values.join(",")).ok();
    }
    Some(lines)
}

/// Returns the declared payload hash of a request, or `None` when it equals the hash of the body.
///
/// # Errors
/// When the body is signed as well.
pub(super) fn payload_hash(headers: &HeaderMap) -> Result<Option<String>, &'static str> {
    let Some(value) = headers.get(HASH) else { return Ok(None) };
    let text = value.to_str().map_err(|_| "its payload hash is not text")?;
    // The signature of each chunk depends on the previous one, so all would have to be computed again while
    // streaming.
    if text.starts_with(SIGNED_IN_PIECES) {
        return Err(
            "the body has chunk signatures, which are not supported: send it unsigned or in one piece",
        );
    }
    Ok(Some(text.to_owned()))
}

/// How paths are spelled in what is signed.
const SPELLINGS: &[fn(&str) -> String] =
    &[str::to_owned, escaped, |path| without_dots(path), |path| escaped(&without_dots(path))];

fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for (number, segment) in path.split('/').enumerate() {
        if number > 0 {
            out.push('/');
        }
        percent::encode(segment.as_bytes(), &mut out);
    }
    out
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let is_folder = path.ends_with('/') && !kept.is_empty();
    format!("/{}{}", kept.join("/"), if is_folder { "/" } else { "" })
}

/// The names and values of a query, each escaped in one way, in their order.
fn canonical_query(query: &str) -> String {
    let anew = |text: &str| {
        // A plus is itself here.
        let mut out = String::with_capacity(text.len());
        // Decoded and encoded again, because the client may have escaped more or less than the canonical form
        // requires.
        percent::encode(&percent::decoded(&text.replace('+', "%2B")), &mut out);
        out
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<_> = pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(n, v)| (anew(n), anew(v)))
        .collect();
    // AWS sorts by encoded names, and then by values.
    pairs.sort();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Without blanks at its ends, and with one in the place of several.
fn plain_blanks(value: &str) -> String {
    value.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The hash of a body, in hexadecimal.
pub(super) fn hash(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

fn mac(key: &[u8], text: &str) -> Option<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(text.as_bytes());
    Some(mac.finalize().into_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of the vectors that AWS publishes (aws-signing-test-suite), and what they all have in common.
    const KEY: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    const SCOPE: &str = "Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request";

    fn request(path: &str, headers: &[(&str, &str)]) -> (request::Parts, NetTarget) {
        let mut request = hyper::http::Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header("host", "example.amazonaws.com").header(DATE, "20150830T123600Z");
        (request.body(()).unwrap().into_parts().0, NetTarget::parse("example.amazonaws.com:443").unwrap())
    }

    type Vector = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);

    /// The rows of the suite that need no header of a form that HTTP has not any more: path, headers, names, signature.
    #[rustfmt::skip]
    const VECTORS: &[Vector] = &[
        ("/?Param2=value2&Param1=value1", &[], "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        ("/%E1%88%B4", &[], "host;x-amz-date", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
        ("/", &[("my-header1", "value2"), ("my-header1", "value2"), ("my-header1", "value1")], "host;my-header1;x-amz-date",
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"),
        ("/", &[("my-header1", "value1"), ("my-header2", "\"a   b   c\"")], "host;my-header1;my-header2;x-amz-date",
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"),
        ("//example//", &[], "host;x-amz-date", "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"),
        ("/./", &[], "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("/", &[("x-amz-security-token", "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267")],
            "host;x-amz-date;x-amz-security-token", "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"),
        ("/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1", &[], "host;x-amz-date", "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"),
        ("/example%20space/", &[], "host;x-amz-date", "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
        ("/?Param1=value1", &[], "host;x-amz-date", "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"),
        ("/?%E1%88%B4=bar", &[], "host;x-amz-date", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
    ];

    fn authorization(names: &str, signature: &str) -> String {
        format!("{ALGORITHM} {SCOPE}, SignedHeaders={names}, Signature={signature}")
    }

    #[test]
    fn the_vectors_of_aws_hold_and_are_what_is_signed_anew() {
        let placeholder = "0123456789abcdefghijABCDEFGHIJ0123456789";
        for (path, headers, names, signature) in VECTORS {
            let (head, target) = request(path, headers);
            let published = authorization(names, signature);
            let signed = Signed::read(published.as_bytes()).unwrap();
            let none = hash(b"");
            // Away from the published key, and back to it.
            let away =
                signed.anew(&head.headers, &head, &target, &none, (KEY, placeholder.as_bytes())).unwrap();
            assert_ne!(away, published, "{path}");
            let signed = Signed::read(away.as_bytes()).unwrap();
            let back = signed.anew(&head.headers, &head, &target, &none, (placeholder, KEY.as_bytes()));
            assert_eq!(back.unwrap(), published, "{path}");
            // What was signed with the published key was not signed with the placeholder.
            let other = Signed::read(published.as_bytes()).unwrap();
            assert!(
                other.anew(&head.headers, &head, &target, &none, (placeholder, KEY.as_bytes())).is_err(),
                "{path}"
            );
        }
    }

    #[test]
    fn a_body_is_a_part_of_what_is_signed() {
        let body = "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e";
        let headers =
            [("content-type", "application/x-www-form-urlencoded"), ("content-length", "13"), (HASH, body)];
        let (mut head, target) = request("/", &headers);
        head.method = hyper::http::Method::POST;
        assert_eq!(hash(b"Param1=value1"), body);
        assert_eq!(payload_hash(&head.headers), Ok(Some(body.to_owned())));
        let names = "content-length;content-type;host;x-amz-content-sha256;x-amz-date";
        let published = "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b";
        let signed = Signed::read(authorization(names, published).as_bytes()).unwrap();
        assert!(signed.anew(&head.headers, &head, &target, body, (KEY, b"other-key")).is_ok());
        assert!(signed.anew(&head.headers, &head, &target, &hash(b""), (KEY, b"other-key")).is_err());
        head.headers.insert(HASH, HeaderValue::from_static("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"));
        assert!(payload_hash(&head.headers).is_err());
    }

    #[test]
    fn what_is_taken_out_is_signed_no_more() {
        let (mut head, target) = request("/", &[("range", "bytes=0-30")]);
        let with = head.headers.clone();
        head.headers.remove("range");
        let authorization_of = |names: &str, headers: &HeaderMap, key: &str| {
            let mut signed = Signed::read(authorization(names, "0").as_bytes()).unwrap();
            let lines = canonical_headers(headers, &signed.headers, &target).unwrap();
            let text = format!("GET\n/\n\n{lines}\n{names}\n{}", hash(b""));
            signed.signature = signed.sign(headers, &text, key.as_bytes()).unwrap();
            signed
        };
        let asked = authorization_of("host;range;x-amz-date", &with, "placeholder");
        let expected = authorization_of("host;x-amz-date", &head.headers, "the key");
        let anew = asked.anew(&with, &head, &target, &hash(b""), ("placeholder", b"the key")).unwrap();
        assert_eq!(Signed::read(anew.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn what_is_no_signature_is_none() {
        for text in [
            "Bearer x",
            "AWS4-HMAC-SHA256",
            "AWS4-HMAC-SHA256 Credential=A/1/r/s/aws4_request, SignedHeaders=host",
            "AWS4-HMAC-SHA256 Credential=A/1/r/s/aws4_request, SignedHeaders=x-amz-date, Signature=0",
            "AWS4-HMAC-SHA256 Credential=A/1/r/s/x, SignedHeaders=host, Signature=0",
            "AWS4-HMAC-SHA256 Credential=A/1/r, SignedHeaders=host, Signature=0",
            "AWS4-HMAC-SHA256 Credential=A/1/r/s/aws4_request, SignedHeaders=host, Signature=0, Signature=0",
            "AWS4-ECDSA-P256-SHA256 Credential=A/1/r/s/aws4_request, SignedHeaders=host, Signature=0",
        ] {
            assert!(Signed::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
