"""What the clients do when all goes well, and when it does not. Runs where the wheel is installed."""

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path

import stockade
from stockade import AsyncStockade, Stockade

FAKE = Path(__file__).with_name("fake_server.py")

#: How a server misbehaves, and what the call raises.
BROKEN = {
    "garbage": stockade.ProtocolError,
    "binary": stockade.ProtocolError,
    "list": stockade.ProtocolError,
    "neither": stockade.ProtocolError,
    "both": stockade.ProtocolError,
    "bad-error": stockade.ProtocolError,
    "request": stockade.ProtocolError,
    "piece": stockade.ProtocolError,
    "unread": stockade.ServerError,
    "die": stockade.ConnectionLostError,
    "half": stockade.ProtocolError,
    "slow": stockade.RequestTimeoutError,
    "stuck": stockade.RequestTimeoutError,
}

#: Parameters that no server can read.
UNSENDABLE = [
    float("nan"),
    float("-inf"),
    "\ud800",
    {"a": ["\udfff"]},
    {1: 2},
    b"bytes",
    {"deep": None},
    list(range(100_000)),
    "x" * (5 << 20),
]
DEEP = UNSENDABLE[6]
for _ in range(200):
    DEEP = UNSENDABLE[6] = {"deep": DEEP}
CIRCLE = []
CIRCLE.append(CIRCLE)
UNSENDABLE.append(CIRCLE)


class Timed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def fake(self, how, version=stockade.__version__):
        program = self.folder / "fake"
        words = [sys.executable, str(FAKE), how, version, str(self.folder / "once")]
        program.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in words) + "\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return str(program)


class Blocking(Timed):
    def test_every_way_to_break_is_an_error_in_time_and_the_next_call_works(self):
        for how, error in BROKEN.items():
            with self.subTest(how):
                (self.folder / "once").unlink(missing_ok=True)
                began = time.monotonic()
                with Stockade(binary=self.fake(how)) as client:
                    with self.assertRaises(error):
                        if how == "piece":
                            list(client.exec_stream(command="x", timeout=1.5))
                        else:
                            client.sanitize(text="x", timeout=1.5)
                    self.assertLess(time.monotonic() - began, 8)
                    self.assertEqual(client.sanitize(text="x") if how not in ("unread", "slow") else {"body": "well"}, {"body": "well"})

    def test_output_that_is_not_whole_is_an_error(self):
        for how in ("no-base64", "lost-pieces"):
            with self.subTest(how), Stockade(binary=self.fake(how)) as client:
                (self.folder / "once").unlink(missing_ok=True)
                with self.assertRaises(stockade.ProtocolError):
                    list(client.exec_stream(command="x", timeout=5))

    def test_what_cannot_be_read_is_not_sent(self):
        with Stockade() as client:
            session = client.session_open()["session"]
            for value in UNSENDABLE:
                with self.assertRaises(stockade.UnsendableError):
                    client.eval(expr="1", vars={"x": value})
                with self.assertRaises(ValueError):
                    client.eval(expr="1", vars={"x": value})
            # It is still the same server.
            client.session_close(session=session)

    def test_as_much_as_may_be_sent_is_read(self):
        with Stockade() as client:
            deep = {"x": 1}
            for _ in range(110):
                deep = {"x": deep}
            for value in [deep, list(range(40_000)), "x" * 1_000_000, "\U0001f600\u2028\x00"]:
                try:
                    self.assertEqual(client.eval(expr="1", vars={"x": value})["value"], 1)
                except stockade.ServerError as error:
                    # It was read, and is too much for an evaluation.
                    self.assertNotIn(error.code, (-32700, -32600))

    def test_a_killed_server_is_started_again(self):
        with Stockade() as client:
            client.ping()
            for _ in range(3):
                client._server._connection._process.kill()
                for _ in range(2):
                    try:
                        client.ping()
                    except stockade.ConnectionLostError:
                        pass
                self.assertTrue(client.ping()["ready"])

    def test_a_stopped_server_is_ended_and_started_again(self):
        with Stockade() as client:
            client.ping()
            stopped = client._server._connection._process
            stopped.send_signal(signal.SIGSTOP)
            with self.assertRaises(stockade.RequestTimeoutError):
                client.sanitize(text="x" * 1_000_000, timeout=0.5)
            self.assertEqual(client.sanitize(text="a")["body"], "a")
            self.assertEqual(stopped.wait(5), -signal.SIGKILL)

    def test_what_is_no_server_is_refused(self):
        for program, error in [
            ("/bin/cat", stockade.StockadeError),
            ("/bin/true", stockade.ConnectionLostError),
            (str(self.folder / "missing"), stockade.BinaryNotFoundError),
            (self.fake("well", "9.0.0"), stockade.VersionError),
        ]:
            with self.subTest(program), self.assertRaises(error):
                Stockade(binary=program, start_timeout=2, stderr=subprocess.DEVNULL).ping()
        with self.assertRaises(stockade.ConnectionLostError):
            Stockade(socket_path=self.folder / "no-socket").ping()

    def test_errors_of_the_server_have_their_kinds(self):
        with Stockade() as client:
            for method, params, error in [
                ("no.such", {}, stockade.UnknownMethodError),
                ("sanitize", {"txt": 1}, stockade.InvalidParametersError),
                ("exec", {"command": "rm -rf /"}, stockade.RefusedByPolicyError),
                ("eval", {"expr": "while (true) {}", "limits": {"timeoutMs": 50}}, stockade.ServerError),
            ]:
                with self.subTest(method), self.assertRaises(error):
                    client.call(method, params)

    def test_threads_share_a_client(self):
        with Stockade() as client:
            bodies = []
            work = lambda number: bodies.append(client.sanitize(text=f"{number}<!-- x -->")["body"])
            threads = [threading.Thread(target=work, args=(number,)) for number in range(40)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
            self.assertEqual(sorted(map(int, bodies)), list(range(40)))

    def test_a_closed_client_does_nothing(self):
        client = Stockade()
        client.ping()
        client.close()
        client.close()
        with self.assertRaises(stockade.ClosedError):
            client.ping()

    def test_a_server_is_reached_over_a_socket(self):
        path = self.folder / "socket"
        server = subprocess.Popen([stockade.find_binary(), "serve", "--socket", str(path)])
        try:
            until = time.monotonic() + 10
            while not path.exists() and time.monotonic() < until:
                time.sleep(0.05)
            with Stockade(socket_path=path) as client:
                self.assertEqual(client.sanitize(text="a")["body"], "a")
                self.assertEqual(client.version()["version"], stockade.__version__)
        finally:
            server.terminate()
            server.wait(10)

    def test_a_start_that_fails_fails_once_for_all_who_wait(self):
        client = Stockade(binary=self.fake("silent"), start_timeout=1)
        errors = []

        def work():
            try:
                client.ping()
            except stockade.RequestTimeoutError as error:
                errors.append(error)

        began = time.monotonic()
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertEqual(len(errors), 6)
        self.assertLess(time.monotonic() - began, 1.9)

    def test_a_start_counts_as_time_of_the_call_that_waits_for_it(self):
        with Stockade(binary=self.fake("silent"), start_timeout=20) as client:
            began = time.monotonic()
            with self.assertRaises(stockade.RequestTimeoutError):
                client.ping(timeout=0.3)
            client.close()
            self.assertLess(time.monotonic() - began, 4)

    def test_a_server_that_takes_nobody_is_given_up_in_time(self):
        path = self.folder / "full"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen(0)
            queue = [socket.socket(socket.AF_UNIX) for _ in range(8)]
            for one in queue:
                self.addCleanup(one.close)
                one.setblocking(False)
                one.connect_ex(str(path))
            client, began = Stockade(socket_path=path, start_timeout=1), time.monotonic()
            caught = []

            def work():
                try:
                    client.ping()
                except stockade.StockadeError as error:
                    caught.append(error)

            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            thread.join(5)
            self.assertEqual([type(error) for error in caught], [stockade.ConnectionLostError])
            self.assertGreater(time.monotonic() - began, 0.9)
            client.close()

    def test_nothing_waits_for_ever_that_was_not_told_to(self):
        for client in (Stockade, AsyncStockade):
            options = client(timeout=None, start_timeout=None, max_request=None, arguments=None)._options
            self.assertEqual((options.start_timeout, options.max_request, options.arguments), (10, 4 << 20, ()))
            self.assertEqual(options.seconds("ping", {}, None), 30)
            for given, wanted in [(None, 150), (1000, 31), (float("nan"), 150), ("1", 150), (-1, 150), (10**400, 150)]:
                self.assertEqual(options.seconds("exec", {"timeoutMs": given}, None), wanted)
            self.assertIsNone(options.seconds("exec", {}, float("inf")))
            for time_of in (float("nan"), -1, "1", True):
                for name in ("timeout", "start_timeout"):
                    with self.assertRaises(stockade.UnsendableError):
                        client(**{name: time_of})
                with self.assertRaises(stockade.UnsendableError):
                    options.seconds("ping", {}, time_of)

    def test_what_is_under_way_over_a_socket_is_answered_before_the_end(self):
        path = self.folder / "answers-last"
        heard = threading.Event()

        def serve(listener):
            connection, _ = listener.accept()
            with connection, connection.makefile("rw") as lines:
                numbers = []
                # It answers once nothing more can come.
                for line in lines:
                    request = json.loads(line)
                    result = {"name": "stockade", "version": stockade.__version__, "methods": []}
                    if request["method"] == "version":
                        lines.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n")
                        lines.flush()
                    else:
                        numbers.append(request["id"])
                        heard.set()
                for number in numbers:
                    lines.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": {"body": "well"}}) + "\n")

        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            threading.Thread(target=serve, args=(listener,), daemon=True).start()
            client, answers = Stockade(socket_path=path), []
            thread = threading.Thread(target=lambda: answers.append(client.sanitize(text="x")), daemon=True)
            thread.start()
            self.assertTrue(heard.wait(10))
            client.close()
            thread.join(10)
            self.assertEqual(answers, [{"body": "well"}])

    def test_every_method_is_there(self):
        with Stockade() as client:
            self.assertEqual(sorted(client.version()["methods"]), sorted(stockade.METHODS))
        for method in stockade.METHODS:
            name = method.replace(".", "_")
            self.assertTrue(hasattr(Stockade, name) and hasattr(AsyncStockade, name), name)

    def test_notifications_are_heard_and_a_handler_may_fail(self):
        heard = threading.Event()

        def hear(method, params):
            heard.set()
            raise RuntimeError(method)

        rules = ["--rules", str(self.folder / "rules.toml")]
        with self.assertLogs("stockade"), Stockade(on_notification=hear, arguments=rules) as client:
            client.session_open(listen=True)
            client.policy_add(rule="deny git push")
            self.assertTrue(heard.wait(10))
            self.assertTrue(client.ping()["ready"])


class Commands(Timed):
    def test_a_command_is_ended_that_an_error_about_some_request_was_taken_for(self):
        for stream in (False, True):
            with self.subTest(stream=stream), Stockade(binary=self.fake("unread")) as client:
                (self.folder / "once").unlink(missing_ok=True)
                (self.folder / "cancelled").unlink(missing_ok=True)
                with self.assertRaises(stockade.InvalidRequestError):
                    list(client.exec_stream(command="x")) if stream else client.exec(command="x")
                until = time.monotonic() + 10
                while not (self.folder / "cancelled").exists():
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.02)

    def test_output_comes_while_the_command_runs(self):
        spec = {"workspace": str(self.folder)}
        with Stockade() as client:
            with client.exec_stream(command="echo one; echo two >&2; sleep 0.2; echo three", spec=spec) as run:
                pieces = list(run)
            out = b"".join(piece.data for piece in pieces if piece.stream == "stdout")
            self.assertEqual((out, run.result()["exitCode"]), (b"one\nthree\n", 0))
            self.assertEqual([piece.seq for piece in pieces], list(range(len(pieces))))

    def test_a_command_that_nobody_waits_for_is_ended(self):
        spec, ticks = {"workspace": str(self.folder)}, self.folder / "ticks"
        command = "while :; do echo tick >> ticks; echo tick; sleep 0.05; done"
        with Stockade() as client:
            with client.exec_stream(command=command, spec=spec) as run:
                for _ in run:
                    break
            self.assertEqual(run.result()["end"], "cancelled")
            with self.assertRaises(stockade.RequestTimeoutError):
                client.exec(command=command, spec=spec, timeout=0.5)
            time.sleep(0.5)
            size = ticks.stat().st_size
            time.sleep(0.5)
            self.assertEqual(ticks.stat().st_size, size)
            self.assertTrue(client.ping()["ready"])


class Binary(Timed):
    def test_a_folder_of_path_that_is_relative_holds_no_program(self):
        program = self.folder / "bin" / "stockade"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        with unittest.mock.patch("stockade._binary._folders", return_value=[]), unittest.mock.patch.dict(os.environ):
            os.environ.pop("STOCKADE_BINARY", None)
            for path in ("bin", "./bin:bin", ""):
                os.environ["PATH"] = path
                with self.assertRaises(stockade.BinaryNotFoundError):
                    stockade.find_binary()
            os.environ["PATH"] = f"bin:{program.parent}"
            self.assertEqual(stockade.find_binary(), str(program))
            os.environ["STOCKADE_BINARY"] = str(program.parent)
            with self.assertRaises(stockade.BinaryNotFoundError):
                stockade.find_binary()


class Async(Timed, unittest.IsolatedAsyncioTestCase):
    async def test_every_way_to_break_is_an_error_in_time_and_the_next_call_works(self):
        for how, error in BROKEN.items():
            with self.subTest(how):
                (self.folder / "once").unlink(missing_ok=True)
                async with AsyncStockade(binary=self.fake(how)) as client:
                    with self.assertRaises(error):
                        if how == "piece":
                            async for _ in await client.exec_stream(command="x", timeout=1.5):
                                pass
                        else:
                            await client.sanitize(text="x", timeout=1.5)
                    if how not in ("unread", "slow"):
                        self.assertEqual(await client.sanitize(text="x"), {"body": "well"})

    async def test_a_start_that_fails_fails_once_for_all_who_wait(self):
        async with AsyncStockade(binary=self.fake("silent"), start_timeout=1) as client:
            began = time.monotonic()
            errors = await asyncio.gather(*(client.ping() for _ in range(6)), return_exceptions=True)
            self.assertEqual([type(error) for error in errors], [stockade.RequestTimeoutError] * 6)
            self.assertLess(time.monotonic() - began, 1.9)
            with self.assertRaises(stockade.RequestTimeoutError):
                await client.ping(timeout=0.2)

    async def test_calls_run_side_by_side_and_the_loop_goes_on(self):
        async with AsyncStockade() as client:
            answers = await asyncio.gather(*(client.sanitize(text=f"{n}<!-- x -->") for n in range(60)))
            self.assertEqual([int(one["body"]) for one in answers], list(range(60)))

    async def test_a_cancelled_task_ends_its_command(self):
        ticks = self.folder / "ticks"
        command = "while :; do echo tick >> ticks; sleep 0.05; done"
        async with AsyncStockade() as client:
            task = asyncio.create_task(client.exec(command=command, spec={"workspace": str(self.folder)}))
            until = time.monotonic() + 20
            while not ticks.exists() and time.monotonic() < until:
                await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0.5)
            size = ticks.stat().st_size
            await asyncio.sleep(0.5)
            self.assertEqual(ticks.stat().st_size, size)

    async def test_output_is_streamed(self):
        async with AsyncStockade() as client:
            run = await client.exec_stream(command="echo one; echo two", spec={"workspace": str(self.folder)})
            out = b"".join([piece.data async for piece in run])
            self.assertEqual((out, (await run.result())["exitCode"]), (b"one\ntwo\n", 0))

    async def test_a_closed_client_does_nothing(self):
        client = AsyncStockade()
        await client.ping()
        await client.close()
        with self.assertRaises(stockade.ClosedError):
            await client.ping()


if __name__ == "__main__":
    unittest.main()
