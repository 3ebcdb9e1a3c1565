"""A server that misbehaves as its first argument says. Before that it is what the client expects."""

import json
import os
import sys
import time
from pathlib import Path

HOW, VERSION, ONCE = sys.argv[1], sys.argv[2], Path(sys.argv[3])


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def main():
    # Misbehaves once: the server that is started after it does not.
    is_first = not ONCE.exists()
    ONCE.touch()
    for line in sys.stdin:
        request = json.loads(line)
        number, method = request["id"], request["method"]
        if method == "exec":
            ONCE.with_name("asked").touch()
        if method == "cancel":
            ONCE.with_name("cancelled").touch()
        elif method == "version" and HOW == "silent":
            pass
        elif method == "version":
            say({"id": number, "result": {"name": "stockade", "version": VERSION, "methods": []}})
        elif method == "ping":
            if not (is_first and HOW == "stuck"):
                say({"id": number, "result": {"ready": True}})
        elif is_first:
            misbehave(number)
        else:
            say({"id": number, "result": {"body": "well"}})


def misbehave(number):
    if HOW == "garbage":
        print("Segmentation fault", flush=True)
    elif HOW == "binary":
        sys.stdout.buffer.write(b"\xff\xfe\x00\n")
        sys.stdout.flush()
    elif HOW == "list":
        print("[1]", flush=True)
    elif HOW == "neither":
        say({"id": number})
    elif HOW == "both":
        say({"id": number, "result": 1, "error": {"code": 1, "message": "x"}})
    elif HOW == "bad-error":
        say({"id": number, "error": "no"})
    elif HOW == "request":
        say({"id": number, "method": "sanitize", "params": {}})
    elif HOW == "unread":
        say({"id": None, "error": {"code": -32600, "message": "too long"}})
    elif HOW == "piece":
        say({"method": "exec.output", "params": {"id": number, "stream": "stdout", "seq": 3, "dataBase64": ""}})
    elif HOW == "no-base64":
        say({"method": "exec.output", "params": {"id": number, "stream": "stdout", "seq": 0, "dataBase64": "?"}})
    elif HOW == "lost-pieces":
        say({"id": number, "result": {"pieces": 2}})
    elif HOW == "die":
        os._exit(7)
    elif HOW == "half":
        sys.stdout.write('{"jsonrpc"')
        sys.stdout.flush()
        os._exit(0)
    elif HOW in ("slow", "stuck"):
        time.sleep(0)


if __name__ == "__main__":
    main()
