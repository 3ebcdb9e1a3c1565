//! Login files that a command gets with placeholders: its tools log in, and it never sees a secret.
#![expect(clippy::disallowed_methods, reason = "writes login files and runs programs")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::secrets::{Echo, text};
use super::support::STOCKADE;

const REAL: &str = "npm_REALrealREALrealREALrealREALreal0001";

/// The login files of a user who has logged in to the server, and to another one.
fn home(folder: &Path, to: &str) {
    let pair = |password: &str| STANDARD.encode(format!("me:{password}"));
    let write = |below: &str, text: String| {
        let path = folder.join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    write(
        ".npmrc",
        format!(
            "; mine\nregistry=http://{to}/\n//{to}/:_authToken={REAL}\n//other.example/:_authToken={REAL}2\n"
        ),
    );
    write(
        ".docker/config.json",
        format!(
            "{{\"auths\": {{\"{to}\": {{\"auth\": \"{}\"}}, \"other.example\": {{\"auth\": \"{}\"}}}}}}",
            pair(REAL),
            pair("other-password")
        ),
    );
    write(".netrc", "machine other.example login me password other-password\n".to_owned());
    write(".config/gh/hosts.yml", "github.com:\n    user: me\n".to_owned());
    write(".git-credentials", "not a URL".to_owned());
    write(".pypirc", format!("[own]\nrepository = https://{to}/\nusername = {REAL}\npassword = {REAL}\n"));
}

fn run(folder: &Path, to: &str, words: &[&str], script: &str) -> Output {
    let work = folder.join("work");
    fs::create_dir_all(&work).unwrap();
    home(folder, to);
    Command::new(STOCKADE)
        .args(["exec", "--no-rules", "--allow-host", to])
        .args(words.iter().map(|word| word.replace('~', folder.to_str().unwrap())))
        .args(["--", "sh", "-c", &script.replace("{to}", to)])
        .env("HOME", folder)
        .current_dir(&work)
        .output()
        .unwrap()
}

#[test]
fn tools_log_in_with_a_copy_of_their_login_file() {
    if !Path::new("/usr/bin/curl").is_file() {
        println!("skipped: there is no curl");
        return;
    }
    let (echo, folder) = (Echo::start(), tempfile::tempdir().unwrap());
    let (folder, to) = (folder.path().canonicalize().unwrap(), format!("127.0.0.1:{}", echo.port));
    let audit = format!("--audit={}", folder.join("trail.jsonl").display());
    let script = "cat ~/.npmrc; env; curl -sS -H \"Authorization: Bearer $(sed -n s/.*_authToken=//p ~/.npmrc)\" http://{to}/x";
    let output = run(&folder, &to, &["--login", "~/.npmrc", &audit], script);
    let (said, heard) = (text(&output), echo.heard());
    assert!(heard.contains(&format!("Bearer {REAL}\r\n")), "{said}\n{heard}");
    assert!(
        said.contains(&format!("//{to}/:_authToken=npm_"))
            && said.contains(&format!("registry=http://{to}/")),
        "{said}"
    );
    for hidden in [REAL, "REALreal", "; mine", "other.example"] {
        assert!(!said.contains(hidden), "{hidden}: {said}");
    }
    let recorded = fs::read_to_string(folder.join("trail.jsonl")).unwrap();
    assert!(
        recorded.contains(&format!("\"secrets\":[\"~/.npmrc:{to}\"]")) && !recorded.contains(REAL),
        "{recorded}"
    );

    // A password that the file holds in base64, together with another login file.
    let script = "cat ~/.docker/config.json; curl -sS -H \"Authorization: Basic $(sed -n 's/.*\"auth\": \"\\([^\"]*\\).*/\\1/p' ~/.docker/config.json)\" \
                  http://{to}/v2/";
    let output = run(&folder, &to, &["--login", "~/.docker/config.json"], script);
    let (said, heard) = (text(&output), echo.heard());
    let real = STANDARD.encode(format!("me:{REAL}"));
    assert!(heard.contains(&format!("Basic {real}\r\n")), "{said}\n{heard}");
    assert!(!said.contains(&real) && !said.contains("other.example"), "{said}");

    // Elsewhere, the placeholder is refused like that of any secret.
    let script = "curl -sS --data \"$(cat ~/.npmrc)\" http://{to}/x";
    let output = run(&folder, &to, &["--login", "~/.npmrc"], script);
    assert!(text(&output).contains("secret-elsewhere"), "{}", text(&output));
    assert!(!echo.heard().contains(REAL));
}

#[test]
fn npm_is_logged_in() {
    let npm = Command::new("npm").arg("--version").output();
    if !npm.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no npm");
        return;
    }
    let (echo, folder) = (Echo::start(), tempfile::tempdir().unwrap());
    let (folder, to) = (folder.path().canonicalize().unwrap(), format!("127.0.0.1:{}", echo.port));
    let output = run(&folder, &to, &["--login", "~/.npmrc"], "npm whoami");
    // The server is no registry; what counts is the request.
    let heard = echo.heard();
    assert!(
        heard.contains("GET /-/whoami") && heard.contains(&format!("Bearer {REAL}\r\n")),
        "{}\n{heard}",
        text(&output)
    );
}

#[test]
fn a_login_that_cannot_be_used_is_refused_before_the_command() {
    let (echo, folder) = (Echo::start(), tempfile::tempdir().unwrap());
    let (folder, to) = (folder.path().canonicalize().unwrap(), format!("127.0.0.1:{}", echo.port));
    for (words, why) in [
        (&["--login", "~/.netrc"][..], "needs `other.example:443`, which is not in the host list"),
        (&["--login", "~/.config/gh/hosts.yml"], "has its token in the keyring"),
        (&["--login", "~/.git-credentials"], "has a line that is not a URL"),
        (&["--login", "~/.pypirc"], "is also in another part of `~/.pypirc`"),
        (&["--login", "~/.ssh/id_ed25519"], "is not a known login file"),
        (&["--login", "~/.kube/config"], "cannot be read"),
        (&["--login", "~/.npmrc", "--secret", "T=env:HOME@{to}"], "in the header `authorization`, as is `T`"),
    ] {
        let words: Vec<_> = words.iter().map(|word| word.replace("{to}", &to)).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let output = run(&folder, &to, &words, "echo RAN");
        let said = text(&output);
        assert!(said.contains(why) && !said.contains("RAN\n") && !said.contains(REAL), "{words:?}: {said}");
        assert!(!output.status.success(), "{said}");
    }
    assert_eq!(echo.heard(), "");
}

#[test]
fn agents_get_the_logins_of_their_configuration() {
    if !Path::new("/usr/bin/curl").is_file() {
        println!("skipped: there is no curl");
        return;
    }
    let (echo, folder) = (Echo::start(), tempfile::tempdir().unwrap());
    let (folder, to) = (folder.path().canonicalize().unwrap(), format!("127.0.0.1:{}", echo.port));
    home(&folder, &to);
    let work = folder.join("work");
    fs::create_dir_all(&work).unwrap();
    let settings = folder.join(".config/stockade/config.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    // A file without a login for an allowed host lends nothing, and is no mistake: a project may have removed the host.
    fs::write(
        &settings,
        format!("[security.permission]\nenableNodePermissions = true\nallowedNetHosts = [\"{to}\"]\nlogins = [\"~/.npmrc\", \"~/.netrc\"]\n[agents.ci]\n"),
    )
    .unwrap();
    fs::write(
        work.join("use.sh"),
        format!("ls -a ~; curl -sS -H \"Authorization: Bearer $(sed -n s/.*_authToken=//p ~/.npmrc)\" http://{to}/x\n"),
    )
    .unwrap();
    let output = Command::new(STOCKADE)
        .args(["exec", "--agent", "ci", "--", "sh", "use.sh"])
        .env("HOME", &folder)
        .env_remove("XDG_CONFIG_HOME")
        .current_dir(&work)
        .output()
        .unwrap();
    let (said, heard) = (text(&output), echo.heard());
    assert!(heard.contains(&format!("Bearer {REAL}\r\n")), "{said}\n{heard}");
    assert!(!said.contains(REAL) && !said.contains(".netrc"), "{said}");
}
