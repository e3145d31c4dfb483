"""What programs take from their environment: of a tool by its template, of any other by its protocol's libraries."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from toolsync import resources
from toolsync.commands.environment.mounts import mounts
from toolsync.commands.environment.reach import (
    by_variable,
    gateway_of,
    is_served,
    is_set_by_files,
    speaks,
    takes,
    unserved,
)
from toolsync.document import KeyPath, Value
from toolsync.errors import UsageError
from toolsync.facts import Fact, Facts, facts
from toolsync.overlay import ABSENT, TABLE, Edit, edits
from toolsync.paths import at_home
from toolsync.planning.delivery import delivery
from toolsync.planning.headers import with_headers
from toolsync.profile import Profile, for_tool
from toolsync.session import Session
from toolsync.tool import Tool
from toolsync.value import frozen


@frozen
class Variable:
    """One variable of an environment.

    Attributes:
        name: what it is called.
        value: what it is set to; None: it must not be set.
        is_secret: whether the value is a key, or may hold one.
    """

    name: str
    value: str | None
    is_secret: bool = False


def taken(session: Session, profile: Profile, tool: Tool) -> tuple[Variable, ...]:
    """What the tool takes from its environment.

    Its template says so by lines of variables without a file; or its settings hold a table that stands for the
    environment (`[[layer]] environment`): what the overlay sets there, variables can. Else it is the variable that
    the `env` way of its `[key]` names.

    Raises:
        SecretError: the key cannot be had.
    """
    if tool.environment:
        given = _by_its_own_way(session, profile, tool)
        lines = [variable for overlay in tool.environment for variable in _filled(given, overlay.data)]
        return (*lines, *_filled(given, resources.environment()["network"]))
    given = filling(session, profile, tool)
    found = [variable for mount in mounts(tool) for variable in _mounted(tool, mount, given)]
    if not found and by_variable(profile, tool):
        found = [Variable(variable_of(tool, given), str(given["key_plaintext"].value), is_secret=True)]
    return (*found, *_filled(given, resources.environment()["network"]))


def demanded(session: Session, profile: Profile, tool: Tool) -> tuple[Variable, ...]:
    """What a tool that a person named takes.

    Raises:
        UsageError: it takes nothing; says what it does instead.
    """
    if takes(session, profile, tool):
        return taken(session, profile, tool)
    if not is_served(session, profile, tool):
        raise UsageError(unserved(tool))
    if is_set_by_files(session, profile, tool):
        text = (
            f"{tool.title} is set to profile '{profile.name}' by its own files, and takes nothing from its environment"
        )
        raise UsageError(text, hint="Start it as it is.")
    text = f"{tool.title} takes nothing from its environment as profile '{profile.name}' has it"
    env = f'`key_way = "env"` under [profiles.{profile.name}.tool.{tool.name}] lets it take the key from there. '
    apply = f"`toolsync apply --profile {profile.name} --tool {tool.name}` sets it by its own files."
    raise UsageError(text, hint=env + apply if "env" in tool.key else apply)


def anybodys(session: Session, profile: Profile) -> tuple[Variable, ...]:
    """What a program takes that no template knows: what the libraries of the protocols do that the gateway serves.

    Raises:
        SecretError: the key cannot be had.
    """
    given = filling(session, profile, None)
    tables = [*(protocol for protocol in ("openai", "anthropic", "gemini") if speaks(session, profile, protocol))]
    lines = resources.environment()
    return tuple(variable for table in (*tables, "key", "network") for variable in _filled(given, lines[table]))


def filling(session: Session, profile: Profile, tool: Tool | None) -> Facts:
    """The facts of an environment: the key itself is what fills `<key_ref>` there.

    Raises:
        SecretError: the key cannot be had, or a header that is one.
    """
    seen = with_headers(session, for_tool(profile, tool.name) if tool else profile)
    return _facts(session, seen, session.secret(profile.key).reveal())


def outline(session: Session, profile: Profile, tool: Tool) -> Facts:
    """The same with something that stands for the key, which nobody is asked for."""
    return _facts(session, for_tool(profile, tool.name), "<key>")


def _facts(session: Session, profile: Profile, key: str) -> Facts:
    gateway = gateway_of(session, profile)
    given = facts(profile, key_variable=gateway.key_variable if gateway else None)
    bundle = given.get("ca_bundle")
    if bundle is not None:
        given = {**given, "ca_bundle": replace(bundle, value=at_home(str(bundle.value), session.places.home))}
    return {**given, **{name: Fact(name, key, "the key") for name in ("key_plaintext", "key_ref")}}


def _by_its_own_way(session: Session, profile: Profile, tool: Tool) -> Facts:
    """The facts with the key by the best way of the tool's `[key]`: one that it asks for by a command is not set.

    Raises:
        SecretError: see `filling`.
    """
    given = filling(session, profile, tool)
    found = delivery(session, tool, profile, consent=True, key_variable=str(given["key_variable"].value))
    return given if isinstance(found, str) else {**_without_key(given), **found.facts}


def _without_key(given: Facts) -> Facts:
    return {name: fact for name, fact in given.items() if name not in ("key_plaintext", "key_ref")}


def _mounted(tool: Tool, mount: tuple[str, KeyPath], given: Facts) -> Iterator[Variable]:
    overlay, table = mount
    row = next(row for row in tool.files if row.overlay == overlay)
    for edit in edits(row.document.data, given, now=""):
        if edit.path[:-1] == table and isinstance(edit.path[-1], str) and edit.value is not TABLE:
            yield _variable(edit.path[-1], edit)


def variable_of(tool: Tool, given: Facts) -> str:
    """The variable of the key: the tool's own (`OPENAI_API_KEY`), or the one that the profile names."""
    spelling = tool.key["env"]
    own = isinstance(spelling, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", spelling)
    return str(spelling) if own else str(given["key_variable"].value)


def _filled(given: Facts, table: Mapping[str, Value]) -> Iterator[Variable]:
    for edit in edits(table, given, now=""):
        yield _variable(str(edit.path[-1]), edit)


def _variable(name: str, edit: Edit) -> Variable:
    if edit.value is ABSENT:
        return Variable(name, None)
    value = edit.value if isinstance(edit.value, str) else json.dumps(edit.value, ensure_ascii=False)
    return Variable(name, value, is_secret=edit.secret and not edit.harmless)
