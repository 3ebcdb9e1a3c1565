//! Signatures in the format of minisign, made by openssl, so that users check them by either program.
//!
//! What is signed is the BLAKE2b hash of the file (`ED`). A second signature covers the first and the trusted comment.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::{Program, Stop};

/// A private key of Ed25519 in a file, as `openssl genpkey -algorithm ed25519` writes it.
pub(crate) struct SigningKey {
    file: PathBuf,
    /// Where intermediate files are written.
    work: PathBuf,
    public: Vec<u8>,
}

/// The file of the key of a dry run.
pub(crate) const THROWAWAY: &str = "throwaway.pem";

impl SigningKey {
    /// Makes a key that signs a dry run, and is worth nothing afterwards.
    pub(crate) fn throwaway(work: &Path) -> Result<Self, Stop> {
        let file = work.join(THROWAWAY);
        succeed(&openssl().args(["genpkey", "-algorithm", "ed25519", "-out"]).arg(&file))?;
        Self::read(&file, work)
    }

    /// Uses the key in a file.
    pub(crate) fn read(file: &Path, work: &Path) -> Result<Self, Stop> {
        let der = work.join("public.der");
        let export = openssl().args(["pkey", "-pubout", "-outform", "DER", "-in"]).arg(file);
        succeed(&export.arg("-out").arg(&der))?;
        let der = read(&der)?;
        // Twelve bytes name the algorithm, and the key follows.
        let public = der.strip_prefix(b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00".as_slice());
        let public = public.filter(|key| key.len() == 32).map(<[u8]>::to_vec);
        let public =
            public.ok_or_else(|| Stop::failed(format!("{} is not a key of Ed25519", file.display())))?;
        Ok(Self { file: file.to_owned(), work: work.to_owned(), public })
    }

    /// The public key, as minisign writes it in one line.
    pub(crate) fn public(&self) -> String {
        base64(&[b"Ed".as_slice(), self.id(), &self.public].concat())
    }

    /// Eight bytes by which a signature names its key.
    fn id(&self) -> &[u8] {
        self.public.get(..8).unwrap_or_default()
    }

    /// Writes the signature of a file beside it.
    pub(crate) fn sign(&self, file: &Path, comment: &str) -> Result<(), Stop> {
        let hash = self.work.join("hash");
        succeed(&openssl().args(["dgst", "-blake2b512", "-binary", "-out"]).arg(&hash).arg(file))?;
        let signature = self.sign_bytes(&read(&hash)?)?;
        let whole = self.sign_bytes(&[&signature, comment.as_bytes()].concat())?;
        let packet = base64(&[b"ED".as_slice(), self.id(), &signature].concat());
        let text = format!(
            "untrusted comment: signature of a release of stockade\n{packet}\ntrusted comment: {comment}\n{}\n",
            base64(&whole)
        );
        let name = format!("{}.minisig", file.display());
        fs::write(&name, text).map_err(|error| Stop::failed(format!("cannot write {name}: {error}")))
    }

    fn sign_bytes(&self, bytes: &[u8]) -> Result<Vec<u8>, Stop> {
        let (message, signature) = (self.work.join("message"), self.work.join("signature"));
        fs::write(&message, bytes).map_err(|error| Stop::failed(format!("cannot sign: {error}")))?;
        let sign = openssl().args(["pkeyutl", "-sign", "-rawin", "-inkey"]).arg(&self.file);
        succeed(&sign.arg("-in").arg(message).arg("-out").arg(&signature))?;
        read(&signature)
    }
}

fn openssl() -> Program {
    Program::new("openssl")
}

fn succeed(program: &Program) -> Result<(), Stop> {
    program.read().map(drop).map_err(|error| Stop::failed(error.to_string()))
}

fn read(file: &Path) -> Result<Vec<u8>, Stop> {
    fs::read(file).map_err(|error| Stop::failed(format!("cannot read {}: {error}", file.display())))
}

/// Base64 of RFC 4648 with padding.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_usize, |all, at| all << 8 | usize::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let letter = LETTERS.get(bits >> (18 - 6 * at) & 63).copied().unwrap_or(b'=');
            out.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
