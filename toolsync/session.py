"""One run of toolsync on one machine: where things are, and what the outside world is reached through."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from toolsync.errors import FileError, ProfileError
from toolsync.paths import Places, Platform
from toolsync.process import Running
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.masking import Secret
    from toolsync.profile import KeyRef, Profiles
    from toolsync.profile.model import Joined
    from toolsync.secret.vault import Vault


@frozen
class Session:
    """What commands are given instead of reaching for the environment themselves.

    Attributes:
        places: home, environment, project and root folder.
        config: the profile file, absolute.
        state: toolsync's own folder: memory, journal, lock.
        open_vault: opens the keyring; called only where a key is needed.
        python: the interpreter that tools are told to run for `key print`.
        is_interactive: whether somebody is there to ask.
        clock: the present moment, UTC.
        processes: the user's running programs, as far as they are to be seen.
    """

    places: Places
    config: Path
    state: Path
    open_vault: Callable[[], Vault]
    python: Path = field(default_factory=lambda: Path(sys.executable))
    is_interactive: bool = False
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    processes: Running = tuple
    secrets: dict[KeyRef, Secret] = field(default_factory=dict, repr=False)
    """What `secret` has found already."""

    def secret(self, reference: KeyRef) -> Secret:
        """The key that `reference` stands for; a program is asked for it once a run.

        Raises:
            SecretError: it cannot be had.
        """
        from toolsync.secret.reference import resolve

        if reference not in self.secrets:
            self.secrets[reference] = resolve(reference, self.open_vault, self.places.environ)
        return self.secrets[reference]

    def forget_keys(self) -> None:
        """Ask the keyring anew: what was found may have been replaced since. A program is not asked twice."""
        for reference in [one for one in self.secrets if one.kind == "keyring"]:
            del self.secrets[reference]

    def now(self) -> str:
        """The present moment as tools write it: ISO 8601, milliseconds, ending in `Z`."""
        return self.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def profiles(self) -> Profiles:
        """The profile file, read and checked.

        Raises:
            ProfileError: it is missing or wrong.
            FileError: it cannot be read.
        """
        from toolsync import disk
        from toolsync.profile.reader import read

        raw = disk.read(self.config).raw
        if raw is None:
            raise ProfileError(f"there is no profile yet: {self.shown(self.config)}", hint="Run `toolsync init`.")
        return read(raw, self.shown(self.config), self._joined)

    def _joined(self, name: str, own: Mapping[str, Any]) -> Joined:
        """The whole of a profile that begins in a shared file; see `Desk.joined`."""
        from toolsync.sharing import Desk

        return Desk(self.config, self.places.home).joined(name, own)

    def shown(self, path: Path | str) -> str:
        """The path as people write it, with `~` for the home folder."""
        from toolsync.masking import on_one_line

        path = Path(path)
        if path.is_relative_to(self.places.home) and path != self.places.home:
            return on_one_line(f"~/{path.relative_to(self.places.home).as_posix()}")
        return on_one_line(str(path))


def default_config(environ: Mapping[str, str]) -> Path:
    """The profile file: `TOOLSYNC_CONFIG`, else `profile.toml` in the platform's config directory."""
    if environ.get("TOOLSYNC_CONFIG"):
        return Path(environ["TOOLSYNC_CONFIG"]).expanduser().absolute()
    from platformdirs import user_config_path

    return _absolute(user_config_path("toolsync", appauthor=False), ".config/toolsync") / "profile.toml"


def default_state() -> Path:
    """The folder of memory, journal and lock."""
    from platformdirs import user_state_path

    return _absolute(user_state_path("toolsync", appauthor=False), ".local/state/toolsync")


def _absolute(path: Path, usual: str) -> Path:
    """The path; the usual one in the home folder where `XDG_*` is relative, which counts as unset (XDG, "Basics")."""
    return path if path.is_absolute() else Path.home() / usual


def this_machine(project: Path | None = None) -> Places:
    """The user's own places.

    Raises:
        FileError: the working directory is gone, or nobody knows the home folder.
    """
    try:
        here = project or Path.cwd()
    except FileNotFoundError as error:
        raise FileError("the current folder no longer exists", hint="Change to another one.") from error
    platform = sys.platform if sys.platform in ("darwin", "win32") else "linux"
    root = Path(here.anchor)
    return Places(_home(), dict(os.environ), here, root, cast("Platform", platform), repository=_repository(here))


def seen_from(places: Places, project: Path) -> Places:
    """The same machine as it is seen by a program that works in another folder."""
    return replace(places, project=project, repository=_repository(project))


def _repository(project: Path) -> Path | None:
    """The root of the repository around the project; None where that is the project itself, or there is none."""
    around = (project, *project.parents)
    # Path.exists raises where we may not look
    root = next((folder for folder in around if os.path.exists(folder / ".git")), project)  # noqa: PTH110
    return None if root == project else root


def _home() -> Path:
    try:
        home = Path.home()
    except RuntimeError as error:
        raise FileError("nobody knows where your home folder is", hint="Set HOME.") from error
    if not home.is_absolute() or os.environ.get("HOME") == "":
        raise FileError("HOME is no absolute path", hint="Set it to your home folder, or leave it unset.")
    return home
