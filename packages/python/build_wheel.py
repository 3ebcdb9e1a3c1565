"""Makes the wheel, as PEP 517 asks for it: the package, and the program that was built before. It needs nothing but Python.

The program is `STOCKADE_BINARY`, or what `cargo static` or `cargo build --release` left in `target/release`; the programs of remote
backends are those beside it. The tag of the wheel says what that program runs on, which is read from the program itself.
"""

import base64
import hashlib
import os
import re
import struct
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: Processors by their numbers in programs of Linux and of macOS, and what wheels call them.
ELF = {62: "x86_64", 183: "aarch64"}
MACH = {0x01000007: "x86_64", 0x0100000C: "arm64"}

METADATA = """\
Metadata-Version: 2.4
Name: stockade
Version: {version}
Summary: Defence in depth for AI agents: typed clients of `stockade serve`, with the program.
License-Expression: MIT OR Apache-2.0
Requires-Python: >=3.9
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: stockade build_wheel
Root-Is-Purelib: false
"""


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("there is no source distribution: the program is built by cargo, and the wheel around it")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel, and returns its name."""
    program = binary()
    version = re.search(r'^VERSION = "([0-9.]+)"$', (HERE / "stockade/_protocol.py").read_text("utf-8"), re.MULTILINE).group(1)
    tags = ["py3-none-" + platform for platform in platforms(program)]
    name = f"stockade-{version}-py3-none-" + ".".join(tag.rsplit("-", 1)[1] for tag in tags)
    info = f"stockade-{version}.dist-info"
    files = {f"stockade/{path.name}": path.read_bytes() for path in sorted((HERE / "stockade").iterdir()) if path.is_file()}
    for file in [program, *backends(program)]:
        files[f"stockade-{version}.data/scripts/{'stockade' if file is program else file.name}"] = file.read_bytes()
    files[f"{info}/METADATA"] = METADATA.format(version=version, readme=(HERE / "README.md").read_text("utf-8")).encode()
    files[f"{info}/WHEEL"] = (WHEEL + "".join(f"Tag: {tag}\n" for tag in tags)).encode()
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{licence}"] = (HERE / "../.." / licence).read_bytes()
    record = [f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items()]
    files[f"{info}/RECORD"] = ("".join(record) + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(Path(wheel_directory) / f"{name}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=6) as wheel:
        for path, data in files.items():
            # The same bytes whenever it is made; only the program is one.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            wheel.writestr(entry, data)
    return f"{name}.whl"


def binary():
    """Returns the program that goes into the wheel."""
    named = os.environ.get("STOCKADE_BINARY")
    program = Path(named) if named else HERE / "../../target/release/stockade"
    if not program.is_file():
        raise FileNotFoundError(f"{program}: build the program by `cargo static`, or name one by STOCKADE_BINARY")
    return program


def backends(program):
    """Returns the programs of remote backends that lie beside the program, which looks for them there."""
    return sorted(path for path in program.parent.glob("stockade-backend-*") if path.is_file() and not path.suffix)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def platforms(program):
    """Says what a program runs on, as wheels write it."""
    with program.open("rb") as file:
        head = file.read(64)
        if head[:6] == b"\x7fELF\x02\x01":
            machine = ELF[struct.unpack_from("<H", head, 18)[0]]
            if needs_loader(file, head):
                # It needs the C library of a machine like this one.
                return [f"linux_{machine}"]
            return [f"manylinux2014_{machine}", f"manylinux_2_17_{machine}", f"musllinux_1_1_{machine}"]
        if head[:4] == b"\xcf\xfa\xed\xfe":
            return ["macosx_11_0_" + MACH[struct.unpack_from("<I", head, 4)[0]]]
    raise ValueError(f"{program} is no program for Linux or macOS")


def needs_loader(file, head):
    """Whether a program of Linux is to be loaded with shared libraries: one that is not runs on every Linux."""
    (table,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    for index in range(count):
        file.seek(table + index * size)
        if struct.unpack("<I", file.read(4))[0] == 3:
            return True
    return False
