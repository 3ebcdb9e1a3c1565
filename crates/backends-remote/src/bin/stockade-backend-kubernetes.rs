//! The program `stockade-backend-kubernetes`, which `stockade` starts for `--backend kubernetes`.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    stockade_backends_remote::backend_program(
        stockade_backends_remote::kubernetes::KubernetesBackend::default(),
    )
}

/// Elsewhere, commands do not run in backends that were added.
#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}
