"""A server behind an address that is not to be trusted, for tests of `stockade mcp wrap --url`. Each tool does what its name says."""

import hashlib
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = ["plain", "stream", "resume", "broken", "elsewhere", "denied", "gone", "other", "twice", "endless", "shown", "slow", "nothing"]
seen = {"closed": 0, "deleted": 0, "cancelled": 0, "told": 0}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def begin(self, status, kind, length=None, more=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in more:
            self.send_header(name, value)
        if length is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def whole(self, status, body, kind="application/json", more=()):
        data = body if isinstance(body, bytes) else json.dumps(body, indent=1).encode()
        self.begin(status, kind, len(data), more)
        self.wfile.write(data)

    def answer(self, asked, text):
        result = {"content": [{"type": "text", "text": text}]}
        if "2026-07-28" in json.dumps(asked.get("params", {})):
            result["resultType"] = "complete"
        return {"jsonrpc": "2.0", "id": asked["id"], "result": result}

    def do_DELETE(self):
        seen["deleted"] += 1
        self.whole(200, {})

    def do_GET(self):
        last = self.headers.get("Last-Event-ID")
        if self.path == "/seen":
            return self.whole(200, seen)
        if not last:
            return self.whole(405, {})
        self.begin(200, "text/event-stream")
        self.wfile.write(f"id: 8\ndata: {json.dumps(self.answer({'id': int(last)}, 'resumed'))}\n\n".encode())

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, params = asked.get("method"), asked.get("params", {})
        if "id" not in asked:
            seen["cancelled" if method == "notifications/cancelled" else "told"] += 1
            return self.begin(202, "text/plain", 0)
        if method == "initialize":
            result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "r", "version": "1"}}
            return self.whole(200, {"jsonrpc": "2.0", "id": asked["id"], "result": result}, more=[("Mcp-Session-Id", "s-1")])
        if method == "tools/list":
            schema = {"type": "object", "properties": {"where": {"type": "string", "x-mcp-header": "Where"}}}
            result = {"tools": [{"name": name, "inputSchema": schema} for name in TOOLS]}
            if "2026-07-28" in json.dumps(params):
                result["resultType"] = "complete"
            return self.whole(200, {"jsonrpc": "2.0", "id": asked["id"], "result": result})
        getattr(self, params["name"])(asked)

    def plain(self, asked):
        self.whole(200, self.answer(asked, "done"))

    def nothing(self, asked):
        self.begin(202, "text/plain", 0)

    def stream(self, asked):
        self.begin(200, "text/event-stream")
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "so far"}}
        other = self.answer({"id": 999}, "of another one")
        self.wfile.write(f": begins\r\nevent: message\r\ndata: {json.dumps(note)}\r\n\r\ndata: {json.dumps(other)}\n\n".encode())
        self.wfile.write("".join(f"data: {line}\n" for line in json.dumps(self.answer(asked, "streamed"), indent=1).split("\n")).encode() + b"\n")

    def resume(self, asked):
        self.begin(200, "text/event-stream")
        self.wfile.write(f"id: {asked['id']}\nretry: 100\ndata:\n\n".encode())

    def broken(self, asked):
        self.begin(200, "text/event-stream")
        self.wfile.write(b"data: {\n")

    def elsewhere(self, asked):
        self.whole(307, {}, more=[("Location", "https://evil.example/\\u0007mcp")])

    def denied(self, asked):
        self.whole(401, b"who are you", "text/plain")

    def gone(self, asked):
        self.whole(404, {})

    def other(self, asked):
        self.whole(200, self.answer({"id": 999}, "of another one"))

    def twice(self, asked):
        text = json.dumps(self.answer(asked, "once"))
        self.whole(200, (text[:-1] + ', "result": {"content": []}}').encode())

    def endless(self, asked):
        self.begin(200, "application/json")
        for _ in range(17):
            self.wfile.write(b" " * (1 << 20))

    def shown(self, asked):
        headers = {name.lower(): value for name, value in self.headers.items()}
        # What it got, in a form that nobody on the way back knows.
        headers["digest"] = hashlib.sha256(headers.get("authorization", "").encode()).hexdigest()
        self.whole(200, self.answer(asked, json.dumps(headers)))

    def slow(self, asked):
        self.begin(200, "text/event-stream")
        try:
            for _ in range(600):
                self.wfile.write(b": waits\n\n")
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            seen["closed"] += 1


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
