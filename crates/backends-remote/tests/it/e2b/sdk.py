"""What the official SDK for Python makes of the server: `sdk.py PORT`. It prints `ok`, or fails."""
import os, sys

port = sys.argv[1]
os.environ.update(E2B_API_KEY="e2b_" + "0" * 40, E2B_API_URL="http://127.0.0.1:" + port, E2B_SANDBOX_URL="http://127.0.0.1:" + port, E2B_HTTP_VERSION="1.1")
from e2b import CommandExitException, NotFoundException, Sandbox

sandbox = Sandbox.create(template="base", timeout=60, envs={"A": "b c"}, metadata={"run": "1"}, allow_internet_access=False)
pieces = []
done = sandbox.commands.run('echo "$A"; echo two >&2', on_stdout=pieces.append, cwd="/home/user")
assert (done.exit_code, done.stdout, done.stderr, "".join(pieces)) == (0, "b c\n", "two\n", "b c\n"), done
try:
    sandbox.commands.run("exit 3")
    raise AssertionError("it did not fail")
except CommandExitException as error:
    assert error.exit_code == 3
sandbox.files.write("/home/user/a/b.bin", bytes(range(256)))
assert sandbox.files.read("/home/user/a/b.bin", format="bytes") == bytearray(range(256))
assert [one.name for one in sandbox.files.list("/home/user/a")] == ["b.bin"]
try:
    sandbox.files.read("/home/user/nothing")
    raise AssertionError("it is there")
except NotFoundException:
    pass
sandbox.set_timeout(120)
assert sandbox.get_info().metadata == {"run": "1"}
assert sandbox.kill()
print("ok")
