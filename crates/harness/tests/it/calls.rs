//! A refusal reaches every harness, and an unreadable payload is an error.

use stockade_harness::HARNESSES;
use stockade_harness::answer::deny;
use stockade_harness::call::read;

#[test]
fn a_refusal_always_has_its_reason() {
    for harness in HARNESSES {
        let said = deny(harness, "the reason");
        let shown = [said.stdout, said.stderr].concat();
        assert!(shown.contains("the reason"), "{}: {shown}", harness.name);
    }
}

#[test]
fn unreadable_payloads_are_errors() {
    for harness in HARNESSES {
        for payload in [&b""[..], b"[]", b"{", b"\xff", b"{\"a\": 1, \"a\": 2}"] {
            assert!(read(harness, payload).is_err(), "{}: {payload:?}", harness.name);
        }
    }
}
