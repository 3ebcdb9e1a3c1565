use crate::rule::{Category, Exception, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "OBF_BASE64_LONG",
    category: Category::ObfuscatedEncoding,
    severity: Severity::Warn,
    summary: "Long base64-encoded string (80+ chars)",
    remedy: "Put the decoded text in its place, or ship the data as a file of its own.",
    patterns: &[
        Pattern {
            note: "in one piece, of either alphabet",
            regex: r"[A-Za-z0-9+/_-]{80,}={0,2}",
            regions: Regions::ANY,
            exceptions: &[
                // Digests, words and paths in one case; rulers.
                Exception::Match(
                    r"^(?:[a-z0-9/_-]+|[0-9a-fA-F]*[0-9][0-9A-F]*|[A-Z0-9]*_[A-Z0-9_]*|[^A-Za-z0-9]*)$",
                ),
                Exception::Match(r"^(?:[A-Za-z0-9+]{0,39}[-_]{8,})+[A-Za-z0-9+]{0,39}$|^[xX]+$"),
                // Paths and slugs: every piece between separators is short, as no long base64 text is.
                Exception::Match(r"^/?(?:[\w-]{1,32}/){3,}[\w-]{0,40}$"),
                // The path of an address: what follows `?` or `#` is examined.
                Exception::Before(r"(?i)https?://[^\s\x22'<>?#=]*$"),
                // Tokens, certificates, signatures and signed data have a structure of their own. Bare JSON may be a
                // program.
                Exception::After(r"^\.[A-Za-z0-9_-]{16,}"),
                Exception::Before(r"\beyJ[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]+\.)?$"),
                Exception::Match(
                    r"^(?:MI[IGE]|M[EG][QUY][A-Za-z0-9+/]{70,140}={0,2}$|ewogICJfdHlwZSI6|eyJfdHlwZSI6)",
                ),
                // An image, a font or a sound is not a program: its first bytes identify it.
                Exception::Match(
                    r"^(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|AAABAA|AAAA[A-Za-z0-9+/]{2}Z0eX|d09GM|d09GR|AAEAAA|T1RUT|SUQz|//[uv])",
                ),
                // Checksums of packages.
                Exception::Match(r"^sha(?:384|512)-[A-Za-z0-9+/]{64,86}={0,2}$"),
                Exception::Before(r"(?i)\bsha(?:384|512)[:=]$"),
            ],
        },
        Pattern {
            note: "wrapped to lines, as mail and openssl do",
            regex: r"(?:-----BEGIN [A-Z ]{3,40}-----\r?\n)?(?:^[ \t]{0,8}[A-Za-z0-9+/]{56,79}\r?\n)+[ \t]{0,8}[A-Za-z0-9+/]{4,79}={0,2}",
            regions: Regions::ANY,
            exceptions: &[Exception::Match(r"^-----BEGIN |^[ \t]*(?:[a-z0-9/]+|[0-9a-fA-F]*[0-9][0-9A-F]*)")],
        },
    ],
    matches: &[
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-",
        "eyJhIjoxLCJiIjoyfQppbXBvcnQgb3MKZm9yIGkgaW4gcmFuZ2UoMTAwKToKICAgIHByaW50KGksIGkgKiBpLCBvcy5zZXAp",
        "data:image/png;base64,aW1wb3J0IG9zLHN5cyxqc29uCmZvciBpIGluIHJhbmdlKDEwMCk6CiAgICBwcmludChpLCBpICogaSwgb3Muc2VwKQ==",
        "Y3VybCAtcyBodHRwczovL2UuZXhhbXBsZS9wIC1vIC90bXAvcCAmJiBzaCAvdG1wL3AgIyAg////////////////////",
        "aW1wb3J0IG9zLHN5cwpmb3IgaSBpbiByYW5nZSgxMDApOgogICAgcHJpbnQoaSkKaW1wb3J0IG9zLHN5cwpmb3IgaSBp\n",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0\nNTY3ODlBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWg==\n",
    ],
    clean: &[
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyLCJhZG1pbiI6dHJ1ZX0.TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ",
        "Token: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "sha512: 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f",
        "/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/",
        "/Users/Someone/Library/Application/Support/Code/User/workspaceStorage/Some-Long-Folder-Name/State",
        "------------------------------------------------------------------------------------------",
        "https://github.com/NVIDIA-Medtech/NV-Segment-CTMR/tree/f9f5f51b589e5dc9c23c453cf5138398e4084056/NV-Segment",
        "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
    ],
};
