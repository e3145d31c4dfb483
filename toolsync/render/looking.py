"""`doctor TOOL`: what a program will ask, and where it looks for that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolsync.render.screen import Line, sentence
from toolsync.render.tables import columns

Data = Mapping[str, Any]


def details(one: Data, all_words: Mapping[str, Data]) -> Iterator[Line]:
    """What it will ask, where that comes from, and every layer."""
    request, words = one["request"], all_words["doctor"]
    rows: list[Sequence[str]] = [
        (words["address"], request["url"] or words["nowhere"], _at(request, words, "base_url")),
        (words["model"], request["model"] or words["nowhere"], _at(request, words, "model")),
    ]
    for key in request["credentials"]:
        told = f"{words['fingerprint']} {key['fingerprint']}" if key["fingerprint"] else words["unseen"]
        rows.append((words["key"], f"{key['header']}: {told}", _from(key["where"], words)))
    if request["timeout_seconds"] is not None:
        at = _at(request, words, "timeout_ms", "timeout_seconds")
        rows.append((words["timeout"], f"{request['timeout_seconds']:g} s", at or words["own"]))
    if request["proxy"]:
        rows.append((words["proxy"], request["proxy"], _at(request, words, "proxy")))
    yield Line("")
    yield from columns(rows, ("", words["asks"], words["where"]))
    yield Line("")
    yield from _layers(one["layers"], all_words)
    yield Line("")


def _layers(layers: Sequence[Data], all_words: Mapping[str, Data]) -> Iterator[Line]:
    """Who sets what; the files that are not there in one line, for they are many."""
    words, states = all_words["doctor"], all_words["states"]
    there = [
        (
            layer["name"],
            words["variables"] if layer["state"] == "environment" else layer["file"],
            states[layer["state"]],
            _called(layer["sets"], all_words["questions"]),
            _called(layer["wins"], all_words["questions"]),
        )
        for layer in layers
        if layer["state"] != "missing"
    ]
    yield from columns(there, (words["layer"], words["file"], words["state"], words["sets"], words["wins"]))
    missing = dict.fromkeys(layer["file"] for layer in layers if layer["state"] == "missing" and layer["file"])
    if missing:
        yield sentence(f"{states['missing']}{words['colon']}{words['comma'].join(missing)}", "dim", indent=2)


def _called(questions: Sequence[str], names: Data) -> str:
    """What the settings are called; a template of the user's own may ask for more than we have words for."""
    return ", ".join(dict.fromkeys(names.get(question, question) for question in questions))


def _at(request: Data, words: Data, *questions: str) -> str:
    where = next((request["where"][question] for question in questions if question in request["where"]), None)
    return _from(where, words) if where is not None else ""


def _from(where: Data, words: Data) -> str:
    """The place; in words where it is none that could be opened."""
    if not where["layer"]:
        return str(words["own"])
    if where["file"]:
        return place(where)
    return f"{where['slot']} ({words['variables'] if where['layer'] == 'environment' else where['layer']})"


def place(where: Data) -> str:
    """File, line and name of a value."""
    file = f"{where['file']}:{where['line']}" if where["line"] else where["file"]
    return f"{file} ({where['slot']})" if file and where["slot"] else file or where["slot"]
