//! What is true of every manifest, whatever the text is. Fuzz targets call these too.

/// Every text is a manifest, or is refused with what is wrong. What is one is read the same from its canonical text, and
/// no text of it becomes an option of docker.
pub(crate) fn container(data: &[u8]) {
    use stockade_package::{ContainerManifest, ContainerOptions};

    let text = String::from_utf8_lossy(data);
    let manifest = match ContainerManifest::parse(&text, |_| true) {
        Ok(manifest) => manifest,
        Err(errors) => {
            assert!(!errors.problems.is_empty());
            assert!(errors.problems.iter().all(|problem| !problem.fix.is_empty() && problem.line > 0));
            return;
        }
    };
    let signature = format!("0x{}", "00".repeat(65));
    let again = manifest.canonical().replacen('{', &format!("{{\"signature\":\"{signature}\","), 1);
    let again = ContainerManifest::parse(&again, |_| true).unwrap();
    assert_eq!((again.canonical(), again.hash()), (manifest.canonical(), manifest.hash()));
    let args = manifest.docker_args(&ContainerOptions::default()).unwrap();
    let name = manifest.name();
    assert_eq!(args.docker.last(), Some(&format!("iscl-skill-{name}:latest")));
    assert!(
        args.docker
            .iter()
            .filter(|word| word.starts_with("--"))
            .all(|word| word.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase()))
    );
    let _: Result<_, _> = manifest.signer();
}
