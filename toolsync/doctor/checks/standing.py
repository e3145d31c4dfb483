"""What stands in the tool's settings as a whole: whom it asks, who rules, what has changed, what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolsync.doctor.checks.saying import address, place, same, text, values
from toolsync.doctor.checks.wanting import QUESTIONS, way_out
from toolsync.doctor.command import applied, commands
from toolsync.doctor.layers import UNREAD, Seen
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Where
from toolsync.document import MISSING, Value, parse_path
from toolsync.document import data as _data
from toolsync.document.data import Missing
from toolsync.document.keypath import spell
from toolsync.plan import stands
from toolsync.sentence import Text, say
from toolsync.tool import Slot
from toolsync.trace import Answer, answers, path_of
from toolsync.trace.credential import CREDENTIALS


def provider(look: Look) -> Iterator[Finding]:
    """The wanted address is set, and the tool is told to ask somebody else."""
    want = look.wanted.get("base_url", "")
    for question, expected in look.reader.expect.items() if want else ():
        answer, base = look.found[question], _address(look, question, expected)
        if not same("base_url", base, want) or answer.value == expected or _is_managed(look, answer):
            continue
        if not answer.layer and any(one.state in UNREAD for one in look.layers if not one.layer.is_unmet):
            continue  # the file that would say so is not read: that is what is wrong
        where = look.where(answer)
        line = say("asks_other", place=place(look, where), value=text(answer.value), called=look.called)
        yield Finding(
            "base_url_not_honoured", "sure", (line,), values(look, where), where, way_out(look, answer, where)
        )


def _address(look: Look, question: str, expected: str) -> str:
    """The address that stands beside the choice, and that would count with the expected one; "" where it is its own."""
    questions = look.reader.questions
    if "base_url" in look.passed_over and look.found[question].layer:
        chosen = replace(look.reader, questions={**questions, question: (Slot("default", expected),)})
        return answers(chosen, look.trees, look.environ)["base_url"].value
    is_part = any(f"<{question}>" in slot.text for slot in questions.get("base_url", ()))
    return "" if is_part or "base_url" not in look.found else look.found["base_url"].value


def managed(look: Look) -> Iterator[Finding]:
    """A choice that an organisation's settings make in place of ours, and a credential that they bring."""
    for question, expected in look.reader.expect.items():
        answer = look.found[question]
        if look.edits and answer.value != expected and _is_managed(look, answer):
            where = look.where(answer)
            line = say("asks_other", place=place(look, where), value=text(answer.value), called=look.called)
            yield Finding("config_managed_override", "sure", (line,), values(look, where), where)
    for credential in look.effective.credentials:
        one = next((one for one in look.layers if one.layer.name == credential.where.layer), None)
        if one is not None and one.layer.is_managed and look.edits:
            line = say("key_for_everybody", place=place(look, credential.where))
            found = values(look, credential.where)
            yield Finding("config_managed_override", "likely", (line,), found, credential.where)


def _is_managed(look: Look, answer: Answer) -> bool:
    one = look.seen(answer)
    return one is not None and one.layer.is_managed


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
                yield _drifted(look, one, value.path, question, now)


def _asked_paths(look: Look, one: Seen) -> dict[str, str]:
    """The questions that a layer can answer, by the path inside it."""
    mount = parse_path(one.layer.at) if one.layer.at else ()
    found: dict[str, str] = {}
    for question in (*QUESTIONS, *sorted(CREDENTIALS), "provider"):
        for slot in look.reader.questions.get(question, ()):
            path = path_of(slot, look.raw) if slot.kind == "path" else None
            if path is not None and path[: len(mount)] == mount:
                found[spell(path[len(mount) :])] = question
    return found


def _drifted(look: Look, one: Seen, path: str, question: str, now: Value | Missing) -> Finding:
    position = one.document.position(parse_path(path)) if one.document is not None else None
    where = Where(one.layer.name, path, one.file, position[0] if position else None)
    return Finding(
        "config_drift",
        "sure",
        (_said_of(look, where, question, now),),
        values(look, where),
        where,
        commands(applied(look.tool.name)),
        question=question,
    )


def _said_of(look: Look, where: Where, question: str, now: Value | Missing) -> Text:
    """That it changed; of an address and a model, which are no secrets, into what."""
    want, at = look.wanted.get(question, ""), place(look, where)
    if now is MISSING:
        return say("drifted_away", place=at)
    if question not in QUESTIONS or not isinstance(now, str) or not want or same(question, now, want):
        return say("drifted", place=at)
    shown = [address(value) if question == "base_url" else text(value) for value in (now, want)]
    return say("drifted_to", place=at, now=shown[0], want=shown[1])


def incomplete(look: Look) -> Iterator[Finding]:
    """A setting that needs a second one, which is missing."""
    base, model = look.found.get("base_url"), look.found.get("model")
    provider = look.found.get("provider")
    missing = _missing_table(look, "provider", provider) if provider is not None and provider.file else ""
    if provider is not None and missing:
        where = look.where(provider)
        line = say("names_nothing", place=place(look, where), value=text(provider.value), missing=missing)
        yield Finding("config_incomplete", "sure", (line,), values(look, where), where, stops=True)
        return
    if base is None or not base.value or not base.layer:
        return
    lacking = [question for question, want in look.wanted.items() if want and not look.found[question].value]
    where = look.where(base)
    if model is not None and not model.value:
        line = say("no_model", place=place(look, where))
        yield Finding("config_incomplete", "open", (line,), values(look, where), where, question="model")
    elif lacking and same("base_url", base.value, look.wanted.get("base_url", "")):
        line = say("lacks", place=place(look, where), question=lacking[0])
        yield Finding("config_incomplete", "likely", (line,), values(look, where), where, question=lacking[0])


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
