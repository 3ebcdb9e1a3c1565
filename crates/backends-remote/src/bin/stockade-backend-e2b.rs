//! The program `stockade-backend-e2b`, which `stockade` starts for `--backend e2b`.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    stockade_backends_remote::backend_program(stockade_backends_remote::e2b::E2bBackend)
}

/// Elsewhere, commands do not run in backends that were added.
#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
