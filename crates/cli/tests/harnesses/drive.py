"""Real CLIs, driven by `stockade drive`, with a model of ours: does a whole turn work with a key that none of it ever sees?

    drive.py STOCKADE FOLDER PAGE [CLI…]

Needs root (for a network of its own), Node, npm, curl and openssl. The CLIs are those of run.py. Each runs a turn in which its model asks
for a command: at the host of its preset, which here leads to a server of ours with a certificate of ours, and at a gateway. Puts what was
found into the table of PAGE: the rows of the CLIs that ran, and of which commit they are. Ends with 1 where a cell is not `yes`.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from run import HARNESSES, write

HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESS = "93.184.216.34"
HOSTS = ["api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "gateway.test", "other.test"]
# How long a turn may take, in seconds.
PATIENCE = 150
ANTHROPIC, OPENAI, GOOGLE, TOKEN = "sk-ant-api03-" + 9 * "REAL", "sk-proj-" + 9 * "REAL", "AIza" + 8 * "REAL", "sk-ant-oat01-" + 9 * "REAL"
LOGIN = {"claudeAiOauth": {"accessToken": TOKEN, "refreshToken": "sk-ant-ort01-" + 9 * "REAL", "expiresAt": 99999999999999}}

# The variable with the key, the key, options of `stockade drive`, and the words for one turn.
TURNS = {
    "claude": ("ANTHROPIC_API_KEY", ANTHROPIC, [], ["-p", "go", "--allowedTools", "Bash"]),
    "codex": ("OPENAI_API_KEY", OPENAI, [], ["exec", "--skip-git-repo-check", "-m", "gpt-5.4", "go"]),
    "gemini": ("GEMINI_API_KEY", GOOGLE, [], ["--approval-mode", "yolo", "-p", "go"]),
    "qwen": ("OPENAI_API_KEY", OPENAI, ["--env", "OPENAI_MODEL=gpt-5.4"], ["--approval-mode", "yolo", "-p", "go"]),
    "copilot": ("OPENAI_API_KEY", OPENAI, ["--env", "COPILOT_MODEL=gpt-5.4"], ["--allow-all-tools", "-p", "go"]),
    "opencode": ("ANTHROPIC_API_KEY", ANTHROPIC, [], ["run", "go"]),
}
# What the model asks for: it looks for the key and the login, and for another host.
PROBE = """touch ran; env; cat ~/.claude/.credentials.json; tr '\\0' '\\n' < /proc/$PPID/environ
for one in ~ /tmp; do grep -rhsa [R]EALREAL $one; done; grep -has [R]EALREAL /proc/*/environ /proc/*/cmdline
curl -sS -m 5 https://other.test/; test -e ~/.ssh/id || echo contained
"""


def certificate(folder):
    """An authority, and a certificate of it for all hosts."""
    names = ",".join(f"DNS:{name}" for name in HOSTS)
    ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    write(f"{folder}/names", f"subjectAltName={names}\n")
    for words in (
        ["req", "-x509", *ec, "-days", "30", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test", "-addext",
         "basicConstraints=critical,CA:TRUE"],
        ["req", *ec, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=api"],
        ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30", "-out",
         "server.pem", "-extfile", "names"],
    ):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def inside(name, program, stockade, home, way):
    """One turn, in a network of its own: says what was found."""
    variable, key, options, words = TURNS[name]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "addr", "add", f"{ADDRESS}/32", "dev", "lo"], check=True)
    write(f"{home}.site/hosts", f"127.0.0.1 localhost\n{ADDRESS} {' '.join(HOSTS)}\n", 0o644)
    subprocess.run(["mount", "--bind", f"{home}.site/hosts", "/etc/hosts"], check=True)
    project, log = f"{home}/project", f"{home}.site/model.jsonl"
    write(f"{project}/probe.sh", PROBE)
    write(f"{home}/.claude/.credentials.json", json.dumps(LOGIN))
    write(f"{home}/.ssh/id", "private")
    os.makedirs(f"{home}/bin")
    os.symlink(program, f"{home}/bin/{name}")
    env = {"HOME": home, "PATH": f"{home}/bin:{os.path.dirname(shutil.which('node'))}:/usr/local/bin:/usr/bin:/bin", "TERM": "dumb",
           "LANG": "C.UTF-8", "SSL_CERT_FILE": f"{home}.site/ca.pem", variable: key}
    if way == "login":
        key = TOKEN
        del env[variable]
    if way == "gateway":
        options = [*options, "--api-base", "https://gateway.test/way/in"]
    subprocess.run(["git", "init", "-q", "."], cwd=project, env=env)
    served = f"{ADDRESS}:443,{home}.site/server.pem,{home}.site/server.key"
    model = subprocess.Popen([sys.executable, f"{HERE}/model.py", served, log, "sh probe.sh"])
    time.sleep(1)
    with open(f"{home}.site/out", "w") as out:
        try:
            ran = subprocess.run([stockade, "drive", name, *options, "--", *words], cwd=project, env=env, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=out, timeout=PATIENCE).returncode
        except subprocess.TimeoutExpired:
            ran = None
    model.kill()
    lines = [json.loads(line) for line in open(log)] if os.path.exists(log) else []
    told = json.dumps([line["results"] for line in lines])
    seen = told + open(f"{home}.site/out").read()
    host = "gateway.test" if way == "gateway" else None
    return {
        "a whole turn, with a command": ran == 0 and os.path.exists(f"{project}/ran") and "contained" in told,
        "the key arrives with each request": bool(lines) and all(any(key in one for one in line["keys"].values()) for line in lines),
        "at its own host alone": bool(lines) and len({line["host"] for line in lines}) == 1 and host in (None, lines[0]["host"]),
        "the key is nowhere within": "contained" in told and "REALREAL" not in seen,
        "the login is not there": ".credentials.json: No such file or directory" in told,
        "another host is refused": "other.test" in seen and "does not reach other.test:443" in seen,
    }


BEGIN, END = "<!-- driven: begin -->", "<!-- driven: end -->"


def commit(folder):
    """What was measured: the commit, and whether something was changed since then."""
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=10", "--exclude", "*"]
    return subprocess.run(asked, cwd=folder, capture_output=True, text=True).stdout.strip() or "unknown"


def tabulate(page, rows, measured):
    """Puts rows into the table of a page, by their first cell. Those of other versions of the same CLI go."""
    with open(page) as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    kept = [line for line in old.splitlines() if re.match(r"\| [a-z]+ [0-9]", line)]
    names = {(row[0], row[2]) for row, _ in measured}
    is_old = lambda line: any(line.startswith(f"| {name} ") and f", {way} |" in line for name, way in names)
    new = [f"| {name} {version}, {way} | " + " | ".join([*cells, f"`{commit(HERE)}`"]) + " |"
           for (name, version, way), cells in measured]
    order = list(TURNS)
    place = lambda line: (order.index(line.split()[1]), ["preset", "gateway", "login"].index(line.split(", ")[1].split()[0]))
    lines = sorted([line for line in kept if not is_old(line)] + new, key=place)
    head = "| | " + " | ".join([*rows, "commit"]) + " |\n|---|" + "---|" * (len(rows) + 1)
    write(page, before + BEGIN + "\n" + head + "\n" + "\n".join(lines) + "\n" + END + after, 0o644)


def main():
    stockade, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    page, chosen = os.path.abspath(sys.argv[3]), [name for name in sys.argv[4:] if name in TURNS] or list(TURNS)
    ways = [(name, way) for name in chosen for way in ["preset", "gateway", *(["login"] if name == "claude" else [])]]
    columns = []
    for name, way in ways:
        package, version, within = HARNESSES[name]
        program = f"{folder}/{name}/node_modules/{within}"
        if not os.path.exists(program):
            write(f"{folder}/{name}/package.json", '{"private": true}')
            npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", f"{package}@{version}"]
            subprocess.run(npm, cwd=f"{folder}/{name}")
        if not os.path.exists(program):
            columns.append({})
            continue
        home = tempfile.mkdtemp(prefix="driven-")
        os.makedirs(f"{home}.site")
        certificate(f"{home}.site")
        asked = json.dumps([name, program, stockade, home, way])
        words = ["unshare", "-n", "-m", "-p", "-f", "--kill-child", "--mount-proc", "--propagation", "private", sys.executable, __file__,
                 "--inside", asked]
        ran = subprocess.run(words, capture_output=True, text=True)
        found = json.loads(ran.stdout.strip().splitlines()[-1]) if ran.returncode == 0 else {}
        columns.append(found)
        print(name, way, "well" if found and all(found.values()) else f"{found} {ran.stderr[-300:]} ({home})", file=sys.stderr, flush=True)
        if found and all(found.values()):
            shutil.rmtree(home, ignore_errors=True)
            shutil.rmtree(f"{home}.site", ignore_errors=True)
    rows = list(next((column for column in columns if column), {}))
    cells = [["yes" if column.get(row) else "**no**" for row in rows] for column in columns]
    tabulate(page, rows, [((name, HARNESSES[name][1], way), found) for (name, way), found in zip(ways, cells)])
    return 0 if all(column and all(column.values()) for column in columns) else 1


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        print(json.dumps(inside(*json.loads(sys.argv[2]))))
    else:
        sys.exit(main())
