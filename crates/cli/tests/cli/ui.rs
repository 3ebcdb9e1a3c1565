//! `stockade ui`: a page on the loopback address that only its own links and forms can use.
#![expect(clippy::disallowed_methods, reason = "serves the page, connects to it, and starts a browser")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::hook::{Answer, Home, shell};
use crate::support::STOCKADE;

/// How long to wait for what should be there at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// `stockade ui`, which ends with this value.
struct Ui {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Ui {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Ui {
    fn start(home: &Home, args: &[&str]) -> Self {
        let mut command = Command::new(STOCKADE);
        command.arg("ui").args(args).env_clear().env("HOME", home.path()).current_dir(home.project());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (port, token) = line.trim().strip_prefix("http://127.0.0.1:").unwrap().split_once('/').unwrap();
        Self { child, port: port.parse().unwrap(), token: token.trim_end_matches('/').to_owned() }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Sends a request, and returns the response. `HOST` and `TOKEN` are replaced by the right ones.
    fn send(&self, request: &str) -> String {
        let request =
            request.replace("HOST", &format!("127.0.0.1:{}", self.port)).replace("TOKEN", &self.token);
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        connection.write_all(request.replace('\n', "\r\n").as_bytes()).unwrap();
        let mut response = String::new();
        connection.read_to_string(&mut response).unwrap();
        response
    }

    fn page(&self) -> String {
        let page = self.send("GET /TOKEN/ HTTP/1.1\nHost: HOST\n\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
        page
    }

    /// Answers a question by the form of the page.
    fn post(&self, question: &str, answer: &str) -> String {
        let body = format!("question={question}&answer={answer}");
        let head = "POST /TOKEN/answer HTTP/1.1\nHost: HOST\nOrigin: http://HOST\nContent-Length: ";
        self.send(&format!("{head}{}\n\n{body}", body.len()))
    }

    /// Waits for a question about this, and returns its name.
    fn question(&self, about: &str) -> String {
        let begin = Instant::now();
        loop {
            let page = self.page();
            let form = "name=\"question\" value=\"";
            if page.contains(&format!("<pre>{about}</pre>")) {
                let (_, name) = page.split_once(form).unwrap();
                return name.split_once('"').unwrap().0.to_owned();
            }
            assert!(begin.elapsed() < PATIENCE, "{page}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn push(home: &Home, harness: &str, target: &str) -> Answer {
    home.answer(harness, &shell(harness, &home.project(), &json!(format!("git push origin {target}"))))
}

#[test]
fn a_question_is_answered_on_the_page() {
    let home = Home::new();
    let ui = Ui::start(&home, &[]);
    assert!(matches!(push(&home, "codex", "x"), Answer::Deny(_)), "no page is open");
    let page = ui.page();
    assert!(page.contains("No question waits.") && page.contains("git push origin x"), "{page}");
    thread::scope(|scope| {
        let asked = scope.spawn(|| push(&home, "codex", "a"));
        let name = ui.question("git push origin a");
        let moved = ui.post(&name, "allow");
        assert!(moved.starts_with("HTTP/1.1 303") && moved.contains("?said=allowed\r\n"), "{moved}");
        assert_eq!(asked.join().unwrap(), Answer::Silent);
        // It was used, and a browser may send the form again.
        assert!(ui.post(&name, "allow").contains("?said=expired\r\n"));
        let asked = scope.spawn(|| push(&home, "codex", "b"));
        let name = ui.question("git push origin b");
        assert!(ui.post(&name, "deny").contains("?said=denied\r\n"));
        assert!(matches!(asked.join().unwrap(), Answer::Deny(why) if why.contains("has denied")));
    });
    let told = ui.send("GET /TOKEN/?said=expired HTTP/1.1\nHost: HOST\n\n");
    assert!(told.contains("That question has expired"), "{told}");
    assert!(ui.page().contains("answer allow"));
}

#[test]
fn requests_of_other_pages_are_refused() {
    let home = Home::new();
    let ui = Ui::start(&home, &["codex"]);
    let page = ui.page();
    for header in [
        "Content-Security-Policy: default-src 'none'; style-src 'sha256-",
        "form-action 'self'; frame-ancestors 'none'",
        "X-Frame-Options: DENY",
        "Cache-Control: no-store",
        "Referrer-Policy: same-origin",
    ] {
        assert!(page.contains(header), "{header}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("Access-Control"), "{page}");
    let form = "Content-Length: 29\n\nquestion=00000000&answer=deny";
    for (request, code) in [
        ("GET / HTTP/1.1\nHost: HOST\n\n".to_owned(), 403),
        ("GET /0000/ HTTP/1.1\nHost: HOST\n\n".to_owned(), 403),
        ("GET /TOKEN/ HTTP/1.1\nHost: evil.example\n\n".to_owned(), 421),
        (format!("POST /TOKEN/answer HTTP/1.1\nHost: HOST\n{form}"), 403),
        (format!("POST /TOKEN/answer HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\n{form}"), 403),
        (format!("POST /0000/answer HTTP/1.1\nHost: HOST\nOrigin: http://HOST\n{form}"), 403),
        ("GET /TOKEN/more HTTP/1.1\nHost: HOST\n\n".to_owned(), 404),
        ("DELETE /TOKEN/ HTTP/1.1\nHost: HOST\n\n".to_owned(), 405),
        ("hello\n\n".to_owned(), 400),
    ] {
        let response = ui.send(&request);
        assert!(response.starts_with(&format!("HTTP/1.1 {code} ")), "{request}: {response}");
        assert!(!response.contains(&ui.token), "{request}: {response}");
    }
    // It listens on the loopback address alone.
    let listening = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X} ", ui.port);
    let of_port: Vec<&str> =
        listening.lines().filter(|line| line.contains(&port) && line.contains(" 0A ")).collect();
    assert!(of_port.iter().all(|line| line.contains("0100007F:")) && !of_port.is_empty(), "{of_port:?}");
    for code in [["ui", "--port", "x"], ["ui", "no name", "x"]] {
        assert_eq!(home.run(STOCKADE, &code, b"").status.code(), Some(2));
    }
    let taken = home.run(STOCKADE, &["ui", "--port", &ui.port.to_string()], b"");
    assert_eq!(taken.status.code(), Some(3), "{taken:?}");
}

/// In a real browser of the width of a phone: nothing is kept out by the policy, hostile text stays text, and the page is not wider.
#[test]
fn a_browser_shows_the_page() {
    let home = Home::new();
    assert!(matches!(push(&home, "codex", "'<script>document.title=1</script>'"), Answer::Deny(_)));
    let ui = Ui::start(&home, &[]);
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
    browser.arg("--window-size=400,800");
    browser.arg(format!("--user-data-dir={}", home.path().join("profile").display()));
    let read = match browser.arg(ui.address()).output() {
        Ok(output) => output,
        Err(why) if std::env::var_os("CI").is_none() => return println!("skipped: no Chromium here: {why}"),
        Err(why) => panic!("no Chromium here: {why}"),
    };
    let (seen, said) = (String::from_utf8_lossy(&read.stdout), String::from_utf8_lossy(&read.stderr));
    assert!(seen.contains("<title>Agents on this machine</title>"), "{seen}\n{said}");
    assert!(seen.contains("&lt;script&gt;document.title=1"), "{seen}");
    assert!(seen.contains("No question waits.") && !said.contains("Content Security Policy"), "{said}");
}
