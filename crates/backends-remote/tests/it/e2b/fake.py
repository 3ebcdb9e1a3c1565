#!/usr/bin/env python3
"""A server that speaks as E2B does, as far as a sandbox needs it: the API that makes sandboxes, and the service in each.

    fake.py FOLDER        prints its port, and serves until its standard input ends

Commands really run, on this machine, in a folder of their sandbox below FOLDER that stands for `/home/user`. What the API
answers was read off the official SDKs, which are tried on this server by the same tests as the client of this crate.

A test plans faults by PUT /-/faults with a list of {"path": …, "status": …, "headers": {…}, "times": n}, and asks by
GET /-/seen for what was asked: method, path and the names of headers. Nothing of this is E2B's.
"""
import base64, http.server, json, os, pathlib, shutil, signal, struct, subprocess, sys, threading, time, urllib.parse

ROOT = pathlib.Path(sys.argv[1])
KEY = "e2b_" + "0" * 40
HOME = "/home/user"
lock = threading.Lock()
sandboxes, faults, seen = {}, [], []


class Sandbox:
    def __init__(self, asked):
        self.id = "sbx%d" % (len(seen) + 1)
        self.token = "token-of-" + self.id
        self.variables = asked.get("envVars") or {}
        self.metadata = asked.get("metadata") or {}
        self.internet = asked.get("allow_internet_access", True)
        self.ends = time.monotonic() + asked.get("timeout", 15)
        self.home = ROOT / self.id
        self.home.mkdir()
        self.running = {}

    def is_there(self):
        return time.monotonic() < self.ends

    def path(self, path):
        path = path or HOME
        full = os.path.normpath(path if path.startswith("/") else HOME + "/" + path)
        if full != HOME and not full.startswith(HOME + "/"):
            return None
        return self.home / os.path.relpath(full, HOME)

    def end(self):
        self.ends = 0
        for process in list(self.running.values()):
            stop(process, signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)


def stop(process, number):
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle_one(self):
        try:
            self.answer()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = handle_one

    def answer(self):
        address = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        body = self.body()
        if address.path == "/-/faults":
            faults[:] = json.loads(body)
            return self.say(204)
        if address.path == "/-/seen":
            return self.json(200, seen)
        with lock:
            seen.append({"method": self.command, "path": self.path, "headers": sorted(name.lower() for name in self.headers), "body": len(body)})
            fault = next((f for f in faults if address.path.startswith(f["path"]) and f["times"] > 0), None)
            if fault:
                fault["times"] -= 1
        if fault and fault.get("cut"):
            self.close_connection = True
            return self.connection.close()
        if fault and "status" in fault:
            return self.json(fault["status"], {"code": fault["status"], "message": "planned"}, fault.get("headers", {}))
        if address.path.startswith(("/v2/sandboxes", "/sandboxes")):
            return self.api(address.path.removeprefix("/v2"), body)
        return self.service(address.path, query, body, fault or {})

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    # The API.

    def api(self, path, body):
        if self.headers.get("X-API-Key") != KEY:
            return self.json(401, {"code": 401, "message": "Invalid API key"})
        parts = path.strip("/").split("/")
        if parts == ["sandboxes"] and self.command == "POST":
            asked = json.loads(body)
            if asked["templateID"] != "base":
                return self.json(404, {"code": 404, "message": "template '%s' not found" % asked["templateID"]})
            with lock:
                made = Sandbox(asked)
                sandboxes[made.id] = made
            return self.json(201, {"sandboxID": made.id, "templateID": "base", "clientID": "c", "envdVersion": "0.2.0",
                                   "envdAccessToken": made.token, "domain": None, "alias": "base"})
        sandbox = sandboxes.get(parts[1]) if len(parts) > 1 else None
        if not sandbox or not sandbox.is_there():
            return self.json(404, {"code": 404, "message": "sandbox not found"})
        if len(parts) == 2 and self.command == "DELETE":
            sandbox.end()
            return self.say(204)
        if len(parts) == 2 and self.command == "GET":
            return self.json(200, {"sandboxID": sandbox.id, "templateID": "base", "clientID": "c", "state": "running",
                                   "startedAt": "2026-01-01T00:00:00Z", "endAt": "2026-01-01T00:01:00Z", "cpuCount": 1,
                                   "memoryMB": 512, "diskSizeMB": 512, "metadata": sandbox.metadata, "envdVersion": "0.2.0"})
        if parts[2:] == ["timeout"] and self.command == "POST":
            sandbox.ends = time.monotonic() + json.loads(body)["timeout"]
            return self.say(204)
        return self.json(404, {"code": 404, "message": "no such route"})

    # The service in a sandbox.

    def service(self, path, query, body, fault):
        sandbox = sandboxes.get(self.headers.get("E2b-Sandbox-Id") or self.headers.get("Host", "").split("-", 1)[-1].split(".")[0])
        if not sandbox or not sandbox.is_there():
            return self.json(502, {"message": "The sandbox was not found", "code": 502})
        if path == "/health":
            return self.say(204)
        if self.headers.get("X-Access-Token") != sandbox.token:
            return self.json(401, {"code": "unauthenticated", "message": "no access"})
        if path == "/files":
            return self.files(sandbox, query, body)
        if path == "/process.Process/Start":
            return self.start(sandbox, self.message(body), fault)
        if path == "/process.Process/SendSignal":
            asked = json.loads(body)
            process = sandbox.running.get(int(asked["process"]["pid"]))
            if not process:
                return self.json(404, {"code": "not_found", "message": "process not found"})
            stop(process, signal.SIGKILL if asked["signal"] == "SIGNAL_SIGKILL" else signal.SIGTERM)
            return self.json(200, {})
        if path == "/filesystem.Filesystem/ListDir":
            folder = sandbox.path(json.loads(body).get("path"))
            if not folder or not folder.is_dir():
                return self.json(404, {"code": "not_found", "message": "no such folder"})
            return self.json(200, {"entries": [self.entry(sandbox, one) for one in sorted(folder.iterdir())]})
        return self.json(404, {"code": "unimplemented", "message": path})

    def entry(self, sandbox, file):
        kind = "FILE_TYPE_SYMLINK" if file.is_symlink() else "FILE_TYPE_DIRECTORY" if file.is_dir() else "FILE_TYPE_FILE"
        found = file.lstat()
        return {"name": file.name, "type": kind, "path": HOME + "/" + str(file.relative_to(sandbox.home)), "size": str(found.st_size),
                "mode": found.st_mode & 0o777, "permissions": "-rw-r--r--", "owner": "user", "group": "user"}

    def files(self, sandbox, query, body):
        if self.command == "GET":
            file = sandbox.path(query.get("path"))
            if not file or not file.is_file():
                return self.json(404, {"code": 404, "message": "path '%s' does not exist" % query.get("path")})
            return self.say(200, file.read_bytes(), "application/octet-stream")
        kind = self.headers["Content-Type"]
        if kind.startswith("multipart/form-data"):
            body = self.part(body, kind.split("boundary=")[1].strip('"').encode())
        file = sandbox.path(query["path"])
        if not file:
            return self.json(400, {"code": 400, "message": "outside"})
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        return self.json(200, [{"name": file.name, "type": "file", "path": query["path"]}])

    @staticmethod
    def part(body, boundary):
        first = body.split(b"--" + boundary)[1]
        return first.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")

    @staticmethod
    def message(body):
        size = struct.unpack(">I", body[1:5])[0]
        return json.loads(body[5:5 + size])

    def start(self, sandbox, asked, fault):
        wanted = asked["process"]
        variables = {"PATH": os.environ["PATH"], "HOME": str(sandbox.home), **sandbox.variables, **(wanted.get("envs") or {})}
        self.send_response(200)
        self.send_header("Content-Type", "application/connect+json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            process = subprocess.Popen([wanted["cmd"], *wanted.get("args", [])], cwd=sandbox.path(wanted.get("cwd")), env=variables,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            self.frame(2, {"error": {"code": "invalid_argument", "message": "error starting process: %s" % error.strerror}})
            return self.chunk(b"")
        sandbox.running[process.pid] = process
        write = threading.Lock()
        self.frame(0, {"event": {"start": {"pid": process.pid}}})
        threads = [threading.Thread(target=self.hand_on, args=(write, name, pipe))
                   for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr))]
        for thread in threads:
            thread.start()
        limit = float(self.headers.get("Connect-Timeout-Ms") or 0) / 1000 or None
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            if not fault.get("deaf"):
                stop(process, signal.SIGKILL)
            process.wait()
            limit = -1
        for thread in threads:
            thread.join()
        sandbox.running.pop(process.pid, None)
        if limit == -1:
            self.frame(2, {"error": {"code": "deadline_exceeded", "message": "the operation timed out"}})
        elif fault.get("half"):
            self.close_connection = True
            return self.connection.close()
        else:
            code = process.returncode
            end = {"exited": code >= 0, "status": "exit status %d" % code if code >= 0 else "signal: killed"}
            end |= {"exitCode": code if code >= 0 else -1}
            self.frame(0, {"event": {"end": end}})
            self.frame(2, {})
        self.chunk(b"")

    def hand_on(self, write, name, pipe):
        while data := os.read(pipe.fileno(), 65536):
            with write:
                self.frame(0, {"event": {"data": {name: base64.b64encode(data).decode()}}})

    def frame(self, flags, message):
        text = json.dumps(message).encode()
        try:
            self.chunk(bytes([flags]) + struct.pack(">I", len(text)) + text)
        except OSError:
            pass

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def json(self, status, value, headers={}):
        self.say(status, json.dumps(value).encode(), "application/json", headers)

    def say(self, status, body=b"", kind=None, headers={}):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
server.daemon_threads = True
# Clients that go away are part of the tests.
server.handle_error = lambda *_: None
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
for one in sandboxes.values():
    one.end()
