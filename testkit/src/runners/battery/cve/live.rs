//! Attacks by sandboxed commands: each is tried without a sandbox first, and then with each that this machine
//! supports.

use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use super::sandbox::{Control, Live, Tier};
use testkit::{Echo, Program};

/// An ordinary user who owns nothing.
const ORDINARY_USER: u32 = 65_534;

/// Prelude of every script: a function that runs commands in a sandbox.
const PRELUDE: &str = r#"
box() {
    if test -n "$CONTROL"; then setsid -w "$@"; return; fi
    timeout -k 5 60 "$STOCKADE" exec --no-rules --backend "$BACKEND" -w "$W" $OPTIONS -- "$@"
}
cat > "$B/server.py" <<'END'
import gzip, http.server, os, socket, struct, time
class Echo(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        with open(os.environ["B"] + "/log", "a") as log: log.write(self.requestline + "\n" + str(self.headers))
        body = ("you said " + self.headers.get("Authorization", "")).encode()
        how = self.path.rsplit("/")[-1]
        self.send_response(200)
        if how in ("gzip", "br"):
            body = gzip.compress(body)
            self.send_header("Content-Encoding", how)
        self.send_header("Content-Length", str(len(body) + (9 if how == "reset" else 0)))
        self.end_headers()
        for piece in (body[:20], body[20:]):
            self.wfile.write(piece)
            self.wfile.flush()
            time.sleep(0.1)
        if how == "reset": self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
with open(os.environ["B"] + "/port", "w") as port: port.write(str(server.server_port) + "\n")
server.serve_forever()
END
# A server at `$at` that keeps what it is sent and says it again, and `$T`, the placeholder for a secret of its user.
serve() {
    python3 "$B/server.py" & until test -s "$B/port"; do sleep 0.1; done; at=127.0.0.1:$(cat "$B/port"); touch "$B/log"
    (umask 077; echo "secret-of-the-user-$N" > "$B/token"); OPTIONS="--allow-host $at --secret T=file:$B/token@$at"
}
cd "$W"
"#;

/// The program in a place that every user can reach, and the sandboxes that work here.
pub(super) struct Range {
    program: PathBuf,
    top: PathBuf,
    ways: Vec<(Tier, User)>,
}

/// The user who starts the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    Same,
    Ordinary,
}

/// How the attack went.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// In how many sandboxes it was tried.
    pub(super) asked: usize,
    /// Failures, in sentences.
    pub(super) missed: Vec<String>,
}

impl Range {
    /// Determines which sandboxes work.
    pub(super) fn new(program: &Path) -> io::Result<Self> {
        let top = std::env::temp_dir().join(format!("stockade-range-{}", std::process::id()));
        std::fs::create_dir(&top)?;
        std::fs::set_permissions(&top, PermissionsExt::from_mode(0o755))?;
        let top = top.canonicalize()?;
        let own = top.join("stockade");
        std::fs::copy(program, &own)?;
        let mut range = Self { program: own, top, ways: Vec::new() };
        let is_root = Program::new("id").args(["-u"]).read()?.trim() == "0";
        let users: &[User] = if is_root { &[User::Same, User::Ordinary] } else { &[User::Same] };
        let all = users.iter().flat_map(|user| Tier::ALL.iter().map(|tier| (*tier, *user)));
        for (number, way) in all.enumerate() {
            let works = Live {
                id: "",
                attack: "",
                tiers: Tier::ALL,
                control: Control::SaysNothing,
                script: "box true && echo WORKS",
                escaped: "grep -q WORKS $OUT",
            };
            if range.escapes(&format!("works-{number}"), &works, Some(way))? {
                range.ways.push(way);
            }
        }
        Ok(range)
    }

    /// Tries an attack.
    pub(super) fn tried(&self, number: usize, case: &Live) -> io::Result<Tried> {
        let mut tried = Tried::default();
        if case.control == Control::Succeeds && !self.escapes(&format!("{number}-control"), case, None)? {
            tried.missed.push("it does not even succeed without a sandbox, and so says nothing".to_owned());
        }
        for (at, way) in self.ways.iter().enumerate().filter(|(_, way)| case.tiers.contains(&way.0)) {
            tried.asked += 1;
            if self.escapes(&format!("{number}-{at}"), case, Some(*way))? {
                let who = if way.1 == User::Ordinary { "an ordinary user" } else { "this user" };
                tried.missed.push(format!("it succeeds in a {} sandbox of {who}", way.0.name()));
            }
        }
        Ok(tried)
    }

    /// Whether an attack succeeds; without a sandbox if none is named.
    fn escapes(&self, name: &str, case: &Live, way: Option<(Tier, User)>) -> io::Result<bool> {
        let base = self.top.join(name);
        let user = way.map_or(User::Same, |(_, user)| user);
        for folder in ["", "work", "home"] {
            std::fs::create_dir_all(base.join(folder))?;
            if user == User::Ordinary {
                chown(base.join(folder), Some(ORDINARY_USER), Some(ORDINARY_USER))?;
            }
        }
        let script = format!(
            "exec > \"$OUT\" 2>&1; trap 'kill $(jobs -p)' EXIT\n{PRELUDE}{}\ncd \"$W\" || cd /\n{{ {}; }}",
            case.script, case.escaped
        );
        let nonce = format!("N{}N{}", std::process::id(), name.len() + case.id.len());
        let program = match user {
            User::Same => Program::new("bash"),
            User::Ordinary => {
                let become_ordinary = ["--reuid=65534", "--regid=65534", "--clear-groups", "bash"];
                Program::new("setpriv").args(become_ordinary)
            }
        };
        let program = program.args(["-c", &script]).folder(&base.join("work"));
        let set = program
            .env("STOCKADE", &self.program)
            .env("BACKEND", way.map_or("", |(tier, _)| tier.name()))
            .env("CONTROL", if way.is_none() { "1" } else { "" })
            .env("OPTIONS", "")
            .env("N", nonce)
            .env("B", &base)
            .env("W", base.join("work"))
            .env("HOME", base.join("home"))
            .env("OUT", base.join("out"));
        let who = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        let set = who.iter().fold(set, |set, name| set.env(name, "a@b"));
        let unset = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "GIT_CONFIG_GLOBAL", "TMPDIR"];
        Ok(unset.iter().fold(set, |set, name| set.without_env(name)).run(Echo::Kept)?.success)
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        // Leftovers are in the temporary directory of the system.
        drop(std::fs::remove_dir_all(&self.top));
    }
}
