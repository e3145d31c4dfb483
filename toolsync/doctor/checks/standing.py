"""What the profile wants against what the tool will use: where the wanted value stands, and why it does not count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync.address import normal
from toolsync.doctor.checks.saying import address, at_line, place, text, values
from toolsync.doctor.layers import Seen
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Finding, Fix, Where
from toolsync.document import MISSING, parse_path
from toolsync.document import data as _data
from toolsync.document.keypath import spell
from toolsync.errors import ProfileError
from toolsync.plan import stands
from toolsync.tool import Slot
from toolsync.trace import CREDENTIALS, Answer, Tree, answers, path_of

_QUESTIONS = ("base_url", "model")
"""What a tool is set to; all other questions serve these."""


def wanted(look: Look) -> Iterator[Finding]:
    """The wanted address or model stands somewhere, and something else is used."""
    for question in _QUESTIONS:
        found = _misplaced(look, question)
        if found is not None:
            yield found
            return  # one reason is enough: what is misplaced is misplaced with its neighbours


def _misplaced(look: Look, question: str) -> Finding | None:
    want, answer = look.wanted.get(question, ""), look.found.get(question)
    if not want or answer is None or same(question, answer.value, want):
        return None
    return (
        _ignored(look, question, want)
        or _shadowed(look, question, want)
        or _in_wrong_file(look, question, want)
        or _in_unread_variable(look, question, want, answer)
    )


def same(question: str, one: str, other: str) -> bool:
    """Whether two answers mean the same; addresses may be spelled in several ways."""
    if question != "base_url":
        return one == other
    try:
        return normal(one) == normal(other)
    except ProfileError:
        return one.strip().rstrip("/") == other.strip().rstrip("/")


def _ignored(look: Look, question: str, want: str) -> Finding | None:
    """A layer that may not set it sets it."""
    for one in look.layers:
        heeded = [
            replace(each.tree, layer=replace(each.layer, ignores=())) if each is one else each.tree
            for each in look.layers
        ]
        answer = answers(look.reader, heeded, look.environ).get(question) if one.layer.ignores else None
        if answer is None or answer.layer != one.layer.name or not same(question, answer.value, want):
            continue
        where = Where(one.layer.name, answer.slot, one.file, one.line(answer))
        cause = "project_config_ignored" if one.is_projects else "base_url_not_honoured"
        lines = (f"{place(look, where)} sets it, and {look.called} does not heed that there", _used(look, question))
        return Finding(cause, "sure", lines, values(look, where), where)
    return None


def _shadowed(look: Look, question: str, want: str) -> Finding | None:
    """Another layer wins: without it, the wanted value would count."""
    trees, environ = list(look.trees), dict(look.environ)
    winner = look.found[question]
    for _ in range(len(trees) + 1):
        if not winner.value or not winner.layer:
            return None
        trees, environ = _without(trees, environ, winner)
        below = answers(look.reader, trees, environ)[question]
        if same(question, below.value, want) and below.layer:
            return _shadow(look, question, below)
        winner = below
    return None


def _without(trees: Sequence[Tree], environ: Mapping[str, str], winner: Answer) -> tuple[list[Tree], dict[str, str]]:
    """The layers and variables without what gives the answer."""
    if winner.slot.startswith("$"):
        return list(trees), {name: value for name, value in environ.items() if name != winner.slot[1:]}
    return [replace(tree, data={}) if tree.layer.name == winner.layer else tree for tree in trees], dict(environ)


def _shadow(look: Look, question: str, below: Answer) -> Finding:
    winner = look.found[question]
    one = look.seen(winner)
    where = look.where(winner)
    cause = "config_managed_override" if one is not None and one.layer.is_managed else "config_shadowed"
    lines = [f"wanted: {place(look, look.where(below))}", _used(look, question)]
    if one is not None and one.is_projects and look.effective.credentials:
        lines.append("the key would go to where the project's file says")
    found = values(look, where)
    return Finding(cause, "sure", tuple(lines), found, where)


def _in_wrong_file(look: Look, question: str, want: str) -> Finding | None:
    """A file that people take for the tool's settings holds it."""
    for one in look.unread:
        line = _line_of(one, question, want)
        if line is not None:
            where = Where(one.layer.name, question, one.file, line)
            lines = (
                f"{at_line(look, where)} holds it, and {look.called} does not read that file",
                _used(look, question),
            )
            return Finding("config_wrong_file", "sure", lines, values(look, where), where)
    return None


def _line_of(one: Seen, question: str, want: str) -> int | None:
    if one.document is None:
        return None
    for path, _ in one.document.leaves():
        value = one.document.get(path)
        if isinstance(value, str) and same(question, value, want):
            return (one.document.position(path) or (None,))[0]
    return None


def _in_unread_variable(look: Look, question: str, want: str, answer: Answer) -> Finding | None:
    """A variable that the tool does not look at holds the wanted address."""
    if question != "base_url":
        return None
    names = [name for name, value in look.environ.items() if name.isupper() and same(question, value, want)]
    names = [name for name in sorted(names) if not name.lower().endswith("_proxy") and not _is_read(look, name)]
    if not names:
        return None
    certainty: Certainty = "sure" if answer.slot.startswith("=") or not answer.value else "likely"
    line = look.world.set_at(names[0])
    where = Where("environment", f"${names[0]}", line.file if line else "", (line.line or None) if line else None)
    lines = (f"{place(look, where)} holds it, and {look.called} does not look there", _used(look, question))
    return Finding("base_url_not_honoured", certainty, lines, values(look, where, variable=names[0]), where)


def _is_read(look: Look, name: str) -> bool:
    slots = [slot for asked in look.reader.questions.values() for slot in asked]
    return any(slot.kind == "variable" and slot.text == name for slot in slots) or name in _named_by_path(slots)


def _named_by_path(slots: Sequence[Slot]) -> set[str]:
    """The last keys of paths: `env.ANTHROPIC_BASE_URL` is how a layer of variables is asked."""
    return {slot.text.rpartition(".")[2] for slot in slots if slot.kind == "path"}


def _used(look: Look, question: str) -> str:
    answer = look.found[question]
    if not answer.value:
        return f"{look.called} finds nothing that counts"
    shown = address(answer.value) if question == "base_url" else text(answer.value)
    return f"used: {shown}, from {place(look, look.where(answer))}"


def provider(look: Look) -> Iterator[Finding]:
    """The wanted address is set, and the tool is told to ask somebody else."""
    want, base = look.wanted.get("base_url", ""), look.found.get("base_url")
    if base is None or not want or not same("base_url", base.value, want):
        return
    for question, expected in look.reader.expect.items():
        answer = look.found[question]
        if answer.value == expected:
            continue
        where = look.where(answer)
        line = f"{place(look, where)} says '{text(answer.value)}', so that {look.called} does not use the address"
        yield Finding("base_url_not_honoured", "sure", (line,), values(look, where), where)


# What an organisation rules, and what is no longer as it was applied.


def managed(look: Look) -> Iterator[Finding]:
    """A credential that an organisation's settings bring."""
    for credential in look.effective.credentials:
        one = next((one for one in look.layers if one.layer.name == credential.where.layer), None)
        if one is not None and one.layer.is_managed and look.edits:
            line = f"{place(look, credential.where)} sets the key for everybody here"
            found = values(look, credential.where)
            yield Finding("config_managed_override", "likely", (line,), found, credential.where)


def drift(look: Look) -> Iterator[Finding]:
    """What toolsync wrote where the tool looks is no longer what it wrote."""
    memory = look.world.memory
    for one in look.layers:
        file = memory.files.get(str(one.snapshot.real)) if one.snapshot is not None else None
        layers = file.layers if file is not None else ()
        written = [value for layer in layers if layer.tool == look.tool.name for value in layer.values]
        asked = _asked_paths(look, one)
        for value in written:
            question = asked.get(value.path)
            if question is None or one.document is None or one.state != "read":
                continue
            now = one.document.get(parse_path(value.path))
            if not stands(value, now, memory.key):
                yield _drifted(look, one, value.path, is_gone=now is MISSING)


def _asked_paths(look: Look, one: Seen) -> dict[str, str]:
    """The questions that a layer can answer, by the path inside it."""
    mount = parse_path(one.layer.at) if one.layer.at else ()
    found: dict[str, str] = {}
    for question in (*_QUESTIONS, *sorted(CREDENTIALS), "provider"):
        for slot in look.reader.questions.get(question, ()):
            path = path_of(slot, look.raw) if slot.kind == "path" else None
            if path is not None and path[: len(mount)] == mount:
                found[spell(path[len(mount) :])] = question
    return found


def _drifted(look: Look, one: Seen, path: str, *, is_gone: bool) -> Finding:
    position = one.document.position(parse_path(path)) if one.document is not None else None
    where = Where(one.layer.name, path, one.file, position[0] if position else None)
    what = "is gone" if is_gone else "is not what toolsync wrote there"
    fix = Fix(f"toolsync apply --tool {look.tool.name}", ("apply", "--tool", look.tool.name))
    return Finding("config_drift", "sure", (f"{place(look, where)} {what}",), values(look, where), where, fix)


def incomplete(look: Look) -> Iterator[Finding]:
    """A setting that needs a second one, which is missing."""
    base, model = look.found.get("base_url"), look.found.get("model")
    provider = look.found.get("provider")
    missing = _missing_table(look, "provider", provider) if provider is not None and provider.file else ""
    if provider is not None and missing:
        where = look.where(provider)
        line = f"{place(look, where)} names '{text(provider.value)}', and nothing stands at {missing}"
        yield Finding("config_incomplete", "sure", (line,), values(look, where), where)
        return
    if base is None or not base.value or not base.layer:
        return
    lacking = [question for question, want in look.wanted.items() if want and not look.found[question].value]
    where = look.where(base)
    if model is not None and not model.value:
        line = f"{place(look, where)} sets the address, and nothing says which model to ask for"
        yield Finding("config_incomplete", "likely", (line,), values(look, where), where)
    elif lacking and same("base_url", base.value, look.wanted.get("base_url", "")):
        line = f"{place(look, where)} sets the address, and what the profile sets beside it is missing: {lacking[0]}"
        yield Finding("config_incomplete", "likely", (line,), values(look, where), where)


def _missing_table(look: Look, question: str, answer: Answer) -> str:
    """The table that a name in the settings points to, if nothing of it is there and the tool has none of its own."""
    mark = f"<{question}>"
    slots = [slot for asked in look.reader.questions.values() for slot in asked if f".{mark}." in slot.text]
    if not slots or any(f"={answer.value}" == str(slot) for slot in look.reader.questions[question]):
        return ""
    tables = {slot.text.partition(f".{mark}.")[0] for slot in slots}
    for table in sorted(tables):
        path = (*parse_path(table), answer.value)
        for one in look.layers:
            mount = parse_path(one.layer.at) if one.layer.at else ()
            inner = path[len(mount) :]
            if path[: len(mount)] == mount and _data.get(one.tree.data, inner) is not MISSING:
                return ""
            if inner in map(parse_path, one.layer.ignores):
                return ""  # one of the tool's own
    return f"{min(tables)}.{text(answer.value)}"
