//! `cargo run --release -p stockade-egress --example scrub -- FILE…`: the speed at which responses are scrubbed of five secrets.
#![cfg_attr(
    target_os = "linux",
    expect(
        clippy::disallowed_methods,
        clippy::print_stdout,
        clippy::cast_precision_loss,
        reason = "measures"
    )
)]

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::sync::Arc;
    use std::time::Instant;

    use stockade_egress::{ScrubbedStream, Scrubber};

    /// The length of the pieces in which a response arrives.
    const PIECE: usize = 16 << 10;
    const TIMES: usize = 8;

    let secrets: [(&[u8], &str); 5] = [
        (b"ghp_x7Qm2Rk9Vt4Lw8Zb3Nc6Hd1Js5Gf0PyAeUiO", "1"),
        (b"sk-ant-api03-Zx8Cv7Bn6Mq5Wl4Er3Tk2Yj1Uh0", "2"),
        (b"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzK9pQ4mV2t", "3"),
        (b"correct horse battery staple", "4"),
        (b"5f2b7c1d9e8a4036bd51c7e2f0a9d384", "5"),
    ];
    let scrubber = Arc::new(Scrubber::new(&secrets)?);
    for file in std::env::args_os().skip(1) {
        let text = std::fs::read(&file)?;
        let mut out = Vec::with_capacity(2 * PIECE);
        let (began, mut changed) = (Instant::now(), 0);
        for _ in 0..TIMES {
            let mut stream = ScrubbedStream::new(Arc::clone(&scrubber));
            for piece in text.chunks(PIECE) {
                stream.push(piece, &mut out);
                changed += out.len();
                out.clear();
            }
            stream.finish(&mut out);
        }
        let bytes = text.len() * TIMES;
        println!(
            "{}: {bytes} bytes, {:.0} MB/s",
            file.display(),
            bytes as f64 / 1e6 / began.elapsed().as_secs_f64()
        );
        assert!(changed <= bytes);
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
