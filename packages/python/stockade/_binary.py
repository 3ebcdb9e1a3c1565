"""Where the program `stockade` is."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from ._errors import BinaryNotFoundError


def find_binary() -> str:
    """Returns the program that came with this package; else the one that `PATH` leads to. `STOCKADE_BINARY` decides before both."""
    named = os.environ.get("STOCKADE_BINARY")
    if named:
        if not _is_program(Path(named)):
            raise BinaryNotFoundError(f"STOCKADE_BINARY is {named}, which is no program; set it to one, or unset it")
        return named
    for folder in _folders() + _on_path():
        program = folder / "stockade"
        if _is_program(program):
            return str(program)
    raise BinaryNotFoundError(
        "there is no program `stockade` beside this package or on PATH; install the wheel for this platform, "
        "build it with `cargo install --locked --path crates/cli`, or set STOCKADE_BINARY"
    )


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _on_path() -> list[Path]:
    """The folders of `PATH`. What one that is relative leads to depends on where this runs: the project of an agent, perhaps."""
    return [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]


def _folders() -> list[Path]:
    """Where installers put programs: for this environment, for this user, and below a folder of `pip install --target`."""
    user = f"{os.name}_user"
    schemes = [sysconfig.get_path("scripts")]
    if user in sysconfig.get_scheme_names():
        schemes.append(sysconfig.get_path("scripts", user))
    return [Path(folder) for folder in schemes if folder] + [
        Path(sys.executable).parent,
        Path(__file__).resolve().parent.parent / "bin",
    ]
