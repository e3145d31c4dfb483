"""CC Switch's database: our rows in its table `providers`, read and written as parts.

CC Switch keeps a row for each provider and app. A click on one writes it over the app's own settings file ("live"),
and what stood there goes into the row that was chosen before. A row of ours is `toolsync-PROFILE`. Which row is chosen
is never changed from here: a running CC Switch holds that in memory, and would write its own answer back.

Facts from github.com/farion1231/cc-switch at 5ca9459 (3.20.0), `src-tauri/src/`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from toolsync.disk import resolve, shown
from toolsync.errors import ChangedError, StoreError
from toolsync.masking import printable
from toolsync.paths import Places
from toolsync.store import Live, Moment, Token, cc_switch_home, cc_switch_live, cc_switch_table, sqlite
from toolsync.store.cc_switch_chosen import CHOSEN, chosen_id
from toolsync.store.cc_switch_row import (
    APPS,
    Row,
    is_marked,
    part_names,
    parts_of,
    row_of,
    settings_parts,
    start_columns,
)

_WAIT_SECONDS = 10.0

_COMMANDS = (b"-m toolsync ", b"[model_providers.toolsync]")
"""What stands in settings of Claude Code and of Codex that toolsync wrote, whatever the address."""

_LOGIN_GOES = (
    "Our row for Codex has a ChatGPT login in it, which CC Switch put there at a click, and which is not in auth.json: "
    "it goes with the row. `codex login` brings one back."
)


def token_now(path: Path, wait_seconds: float = _WAIT_SECONDS) -> Token:
    """The token of every row of toolsync's, whichever profile they belong to.

    Raises:
        StoreError: the database cannot be read.
    """
    with sqlite.reading(path, wait_seconds) as database:
        return cc_switch_table.token(database)


class CcSwitch:
    """The rows of one profile.

    Args:
        profile: its name.
        places: where settings lie on this machine.
        now_ms: the present moment, for new rows; milliseconds since 1970, as CC Switch counts.
        wait_seconds: how long to wait for CC Switch to let go of the database.
    """

    def __init__(
        self,
        profile: str,
        places: Places,
        *,
        now_ms: Callable[[], int],
        wait_seconds: float = _WAIT_SECONDS,
    ) -> None:
        self.id = _id(profile)
        self._places, self._wait_seconds, self._now_ms = places, wait_seconds, now_ms

    def read(self, path: Path) -> tuple[Mapping[str, str], Moment]:
        """See `Store.read`."""
        with sqlite.reading(path, self._wait_seconds) as database:
            cc_switch_table.check(database, path)
            seen = self._moment(database)
            try:
                rows = _rows(database, self.id)
                return {name: text for app, row in rows.items() for name, text in parts_of(app, row).items()}, seen
            except StoreError as error:
                raise StoreError(f"{shown(path)}, '{self.id}': {error.message}", hint=error.hint) from error

    def made(self, parts: Mapping[str, str]) -> Collection[str]:
        """See `Store.made`: so their notes say."""
        return [app for app in APPS if app in parts and is_marked(parts[app])]

    def start(self, path: Path, part: str) -> str | None:
        """See `Store.start`: choosing a row replaces the live file, so a new row begins as that file.

        While the local proxy has taken the live file over, it begins as the copy that the proxy keeps.
        """
        app = _app_of(part)
        columns, settings, *_ = part_names(app)
        if part == columns:
            return start_columns(app)
        text = self._live_settings(path, app) if app in CHOSEN else None
        outer, inner = settings_parts(app, text) if text else (None, None)
        return outer if part == settings else inner or None

    def write(
        self, path: Path, rows: Mapping[str, Mapping[str, str | None]], seen: Moment, prepared: Callable[[Token], None]
    ) -> None:
        """See `Store.write`. A row that is chosen is never removed, for then CC Switch would show none.

        What other tables hold of a row (endpoints, health) stays as long as the row does.
        """
        with sqlite.writing(path, self._wait_seconds) as database:
            cc_switch_table.check(database, path)
            if self._moment(database) != seen:
                raise ChangedError(
                    f"{shown(path)}: its rows were changed, or others chosen, after they were read",
                    hint="Run the command again.",
                )
            for profile, parts in rows.items():
                self._write(database, path, _id(profile), parts)
            prepared(cc_switch_table.token(database))

    def _write(self, database: sqlite3.Connection, path: Path, id: str, parts: Mapping[str, str | None]) -> None:
        """The rows of one profile."""
        present = _rows(database, id)
        wanted = _wanted(present, parts)
        for app in present.keys() - wanted.keys():
            self._remove(database, path, (id, app))
        for app, row in wanted.items():
            if row != present.get(app):
                cc_switch_table.put(database, (id, app), row, self._now_ms())
        if _rows(database, id) != wanted:  # a trigger of somebody's
            raise StoreError(f"{shown(path)}: it does not keep what is written", hint="Nothing was changed.")

    def live(self, path: Path) -> Mapping[str, Live]:
        """See `Store.live`."""
        found: dict[str, Live] = {}
        with sqlite.reading(path, self._wait_seconds) as database:
            cc_switch_table.check(database, path)
            for app in CHOSEN:
                chosen = self._chosen(database, app)
                if self._is_taken_over(database, app):
                    found[app] = "taken over"
                elif chosen is not None:
                    found[app] = "ours" if chosen == self.id else "theirs"
            return found | dict.fromkeys(self._added(database), "added")

    def warnings(self, path: Path, live: Collection[str], rows: Collection[str]) -> tuple[str, ...]:
        """See `Store.warnings`: what the next click in CC Switch would do with our values, or the user's."""
        with sqlite.reading(path, self._wait_seconds) as database:
            chosen = {app: self._chosen(database, app) for app in CHOSEN}
            theirs = {app: id for app, id in chosen.items() if id not in (None, self.id) and app in live}
            found = [
                _absorption(app, *cc_switch_table.name_and_meta(database, (id, app))) for app, id in theirs.items()
            ]
        return (*found, *(self._lost_login(chosen["codex"]) if "codex" in rows else ()))

    def parting(self, path: Path, rows: Collection[str], addresses: Collection[bytes]) -> tuple[str, ...]:
        """See `Store.parting`: what CC Switch put into our row, and what of ours into others (`switch_normal`)."""
        with sqlite.reading(path, self._wait_seconds) as database:
            ours, others = _rows(database, self.id), cc_switch_table.others(database)
        marks = (*addresses, *_COMMANDS)
        taken = [
            f"'{printable(name)}' for {app} has values like ours in it, which CC Switch takes into a row at a click: "
            "see whether our command or a key is among them."
            for name, app, settings in others
            if app in rows and any(mark in settings for mark in marks)
        ]
        holds_login = "codex" in rows and "codex" in ours and '"refresh_token"' in ours["codex"].settings_config
        if holds_login and not cc_switch_live.is_logged_in(self._places):
            return (_LOGIN_GOES, *taken)
        return tuple(taken)

    def _lost_login(self, chosen: str | None) -> tuple[str, ...]:
        """Whether a click on the row for Codex takes a ChatGPT login away.

        The row's `auth` is written over auth.json (codex_config.rs `write_codex_live_for_provider`) unless
        `preserveCodexOfficialAuthOnSwitch` is set. The login goes into the row that was chosen before, if one was
        (services/provider/mod.rs `switch_normal`).
        """
        is_kept = cc_switch_home.settings(self._places).get("preserveCodexOfficialAuthOnSwitch") is True
        if is_kept or chosen == self.id or not cc_switch_live.is_logged_in(self._places):
            return ()
        fate = "the row that is chosen now brings it back" if chosen else "no row is chosen that would bring it back"
        sentence = f"Choosing our row for Codex in CC Switch takes the ChatGPT login out of auth.json, and {fate}"
        return (f"{sentence}. CC Switch can be set to keep Codex's official login.",)

    def _moment(self, database: sqlite3.Connection) -> Moment:
        chosen = {app: self._chosen(database, app) for app in CHOSEN}
        return Moment(cc_switch_table.token(database), repr((chosen, self._added(database))))

    def _added(self, database: sqlite3.Connection) -> list[str]:
        """The apps whose own file has our row in it, beside others."""
        apps = [app for app in APPS if cc_switch_table.exists(database, (self.id, app))]
        return [app for app in apps if cc_switch_live.is_added(self.id, app, self._places)]

    def _remove(self, database: sqlite3.Connection, path: Path, key: cc_switch_table.RowKey) -> None:
        id, app = key
        is_chosen = cc_switch_table.is_flagged(database, key) or self._chosen(database, app) == id
        if is_chosen and self._is_in_use(path):
            raise StoreError(
                f"the row '{id}' for {app} is the one that is chosen in CC Switch, and cannot be removed",
                hint=f"Choose another provider for {app} in CC Switch, then run the command again.",
            )
        cc_switch_table.remove(database, key)

    def _is_in_use(self, path: Path) -> bool:
        """Whether CC Switch uses this database; in one that it was moved away from, nobody can choose any more."""
        return resolve(path) == resolve(cc_switch_home.database(self._places))

    def _chosen(self, database: sqlite3.Connection, app: str) -> str | None:
        return chosen_id(database, app, self._places)

    def _is_taken_over(self, database: sqlite3.Connection, app: str) -> bool:
        is_kept = cc_switch_table.proxy_copy(database, app) is not None
        return is_kept or cc_switch_live.is_taken_over(cc_switch_live.files(app, self._places).values())

    def _live_settings(self, path: Path, app: str) -> str | None:
        with sqlite.reading(path, self._wait_seconds) as database:
            copy = cc_switch_table.proxy_copy(database, app)
        live = cc_switch_live.files(app, self._places)
        if copy is None or cc_switch_live.is_taken_over([copy.encode()]):  # a copy of the proxy's own values is none
            is_free = copy is None and not cc_switch_live.is_taken_over(live.values())
            return cc_switch_live.as_settings(app, live if is_free else {})
        return cc_switch_live.without_login(copy) if app == "codex" else copy


def _id(profile: str) -> str:
    return f"toolsync-{profile}"


def _rows(database: sqlite3.Connection, id: str) -> dict[str, Row]:
    return {app: row for app, row in cc_switch_table.rows(database, id).items() if app in APPS}


def _absorption(app: str, name: str, meta: str) -> str:
    """What becomes of values in a live file whose chosen row is another (`switch_normal`, back-fill).

    Claude's settings go on into every row that shares the common settings, without what CC Switch takes for a secret;
    `apiKeyHelper` and ANTHROPIC_CUSTOM_HEADERS are none to it (`extract_claude_common_config`,
    `is_sensitive_config_key`), so that another provider would be sent our key.
    """
    sentence = f"At the next click, CC Switch takes our values for {app} into '{printable(name)}', which is chosen now"
    if app == "claude" and '"commonConfigEnabled":true' in re.sub(r"\s", "", meta):
        return f"{sentence}, and the command that gives the key into every provider with its common settings."
    return f"{sentence}."


def _wanted(present: Mapping[str, Row], parts: Mapping[str, str | None]) -> dict[str, Row]:
    """The rows as they shall be, by app; what nobody asked to change is the very same."""
    wanted = dict(present)
    for app in {_app_of(name): None for name in parts}:
        given = {name: text for name, text in parts.items() if _app_of(name) == app}
        known = parts_of(app, present[app]) if app in present else {}
        if app in given and given[app] is None:
            wanted.pop(app, None)
        elif not given.items() <= known.items():
            texts = {name: text for name, text in {**known, **given}.items() if text is not None}
            wanted[app] = row_of(app, texts, present.get(app))
    return wanted


def _app_of(part: str) -> str:
    app = part.partition("/")[0]
    if app not in APPS or part not in part_names(app):
        raise StoreError(f"CC Switch's rows have no part '{part}'", hint=f"They are for {', '.join(APPS)}.")
    return app
