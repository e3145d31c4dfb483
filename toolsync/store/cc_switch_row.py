"""A row of CC Switch's `providers` as parts: texts that are edited as files are, and put together again untouched.

Three texts for an app: the row's own columns as JSON (`meta` as it is spelled; a column that is NULL is left out),
`settings_config`, and for Codex the TOML that lies in its `config`. What nobody edited comes back byte for byte: of a
column that changed, only the changed spans do not.
"""

from __future__ import annotations

from collections.abc import Mapping

from toolsync import document
from toolsync.document import Document, Value
from toolsync.document.json_judge import is_strict
from toolsync.document.json_write import quoted
from toolsync.errors import DocumentError, StoreError
from toolsync.value import frozen

APPS = ("claude", "codex", "gemini", "opencode")
"""The values of `app_type` that templates may name."""

COLUMNS = ("name", "settings_config", "website_url", "notes", "meta")
"""What we write of a row; every other column, known to us or not, stays as it is."""

_STARTS = {"opencode": '{\n  "meta": {"liveConfigManaged": false}\n}\n'}
"""Of apps whose rows count all at once: without this, CC Switch adds the row to the app's own file unasked (live.rs
`sync_all_providers_to_live`). Once it was switched on there, it says otherwise, and that stays."""

_MARK = "kept by toolsync"
"""What our templates write into the notes of a row (`row.json`)."""

_NESTED = {"codex": "config"}
"""The member of `settings_config` that is a text of its own: the whole config.toml (provider.rs)."""

_PLAIN = ("name", "website_url", "notes")
MEND = "Open the row in CC Switch and save it, or delete it there, and run the command again."
_MISREAD = f"CC Switch itself reads it as nothing. {MEND}"


@frozen
class Row:
    """Our columns of one row, as the database holds them; `COLUMNS` in order."""

    name: str
    settings_config: str
    website_url: str | None
    notes: str | None
    meta: str


def part_names(app: str) -> tuple[str, ...]:
    """The parts that a row of `app` has, outermost first."""
    outer = (app, f"{app}/settings_config")
    return (*outer, f"{outer[1]}/{_NESTED[app]}") if app in _NESTED else outer


def parts_of(app: str, row: Row) -> dict[str, str]:
    """The row as texts by part name.

    Raises:
        StoreError: a JSON column is none: written back, it would wipe what a person may still mend.
    """
    columns, settings, *nested = part_names(app)
    parts = {columns: _columns_text(app, row)}
    text, inner = settings_parts(app, row.settings_config)
    parts[settings] = text
    return parts if inner is None else parts | {nested[0]: inner}


def is_marked(columns: str) -> bool:
    """Whether the columns are those of a row that toolsync made."""
    data = document.parse(columns.encode(), "json").data
    return isinstance(data, dict) and data.get("notes") == _MARK


def start_columns(app: str) -> str:
    """What the columns of a new row begin as."""
    return _STARTS.get(app, '{\n  "meta": {}\n}\n')


def settings_parts(app: str, text: str) -> tuple[str, str | None]:
    """A `settings_config` without what is nested in it, and that; None if nothing is.

    Raises:
        StoreError: it is no strict JSON.
    """
    whole = _strict(app, "settings_config", text)
    inner = whole.get((_NESTED[app],)) if app in _NESTED and isinstance(whole.data, dict) else None
    if not isinstance(inner, str):
        return text, None
    _encodable(app, inner)
    return whole.set((_NESTED[app],), "").text, inner


def row_of(app: str, parts: Mapping[str, str], present: Row | None) -> Row:
    """The row that the texts of all its parts make.

    Args:
        app: its `app_type`.
        parts: by name; the nested one may be missing, and then goes.
        present: the row as it is, whose spelling stays wherever its meaning does.

    Raises:
        StoreError: CC Switch could not read such a row.
    """
    columns, settings, *nested = part_names(app)
    missing = [name for name in (columns, settings) if name not in parts]
    if missing:
        raise _refused(app, f"a row cannot be without '{missing[0]}'")
    whole = parts[settings]
    if nested:
        whole = _joined(app, whole, parts.get(nested[0]), present)
    _check(app, whole)
    row = _with_columns(app, parts[columns], whole)
    if present is not None and row.meta.strip() == present.meta.strip():
        return Row(row.name, row.settings_config, row.website_url, row.notes, present.meta)
    return row


def _joined(app: str, outer: str, inner: str | None, present: Row | None) -> str:
    """The inner text in its place, in its old spelling if it is the old text."""
    path = (_NESTED[app],)
    document = _strict(app, "settings_config", outer)
    if inner is None:
        return document.remove(path).text if isinstance(document.get(path), str) else outer
    _encodable(app, inner)
    before = _strict(app, "settings_config", present.settings_config) if present else None
    source = before.source(path) if before and before.get(path) == inner else None
    return document.set(path, inner if source is None else source).text


def _columns_text(app: str, row: Row) -> str:
    """As `start_columns` is after its members were set in order, so that what is written is read byte for byte."""
    meta = row.meta.strip() or "{}"
    _strict(app, "meta", meta)
    plain = {name: getattr(row, name) for name in _PLAIN}
    members = [f'  "{name}": {quoted(text)}' for name, text in plain.items() if text is not None]
    return "{\n" + ",\n".join([f'  "meta": {meta}', *members]) + "\n}\n"


def _with_columns(app: str, text: str, settings_config: str) -> Row:
    columns = _strict(app, "the columns", text)
    data = columns.data
    if not isinstance(data, dict) or not set(data) <= {*_PLAIN, "meta"}:
        raise _refused(app, f"of a row's columns, only {', '.join(_PLAIN)} and meta can be set")
    plain = {name: data.get(name) for name in _PLAIN}
    if not isinstance(plain["name"], str) or not all(
        value is None or isinstance(value, str) for value in plain.values()
    ):
        raise _refused(app, "a row needs a name, and its columns are texts")
    meta = columns.source(("meta",)) if data.get("meta") is not None else None
    if meta is not None and not isinstance(data["meta"], dict):
        raise _refused(app, "its meta must be an object")
    spelled = "{}" if meta is None else meta.text
    return Row(plain["name"], settings_config, plain["website_url"], plain["notes"], spelled)


def _check(app: str, text: str) -> None:
    """What CC Switch asks of a row when it is chosen (services/provider/mod.rs `validate_provider_settings`)."""
    data = _strict(app, "settings_config", text).data
    if not isinstance(data, dict):
        raise _refused(app, "its settings_config must be an object")
    complaint = _SHAPES[app](data) if app in _SHAPES else ""
    if complaint:
        raise _refused(app, complaint)


def _codex_shape(data: Mapping[str, Value]) -> str:
    if not isinstance(data.get("auth"), dict):
        return "its settings_config needs an 'auth' that is an object"
    return "" if isinstance(data.get("config"), str | None) else "its config must be a text"


def _gemini_shape(data: Mapping[str, Value]) -> str:
    if not isinstance(data.get("env", {}), dict):
        return "its env must be an object"
    return "" if isinstance(data.get("config"), dict | None) else "its config must be an object"


def _opencode_shape(data: Mapping[str, Value]) -> str:
    return "" if "npm" in data or "options" in data else "its settings_config needs 'npm' or 'options'"


_SHAPES = {"codex": _codex_shape, "gemini": _gemini_shape, "opencode": _opencode_shape}


def _strict(app: str, name: str, text: str) -> Document:
    """The text as a document, which CC Switch's own parser takes too.

    It reads a column that it cannot parse as null, or as defaults, and writes that back (dao/providers.rs).
    """
    try:
        parsed = document.parse(text.encode(), "json")
    except (DocumentError, UnicodeEncodeError) as error:
        raise StoreError(f"{name} of CC Switch's row for {app} is no JSON", hint=_MISREAD) from error
    if parsed.fault or text.startswith("\ufeff") or not is_strict(text) or not text.strip():
        raise StoreError(f"{name} of CC Switch's row for {app} is no strict JSON", hint=_MISREAD)
    return parsed


def _encodable(app: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half a surrogate pair, which JSON can spell and no file can hold
        raise StoreError(f"the config in CC Switch's row for {app} is no text", hint=_MISREAD) from error


def _refused(app: str, complaint: str) -> StoreError:
    return StoreError(f"CC Switch could not use the row for {app}: {complaint}", hint="Nothing was written.")
