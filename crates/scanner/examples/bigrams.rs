//! Counts which bytes follow each other in the files of a folder and prints the model that the sieve chooses its windows
//! by: `cargo run --example bigrams -- FOLDER > src/sieve/bigrams.txt`.

#![expect(clippy::disallowed_methods, reason = "reads the folder that it counts")]
#![expect(clippy::print_stdout, reason = "its output is the model")]

use std::path::Path;
use std::{env, fs, io};

#[path = "../src/sieve/byte_kind.rs"]
mod byte_kind;

use byte_kind::{KINDS, kind};

fn main() -> io::Result<()> {
    let mut counts = vec![[0.25; KINDS]; KINDS];
    for folder in env::args_os().skip(1) {
        count_folder(Path::new(&folder), &mut counts)?;
    }
    let total: f64 = counts.iter().flatten().sum();
    for line in &counts {
        println!("{}", line.iter().map(|count| symbol(count / total)).collect::<String>());
    }
    Ok(())
}

fn count_folder(folder: &Path, counts: &mut [[f64; KINDS]]) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            count_folder(&path, counts)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            count(&fs::read(&path)?, counts);
        }
    }
    Ok(())
}

fn count(text: &[u8], counts: &mut [[f64; KINDS]]) {
    for pair in text.windows(2) {
        if let &[first, second] = pair
            && let Some(count) = counts.get_mut(kind(first)).and_then(|line| line.get_mut(kind(second)))
        {
            *count += 1.0;
        }
    }
}

/// A probability as one character, a quarter of a bit each.
fn symbol(probability: f64) -> char {
    let quarters = (-4.0 * probability.log2()).round().clamp(0.0, f64::from(b'~' - b'!'));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a few dozen")]
    char::from(b'!' + quarters as u8)
}
