//! Commands whose hosts are only reached through a proxy of this machine.
#![expect(clippy::disallowed_methods, reason = "serves requests, writes logins and runs programs")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use super::secrets::text;
use super::support::STOCKADE;

/// A proxy that answers every request itself, and sends what it was asked.
fn proxy() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (asked, asks) = channel();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            asked.send(answer(client)).ok();
        }
    });
    (port, asks)
}

fn answer(mut client: TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && client.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nbehind").ok();
    String::from_utf8_lossy(&head).into_owned()
}

#[test]
fn a_command_reaches_its_hosts_through_the_proxy_of_the_machine() {
    if !Path::new("/usr/bin/curl").is_file() {
        println!("skipped: there is no curl");
        return;
    }
    let (port, asks) = proxy();
    let folder = tempfile::tempdir().unwrap();
    let (work, login) = (folder.path().join("work"), folder.path().join("login"));
    fs::create_dir(&work).unwrap();
    fs::write(&login, "me:hunter22\n").unwrap();
    fs::set_permissions(&login, PermissionsExt::from_mode(0o600)).unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let source = format!("file:{}", login.display());
    let run = |options: &[&str], variables: &[(&str, &str)], script: &str| {
        let mut command = Command::new(STOCKADE);
        command.args(["exec", "--no-rules", "-w", work.to_str().unwrap(), "--allow-host", "web.example:80"]);
        command.args(options).args(["--", "sh", "-c", script]).env("HOME", folder.path()).current_dir(&work);
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "NO_PROXY"] {
            command.env_remove(name);
        }
        text(&command.envs(variables.iter().copied()).output().unwrap())
    };
    let curl = "curl -sS http://web.example/x; env; cat /proc/*/environ";
    let said = run(&["--upstream-proxy", &url, "--upstream-login", &source], &[], curl);
    let asked = asks.recv().unwrap();
    assert!(said.starts_with("behind"), "{said}");
    assert!(
        asked.starts_with("GET http://web.example/x HTTP/1.1\r\nProxy-Authorization: Basic bWU6"),
        "{asked}"
    );
    assert!(!said.contains(&port.to_string()) && !said.contains("hunter22"), "{said}");

    let by_variable = [("HTTP_PROXY", format!("http://me:hunter22@127.0.0.1:{port}"))];
    let by_variable = by_variable.each_ref().map(|(name, value)| (*name, value.as_str()));
    let said = run(&[], &by_variable, curl);
    assert!(said.starts_with("behind") && !said.contains("hunter22"), "{said}");
    asks.recv().unwrap();
    assert!(run(&[], &by_variable, "curl -sS http://other.example/ || true").contains("not-listed"));

    for (options, variables, why) in [
        (&["--upstream-proxy", "none"][..], &by_variable[..], "no-address"),
        (&[], &[by_variable[0], ("NO_PROXY", "web.example")], "no-address"),
        (
            &["--upstream-proxy", "https://p"],
            &[],
            "--upstream-proxy: a proxy with `https://` is not supported",
        ),
        (&[], &[("HTTP_PROXY", "https://p")], "`HTTP_PROXY`: a proxy with `https://` is not supported"),
        (&["--upstream-login", &source], &[], "--upstream-login needs a proxy"),
    ] {
        let said = run(options, variables, "curl -sS http://web.example/x");
        assert!(said.contains(why) && !said.contains("behind"), "{options:?} {variables:?}: {said}");
    }
    assert!(asks.try_recv().is_err(), "only what was listed went through it");
}

#[test]
fn agents_use_the_proxy_of_their_configuration() {
    if !Path::new("/usr/bin/curl").is_file() {
        println!("skipped: there is no curl");
        return;
    }
    let (port, asks) = proxy();
    let folder = tempfile::tempdir().unwrap();
    let (work, login) = (folder.path().join("work"), folder.path().join("login"));
    fs::create_dir(&work).unwrap();
    fs::write(&login, "me:hunter22\n").unwrap();
    fs::set_permissions(&login, PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(work.join("ask.sh"), "curl -sS http://web.example/x; env\n").unwrap();
    let settings = folder.path().join(".config/stockade/config.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let run = |proxy: &str| {
        let text_of = format!(
            "[security.permission]\nenableNodePermissions = true\nallowedNetHosts = [\"web.example:80\"]\n{proxy}\nupstreamLogin = \"file:{}\"\n[agents.ci]\n",
            login.display()
        );
        fs::write(&settings, text_of).unwrap();
        let mut command = Command::new(STOCKADE);
        command.args(["exec", "--agent", "ci", "--", "sh", "ask.sh"]);
        command.env("HOME", folder.path()).env_remove("XDG_CONFIG_HOME").current_dir(&work);
        // The configuration decides, not a variable.
        command.env("HTTP_PROXY", "http://127.0.0.1:1");
        text(&command.output().unwrap())
    };
    let said = run(&format!("upstreamProxy = \"http://127.0.0.1:{port}\""));
    assert!(said.starts_with("behind") && !said.contains("hunter22"), "{said}");
    let asked = asks.recv().unwrap();
    assert!(asked.contains("\r\nProxy-Authorization: Basic bWU6"), "{asked}");

    for (proxy, why) in [
        ("upstreamProxy = \"none\"", "no-address"),
        ("upstreamProxy = \"https://p\"", "without a login, `none`, or null"),
        ("upstreamProxy = \"http://me:hunter22@127.0.0.1:1\"", "without a login, `none`, or null"),
        ("upstreamProxy = \"http://127.0.0.1:99999\"", "`security.permission.upstreamProxy`"),
    ] {
        let said = run(proxy);
        assert!(said.contains(why) && !said.contains("behind"), "{proxy}: {said}");
    }
    assert!(asks.try_recv().is_err());
}
