//! Crashes on inputs that begin with `bird!` and a certain number. Blind trials would need 2^72 of them; a fuzzer
//! with coverage and comparison feedback needs less than a second.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| if sings(data) {
    panic!("the planted crash was found");
});

// The letters are compared one by one: each right one is a new branch, which the fuzzer keeps and extends.
fn sings(data: &[u8]) -> bool {
    let [a, b, c, d, e, number @ ..] = data else { return false };
    let word = *a == b'b' && *b == b'i' && *c == b'r' && *d == b'd' && *e == b'!';
    word && number.first_chunk().is_some_and(|number| u32::from_le_bytes(*number) == 0x1234_5678)
}
