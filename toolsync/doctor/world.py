"""What all tools are looked at with: profile, memory, startup files, programs; each read once, when it is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from toolsync import gateways, memory
from toolsync.address import addresses, origin
from toolsync.doctor import startup
from toolsync.errors import ProfileError, SecretError, ToolsyncError
from toolsync.facts import Facts, facts
from toolsync.masking import Secret
from toolsync.process import Process
from toolsync.profile import Profile, for_tool
from toolsync.remembered import Memory
from toolsync.secret.vault import Entry
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.doctor.helper import Command, Printed


@dataclass
class World:
    """One look at a machine.

    Attributes:
        session: the machine.
        profile: the profile that the tools are to have; None where there is none.
        profiles: every profile of the user's own: a key goes to their addresses only.
        fault: why the profile that is meant cannot be read; None where it can, and where there is none.
        is_aside: whether the profile is another than the active one, so that commands have to name it.
    """

    session: Session
    profile: Profile | None = None
    profiles: Sequence[Profile] = ()
    fault: ProfileError | None = None
    is_aside: bool = False

    def __post_init__(self) -> None:
        self._printed: dict[tuple[str, ...], Printed] = {}
        self._versions: dict[str, str] = {}

    def of(self, tool: str) -> World:
        """The same for one tool: what was set to another profile than the active one is held against that."""
        name = self.memory.applied.get(tool)
        profile = next((one for one in self.profiles if one.name == name), None)
        fault = self._fault_of(name) if name and profile is None else None
        if fault is None and (profile is None or profile == self.profile):
            return self
        other = copy(self)
        other.profile, other.fault, other.is_aside = profile, fault, True
        for known in _OF_PROFILE & vars(other).keys():
            delattr(other, known)
        return other

    def _fault_of(self, name: str) -> ProfileError | None:
        """Why a profile that is not the active one cannot be had: it is shared, and its file is not there."""
        try:
            profiles = self.session.profiles()
        except ProfileError:
            return None
        return profiles.missing.get(name) if name != profiles.active else None

    @property
    def memory(self) -> Memory:
        """What was applied; nothing where memory cannot be read."""
        return self._read[0]

    @property
    def forgotten(self) -> ToolsyncError | None:
        """Why memory cannot be read."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[Memory, ToolsyncError | None]:
        try:
            return memory.read(memory.path_in(self.session.state)), None
        except ToolsyncError as error:
            return memory.fresh(), error

    @cached_property
    def startup_lines(self) -> tuple[startup.Line, ...]:
        """The lines of startup files that set variables."""
        return (*startup.lines(self.session.places), *_of_windows())

    def set_at(self, variable: str) -> startup.Line | None:
        """The line that most likely set a variable of our environment: the last one."""
        return next((line for line in reversed(self.startup_lines) if line.name == variable), None)

    @cached_property
    def processes(self) -> tuple[Process, ...]:
        """The user's running programs."""
        return tuple(self.session.processes())

    @cached_property
    def desktop(self) -> Mapping[str, str] | None:
        """The variables that programs of the desktop are started with, where the system says so (macOS)."""
        return _of_launchd() if self.session.places.platform == "darwin" else None

    @cached_property
    def origins(self) -> frozenset[str]:
        """Scheme, host and port of every address in the user's profiles."""
        return frozenset(origin(url) for profile in self.profiles for url in _addresses(profile))

    def origins_of(self, profile: Profile) -> frozenset[str]:
        """Those of one profile."""
        return frozenset(map(origin, _addresses(profile)))

    @property
    def own_origins(self) -> frozenset[str]:
        """Those of the profile that the tools are to have."""
        return frozenset(map(origin, self.own_addresses))

    @property
    def own_addresses(self) -> tuple[str, ...]:
        """Each protocol's address of the profile that the tools are to have."""
        return _addresses(self.profile) if self.profile is not None else ()

    @cached_property
    def key(self) -> Secret | SecretError | None:
        """The profile's key, or why it cannot be had."""
        if self.profile is None:
            return None
        from toolsync.secret.reference import resolve

        try:
            return resolve(self.profile.key, self.session.open_vault, self.session.places.environ)
        except SecretError as error:
            return error

    @cached_property
    def former_keys(self) -> tuple[Secret, ...]:
        """The keys that `key rotate` has replaced by the profile's, as far as the keyring keeps them."""
        if self.profile is None or self.profile.key.kind != "keyring" or not isinstance(self.key, Secret):
            return ()
        from toolsync.secret import former

        try:
            vault, noted = self.session.open_vault(), former.noted(self.session.state).get(self.profile.key.name)
            kept = [vault.get(entry) for entry in ((noted.entry, noted.going) if noted else ()) if entry]
        except SecretError:  # then nobody knows
            return ()
        return tuple(key for key in kept if key is not None and key != self.key)

    def key_of(self, profile: Profile) -> Secret | None:
        """A profile's key, where it can be had without a program, a file or a person: of a variable, of the keyring."""
        if profile == self.profile:
            return self.key if isinstance(self.key, Secret) else None
        if profile.key.kind not in ("env", "keyring"):
            return None
        from toolsync.secret.reference import resolve

        try:
            return resolve(profile.key, self.session.open_vault, self.session.places.environ)
        except SecretError:
            return None

    def entries(self, tool: str, *others: Entry) -> Mapping[str, str]:
        """What the tool finds in the keyring for variables that are not set; by name.

        Args:
            tool: its name.
            others: where it looks besides the entries that an apply is remembered to have put there.
        """
        applied = (
            Entry(name)
            for name, file in self.memory.entries.items()
            if any(layer.tool == tool and layer.holds_key for layer in file.layers)
        )
        found: dict[str, str] = {}
        for entry in dict.fromkeys((*applied, *others)):
            with suppress(SecretError):  # it finds nothing there either
                value = self.session.open_vault().get(entry)
                found |= {} if value is None else {entry.user: value.reveal()}
        return found

    def facts(self, tool: str) -> Facts:
        """What fills the templates of a tool; the key's facts are none of them."""
        if self.profile is None:
            return {}
        gateway = self._gateway
        try:
            return facts(
                for_tool(self.profile, tool),
                key_variable=gateway.key_variable if gateway else None,
                site=gateway.site if gateway else None,
            )
        except ProfileError:  # an address that no client could use
            return {}

    @cached_property
    def _gateway(self) -> gateways.Gateway | None:
        name = self.profile.gateway if self.profile else None
        try:
            return gateways.find(name, self.session.config.parent)
        except ToolsyncError:
            return None

    def printed(self, command: Command, environ: Mapping[str, str]) -> Printed:
        """What the command prints; run once, whichever tool runs it."""
        from toolsync.doctor.helper import printed

        if command.words not in self._printed:
            self._printed[command.words] = printed(command, environ, self._folder)
        return self._printed[command.words]

    def version(self, command: str) -> str:
        """What the program says when it is asked for its version; "" where it is not there, or says nothing."""
        from toolsync.doctor.client import found, version

        if command not in self._versions:
            environ = self.session.places.environ
            file = found(command, environ)
            self._versions[command] = version(file, environ) if file is not None else ""
        return self._versions[command]

    @property
    def _folder(self) -> Path:
        """Not the project's: by what lies there, a repository could have a say in what Python imports, say."""
        home = self.session.places.home
        return home if home.is_dir() else Path(home.anchor)


_OF_PROFILE = frozenset({"key", "former_keys", "_gateway"})
"""What is found out once for each profile."""


def _addresses(profile: Profile) -> tuple[str, ...]:
    try:
        derived = addresses(profile.base_url, profile.urls)
    except ProfileError:
        return ()
    return derived.root_url, derived.openai_url, derived.anthropic_url, derived.gemini_url


def _of_windows() -> tuple[startup.Line, ...]:
    """What Windows hands on to every program that is started later: the user's variables, and the machine's."""
    found: list[startup.Line] = []
    try:
        winreg = import_module("winreg")
    except ImportError:
        return ()
    machine = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment"
    for root, path, shown in (
        (winreg.HKEY_LOCAL_MACHINE, machine, rf"HKLM\{machine}"),
        (winreg.HKEY_CURRENT_USER, "Environment", r"HKCU\Environment"),
    ):
        try:
            with winreg.OpenKey(root, path) as key:
                values = [winreg.EnumValue(key, index)[:2] for index in range(winreg.QueryInfoKey(key)[1])]
        except OSError:
            continue
        found.extend(startup.registry_lines(shown, values))
    return tuple(found)


def _of_launchd() -> Mapping[str, str] | None:
    if sys.platform == "win32":
        return None
    import subprocess

    try:
        said = subprocess.run(
            ["launchctl", "print", f"gui/{os.getuid()}"], capture_output=True, text=True, timeout=5, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return startup.launchd_variables(said)
