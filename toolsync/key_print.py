"""`key print`: the command that tools run for the key. One line on stdout, or one line on stderr and exit code 2.

Tools run it before every request: it is answered before typer is imported, reads no more of `profile.toml` than it
needs, and brings in nothing that it can do without (`pathlib` and `dataclasses` take as long as the interpreter). Run
as a tool's helper (`python -I -m toolsync …`) it takes nothing of its caller's `PYTHON*`, `TOOLSYNC_*` and `XDG_*`: a
repository may have set them. Run by a person (`toolsync key print`) it looks where every other command looks.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from toolsync.errors import ProfileError, ToolsyncError
from toolsync.masking import Secret, mask_key_shapes, masked, printable

if TYPE_CHECKING:
    from toolsync.secret.vault import Vault

_LONGEST_LINE = 700
_ROOM_SECONDS = 5.0


class Request(NamedTuple):
    """What the command line asks for: a profile (None: the active one), and the profile file (None: the usual one)."""

    profile: str | None
    config: str | None


def requested(arguments: Sequence[str]) -> Request | None:
    """The request in `[--config PATH] key print [PROFILE]`; None for every other command line."""
    config, words = None, []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--config":
            config = next(rest, "")
        elif argument.startswith("--config="):
            config = argument.removeprefix("--config=")
        else:
            words.append(argument)
    is_ours = words[:2] == ["key", "print"] and len(words) in (2, 3) and config != ""
    if not is_ours or any(word.startswith("-") for word in words):
        return None
    return Request(words[2] if len(words) == 3 else None, config)  # noqa: PLR2004  key, print, PROFILE


def run(request: Request) -> int:
    """Print the key; the exit code: 0, 2 (said why), 130 (interrupted), 70 (a bug of ours)."""
    try:
        signal.signal(signal.SIGTERM, _stop)  # so that the program of a `command:` is ended too
        _put(_key(request, is_isolated=bool(sys.flags.isolated)))
    except ToolsyncError as error:
        return _said(f"{error.message}. {error.hint}", 2)
    except OSError as error:
        return _said(f"the key cannot be printed: {error.strerror}", 2)
    except KeyboardInterrupt:
        return _said("interrupted", 130)
    except Exception as error:  # noqa: BLE001  a tool's user must not meet a traceback, which could hold the key
        return _said(f"key print met a bug ({type(error).__name__}); please report it", 70)
    return 0


def config_file(request: Request, environ: Mapping[str, str], home: str, platform: str, *, is_isolated: bool) -> str:
    """The profile file: `--config`, else `TOOLSYNC_CONFIG`, else the platform's (as platformdirs finds it)."""
    named = request.config or ("" if is_isolated else environ.get("TOOLSYNC_CONFIG", ""))
    if named:
        return os.path.expanduser(named)  # noqa: PTH111  see above
    return os.path.join(_config_dir({} if is_isolated else environ, home, platform), "toolsync", "profile.toml")  # noqa: PTH118


def _config_dir(environ: Mapping[str, str], home: str, platform: str) -> str:
    if platform == "darwin":
        return f"{home}/Library/Application Support"
    if platform == "win32":
        return environ.get("LOCALAPPDATA") or rf"{home}\AppData\Local"
    xdg = environ.get("XDG_CONFIG_HOME", "").strip()
    return xdg if os.path.isabs(xdg) else f"{home}/.config"  # noqa: PTH117  likewise


def _key(request: Request, *, is_isolated: bool) -> Secret:
    from toolsync.keyref import KeyRef  # with what it takes, this costs more than a command line that is not ours
    from toolsync.secret.reference import resolve  # likewise

    home = os.path.expanduser("~")  # noqa: PTH111  likewise
    path = config_file(request, os.environ, home, sys.platform, is_isolated=is_isolated)
    shown = _shown(path, home)
    name, table = _table(_read(path, shown), request.profile, shown)
    text = _reference(name, table if "key" in table else _shared(path, home, name, table), shown)
    reference, dropped = KeyRef.parse(text), ("PYTHON", "TOOLSYNC_") if is_isolated else ()
    own = reference.name if reference.kind == "env" else ""  # named by the profile, and no setting of ours
    environ = {name: value for name, value in os.environ.items() if name == own or not name.startswith(dropped)}
    return resolve(reference, _vault, environ)


def _vault() -> Vault:
    from toolsync.secret.quick import QuickVault  # a variable is read without it

    return QuickVault()


def _shown(path: str, home: str) -> str:
    """The path as people write it."""
    return f"~{path[len(home) :]}".replace("\\", "/") if path.startswith(os.path.join(home, "")) else path  # noqa: PTH118


def _read(path: str, shown: str) -> dict[str, Any]:
    import tomllib  # the whole schema has been met by what wrote the file

    try:
        with open(path, "rb", opener=_unhindered) as file:
            return tomllib.loads(file.read().decode("utf-8-sig"))
    except OSError as error:
        raise ProfileError(f"{shown}: {error.strerror}", hint="Make it with `toolsync init`.") from error
    except (ValueError, RecursionError) as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        raise ProfileError(_placed(shown, reason), hint="Mend it by hand.") from error


def _unhindered(path: str, flags: int) -> int:
    """Open a file; one that is a pipe in truth, which nobody writes to, is an empty one and not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _placed(file: str, reason: str) -> str:
    """What tomllib says, with its place in front as every other command says it."""
    import re  # only for what is wrong

    place = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", reason, re.DOTALL)
    return f"{file}:{place[2]}:{place[3]}: {place[1]}" if place else f"{file}: {reason}"


def _table(content: Mapping[str, Any], wanted: str | None, name: str) -> tuple[str, dict[str, Any]]:
    """The profile `wanted`, or the active one, with its name."""
    profile = content.get("active") if wanted is None else wanted
    if not isinstance(profile, str) or not profile:
        raise ProfileError(f"{name}: no profile is active", hint="Choose one with `toolsync use NAME`.")
    shown = printable(profile, limit=80)
    profiles = content.get("profiles")
    table = profiles.get(profile) if isinstance(profiles, dict) else None
    if not isinstance(table, dict):
        raise ProfileError(
            f"{name}: there is no profile '{shown}'", hint="`toolsync profile list` shows those there are."
        )
    return profile, table


def _reference(profile: str, table: Mapping[str, Any], name: str) -> str:
    if not isinstance(table.get("key"), str):
        shown = printable(profile, limit=80)
        raise ProfileError(f"{name}: profiles.{shown} has no key reference", hint='Write key = "keyring:NAME".')
    return str(table["key"])


def _shared(path: str, home: str, profile: str, own: Mapping[str, Any]) -> Mapping[str, Any]:
    """The profile with what its shared file gives, if that was agreed to: a `command:` there would be run."""
    if not isinstance(own.get("from"), str):
        return own
    from pathlib import Path  # this way is slower: the shared file is checked as every other command does

    from toolsync.sharing import Desk

    return Desk(Path(path), Path(home)).joined(profile, own).table


def _put(key: Secret) -> None:
    """Straight to the descriptor: no buffer keeps the key, or fails when the interpreter is already closing."""
    rest = (key.reveal() + "\n").encode("ascii")
    while rest:
        try:
            rest = rest[os.write(1, rest) :]
        except BlockingIOError:  # a full pipe that does not make us wait by itself
            _wait_for_room()


def _wait_for_room() -> None:
    from errno import EAGAIN
    from select import select  # hardly ever, both

    if not select([], [1], [], _ROOM_SECONDS)[1]:
        raise BlockingIOError(EAGAIN, "nobody reads what is printed")


def _said(text: str, exit_code: int) -> int:
    text = " ".join(printable(masked(mask_key_shapes(text)), limit=_LONGEST_LINE).split())
    try:
        os.write(2, f"toolsync: {text}\n".encode())
    except OSError:
        return exit_code  # nobody listens
    return exit_code


def _stop(_signal: int, _frame: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)
