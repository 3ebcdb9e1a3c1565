"""A model that says what it is told to, in the four protocols that harnesses speak. It listens on loopback and knows no key.

    model.py PORT LOG COMMAND [TOOL JSON]
    model.py ADDRESS:PORT,CERTIFICATE,KEY LOG COMMAND

It asks once for COMMAND to be run by whatever tool for commands the harness offers, or for the named tool with these arguments,
and says "done" when a result comes back. Every request is a line of LOG: the tools that were offered, the call that was asked
for, the results that came back, and where it was sent with which keys. With a certificate, it speaks TLS.
"""
import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What harnesses call the tool that runs commands, and the argument that holds the command.
SHELLS = {
    "Bash": "command", "bash": "command", "run_shell_command": "command", "exec_command": "cmd", "shell_command": "command",
    "shell": "command", "terminal": "command", "run_commands": "commands", "execute_command": "command", "Execute": "command", "exec": "command",
}

# Headers that keys come in.
KEYS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")


def call(offered, command, tool=None, arguments=None):
    """The tool to call and its arguments; nothing where no tool fits."""
    if tool:
        return (next((name for name in offered if name.endswith(tool)), tool), arguments)
    for name, argument in SHELLS.items():
        if name in offered:
            shape = offered[name].get("properties", {})
            value = [command] if argument == "commands" else command
            if shape.get(argument, {}).get("type") == "array" and argument != "commands":
                value = ["bash", "-c", command]
            return (name, {argument: value, **({"description": "work"} if "description" in shape else {})})
    return None


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def json(self, value):
        self.send("application/json", json.dumps(value).encode())

    def stream(self, events, named):
        lines = []
        for event in events:
            if named:
                lines.append(f"event: {event['type']}\n")
            lines.append(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for line in lines:
            self.wfile.write(f"{len(line.encode()):x}\r\n{line}\r\n".encode())
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):
        one = {"id": "fake", "object": "model", "type": "model", "display_name": "fake", "created": 1, "owned_by": "us"}
        self.json({"object": "list", "data": [one], "models": [], "has_more": False})

    def do_HEAD(self):
        self.send("text/plain", b"")

    def read(self):
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def do_POST(self):
        try:
            asked = json.loads(self.read())
        except ValueError:
            asked = {}
        path = self.path.split("?")[0]
        for end, answer in (("/messages", self.messages), ("/responses", self.items), ("/completions", self.completions),
                            (":generateContent", self.contents), (":streamGenerateContent", self.contents)):
            if path.endswith(end):
                return answer(asked)
        self.json({"input_tokens": 1, "totalTokens": 1})

    def decide(self, offered, results):
        """The call to make, or nothing where there is only something to say."""
        made = call(offered, *ASKED) if offered and not results else None
        with open(LOG, "a") as log:
            keys = {name.lower(): self.headers[name] for name in self.headers if name.lower() in KEYS}
            sent = {"host": self.headers["host"], "path": self.path, "keys": keys}
            log.write(json.dumps({"offered": sorted(offered), "call": made, "results": results, **sent}) + "\n")
        return made

    def messages(self, asked):
        blocks = [block for one in asked.get("messages", []) if isinstance(one["content"], list) for block in one["content"]]
        results = [block.get("content") for block in blocks if block.get("type") == "tool_result"]
        made = self.decide({tool["name"]: tool.get("input_schema", {}) for tool in asked.get("tools", [])}, results)
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "done"}
        if made:
            block = {"type": "tool_use", "id": "toolu_1", "name": made[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(made[1])}
        why = "tool_use" if made else "end_turn"
        use = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": asked.get("model", "fake"), "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": use}
        if not asked.get("stream"):
            whole = {**block, "input": made[1]} if made else {**block, "text": "done"}
            return self.json({**message, "content": [whole], "stop_reason": why})
        self.stream([
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": use},
            {"type": "message_stop"},
        ], named=True)

    def items(self, asked):
        parts = asked["input"] if isinstance(asked.get("input"), list) else []
        results = [item.get("output") for item in parts if str(item.get("type")).endswith("call_output")]
        offered = {tool["name"]: tool.get("parameters") or {} for tool in asked.get("tools", []) if "name" in tool}
        made = self.decide(offered, results)
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "done", "annotations": []}]}
        if made:
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": made[0],
                    "arguments": json.dumps(made[1]), "status": "completed"}
        use = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0},
               "output_tokens_details": {"reasoning_tokens": 0}}
        begun = {"id": "resp_1", "object": "response", "created_at": 1, "model": "fake", "output": [], "status": "in_progress"}
        done = {**begun, "status": "completed", "output": [item], "usage": use}
        if not asked.get("stream"):
            return self.json(done)
        events = [{"type": "response.created", "response": begun},
                  {"type": "response.output_item.added", "output_index": 0, "item": item},
                  {"type": "response.output_item.done", "output_index": 0, "item": item},
                  {"type": "response.completed", "response": done}]
        self.stream([{**event, "sequence_number": number} for number, event in enumerate(events)], named=True)

    def completions(self, asked):
        results = [one.get("content") for one in asked.get("messages", []) if one.get("role") == "tool"]
        tools = [tool["function"] for tool in asked.get("tools") or [] if "function" in tool]
        made = self.decide({tool["name"]: tool.get("parameters") or {} for tool in tools}, results)
        said = {"role": "assistant", "content": None if made else "done"}
        if made:
            function = {"name": made[0], "arguments": json.dumps(made[1])}
            said["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
        why = "tool_calls" if made else "stop"
        use = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "chat_1", "created": 1, "model": asked.get("model", "fake")}
        if not asked.get("stream"):
            choice = {"index": 0, "message": said, "finish_reason": why}
            return self.json({**head, "object": "chat.completion", "choices": [choice], "usage": use})
        head["object"] = "chat.completion.chunk"
        self.stream([
            {**head, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]},
            {**head, "choices": [], "usage": use},
            "[DONE]",
        ], named=False)

    def contents(self, asked):
        parts = [part for content in asked.get("contents", []) for part in content.get("parts", [])]
        results = [part["functionResponse"].get("response") for part in parts if "functionResponse" in part]
        tools = [tool for group in asked.get("tools") or [] for tool in group.get("functionDeclarations", [])]
        shapes = {tool["name"]: tool.get("parametersJsonSchema") or tool.get("parameters") or {} for tool in tools}
        part = {"text": "done"}
        if asked.get("generationConfig", {}).get("responseJsonSchema") and not shapes:
            # Which model is to be taken: it wants JSON.
            part = {"text": json.dumps({"reasoning": "x", "model_choice": "flash", "complexity_reasoning": "x", "complexity_score": 1})}
        elif made := self.decide(shapes, results):
            part = {"functionCall": {"id": "call_1", "name": made[0], "args": made[1]}, "thoughtSignature": "c2ln"}
        answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                  "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "fake"}
        if self.path.split("?")[0].endswith(":streamGenerateContent"):
            return self.stream([answer], named=False)
        self.json(answer)


if __name__ == "__main__":
    LOG = sys.argv[2]
    ASKED = (sys.argv[3], *([sys.argv[4], json.loads(sys.argv[5])] if len(sys.argv) > 4 else []))
    place, *tls = sys.argv[1].split(",")
    address, port = place.rsplit(":", 1) if ":" in place else ("127.0.0.1", place)
    server = ThreadingHTTPServer((address, int(port)), Model)
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()
