//! Reads lines and prints those from which secrets were taken out, and how many there were:
//! `cargo run --example redact < commands.txt`.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example reads lines and reports to a person"
)]

use std::io::BufRead as _;

use stockade_credentials::Redactor;

fn main() -> std::io::Result<()> {
    let redactor = Redactor::default();
    let (mut lines, mut altered) = (0_u64, 0_u64);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let redacted = redactor.redact(&line);
        lines += 1;
        if redacted != line {
            altered += 1;
            println!("{line}\n    {redacted}");
        }
    }
    println!("{altered} of {lines} lines held what is taken for a secret");
    Ok(())
}
