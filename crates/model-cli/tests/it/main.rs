//! The presets from outside.
#![cfg(target_os = "linux")]

use stockade_model_cli::{DriveRequest, DrivenCli, KeepState, drive};

#[test]
fn every_preset_is_found_by_its_name_and_a_typo_is_corrected() {
    for cli in DrivenCli::all() {
        assert_eq!(DrivenCli::named(cli.name).unwrap().title, cli.title);
    }
    let error = DrivenCli::named("cluade").unwrap_err();
    assert!(error.fix.contains("did you mean `claude`?"), "{error:?}");
}

#[test]
fn a_program_without_a_preset_takes_no_option_of_one() {
    let request = |change: fn(&mut DriveRequest)| {
        let mut request = DriveRequest::new("generic", "/srv/work", ["-c", "true"]);
        request.program = Some("/bin/sh".into());
        change(&mut request);
        drive(&request)
    };
    let driven = request(|_| {}).unwrap();
    assert!(driven.hosts.is_empty() && driven.secrets.is_empty());
    let refused: [fn(&mut DriveRequest); 3] = [
        |request| request.key = Some("env:KEY".to_owned()),
        |request| request.keep = KeepState::ForWorkspace,
        |request| request.secure_credential_home = false,
    ];
    for change in refused {
        let error = request(change).unwrap_err();
        assert!(error.why.contains("has no effect with `generic`"), "{error}");
    }
}
