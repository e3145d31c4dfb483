"""What `doctor` says, for people: a line for each program that is well, the cause and the way out for the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from toolsync import causes
from toolsync.causes import Language
from toolsync.render.looking import details, place
from toolsync.render.screen import Line, sentence
from toolsync.render.wayout import JOINT, WaysOut, is_command, steps

Data = Mapping[str, Any]

_SLOW_MS = 10_000
"""People wonder whether anything happens after so long."""
_MOST_EVIDENCE = 6
"""Lines of evidence that are shown; `--json` has all."""

_LAST = 2
"""Of those."""

_LONG = 50
"""Characters of an answer that are not read twice."""


def examination_lines(data: Data) -> Iterator[Line]:
    """Every program; those that were asked for by name with their layers and what they ask."""
    all_words = causes.words(data["language"])
    words = all_words["doctor"]
    if not data["tools"] and not data["is_detailed"]:
        yield Line(words["nothing"])
        return
    ways = WaysOut(words)
    for one, *others in [[one] for one in data["tools"]] if data["is_detailed"] else _alike(data["tools"]):
        ways.begin()
        excluded = _excluded(one, words, data["language"]) if data["is_detailed"] else ""
        yield from _program(one, others, words, ways, excluded)
        yield from _client(one)
        if data["is_detailed"]:
            yield from _remarks(one, words, ways)
            yield from details(one, all_words)
    if any(one["state"] != "healthy" and (one["findings"] or one["asked"]) for one in data["tools"]):
        yield Line(words["more"], "dim")


def _alike(tools: Sequence[Data]) -> Iterable[Sequence[Data]]:
    """The programs, those together that the same thing mends at the same gateway; by the first of each."""
    found: dict[object, list[Data]] = {}
    for index, one in enumerate(tools):
        is_told = one["findings"] or one["asked"] or one["fix"]
        is_single = not is_told or one["state"] == "healthy" or one["client"] is not None
        found.setdefault(index if is_single else _trouble(one), []).append(one)
    return found.values()


def _trouble(one: Data) -> object:
    """What is wrong with it, and with others that say the same."""
    if not one["findings"]:
        told = (*one["asked"], *one["unknown"], one["fix"])
        lines = [_without_places(_general(line, one)) for line in told]
        return urlsplit(one["request"]["url"]).netloc if one["asked"] else "", *lines
    first = one["findings"][0]
    told = first["cause"], first["certainty"], one["is_untold"]
    mends = _general(first["fix"], one) if first["fix"] else _without_places(_general(first["remedy"], one))
    return *told, urlsplit(one["request"]["url"]).netloc, mends


def _without_places(text: str) -> str:
    """The text without addresses, and without where something stands: each program has its own, of one kind."""
    return re.sub(r"\S+://\S+|[~/]\S*:\d+", "…", text)


def _general(fix: str, one: Data) -> str:
    """What mends it, whichever tool it is said of."""
    general = re.sub(r"--tool [\w.-]+", "--tool …", fix).replace(f"tool.{one['tool']}.", "tool.….")
    general = general.replace(one["called"], "…")
    return re.sub(r"exec -- \S+?`", "exec -- …`", general)


def _program(one: Data, alike: Sequence[Data], words: Data, ways: WaysOut, excluded: str) -> Iterator[Line]:
    if one["state"] == "healthy":
        yield Line(f"✓ {one['called']}{words['colon']}{_well(one, words)}", "good")
        for finding in one["findings"]:
            yield _said(_named(finding, words))
            yield from (_said(f"  {line}") for line in finding["evidence"] if line not in one["asked"])
    elif one["findings"]:
        yield from _wrong(one, alike, words, ways, excluded)
    else:
        yield from _untold(one, alike, words, ways)


_MARKS = {"problem": ("✗", "bad"), "warning": ("!", "look"), "inconclusive": ("?", "look")}


def _untold(one: Data, alike: Sequence[Data], words: Data, ways: WaysOut) -> Iterator[Line]:
    """A program of which nobody can tell, or nobody but itself."""
    mark, style = _MARKS[one["state"]]
    is_clients = one["state"] == "problem"
    is_unset = not one["asked"] and not one["is_untold"] and (one["unknown"] or one["fix"])
    told = "client" if is_clients else "unset" if is_unset else "inconclusive"
    yield Line(f"{mark} {one['called']}{words['colon']}{words[told]}", style)
    yield from map(_said, one["asked"][: 0 if is_clients else _MOST_EVIDENCE])
    yield from map(_said, one["unknown"])
    if one["fix"]:
        yield from ways.line(one["fix"])
    yield from _same(alike, one["fix"], words, ways, style)


def _wrong(one: Data, alike: Sequence[Data], words: Data, ways: WaysOut, excluded: str) -> Iterator[Line]:
    mark, style = _MARKS[one["state"]]
    primary, *others = one["findings"]
    yield Line(f"{mark} {one['called']}{words['colon']}{_named(primary, words)}", style)
    yield from _finding(primary, words, ways, excluded)
    yield from _same(alike, primary["fix"], words, ways, style)
    yield from _untold_besides(one, words)
    for finding in others:
        if (finding["where"], finding["fix"]) != (primary["where"], primary["fix"] or None):
            yield from _further(finding, words, ways)
    for other in alike:
        for finding in other["findings"][1:]:
            if finding not in others:
                yield from _further(finding, words, ways, other["called"])


def _untold_besides(one: Data, words: Data) -> Iterator[Line]:
    """That nobody can tell whether it is answered, where what is found is not why."""
    if one["is_untold"] and one["state"] != "problem":
        yield Line(f"  {words['also']}{words['colon']}{words['inconclusive']}", "look")
        yield from map(_said, (*one["asked"][:_MOST_EVIDENCE], *one["unknown"]))


def _same(alike: Sequence[Data], fix: str, words: Data, ways: WaysOut, style: str) -> Iterator[Line]:
    """The programs of which the same is to be said, and the commands that mend them, where each has one of its own.

    What comes before them, as the key does, is said once.
    """
    own = dict.fromkeys(command for one in alike if (command := _own_command(one)))
    said = steps(fix)
    for command in own:
        left = [step for step in steps(command) if step not in said]
        if left and f"`{command}`" not in fix:
            yield from ways.line(JOINT.join(left))
    if alike:
        yield Line(f"  {words['same']}{words['colon']}{words['comma'].join(other['called'] for other in alike)}", style)


def _own_command(one: Data) -> str:
    """The command for this tool alone that mends it, or that is a part of the sentence which says what does."""
    first, *_ = one["findings"] or [one]
    said = [first["fix"]] if is_command(first["fix"]) else re.findall("`([^`]+)`", first["fix"])
    return next((command for command in said if f"--tool {one['tool']}" in command), "")


def _further(finding: Data, words: Data, ways: WaysOut, called: str = "") -> Iterator[Line]:
    """A finding beside the primary one; of another program, where it is named."""
    whose = f" ({called})" if called else ""
    style = "look" if finding["severity"] != "info" else ""
    yield Line(f"  {words['also']}{whose}{words['colon']}{_named(finding, words)}", style)
    yield from _finding(finding, words, ways)


def _client(one: Data) -> Iterator[Line]:
    """What the tool itself saw, where it was asked."""
    client = one["client"]
    if client is None:
        return
    style = {"answered": "good", "unasked": ""}.get(client["state"], "bad")
    yield _said(client["says"], "look" if client["verdict"] == "differs" else style)
    yield from (_said(f"  ? {text}") for text in client["candidates"])


def _well(one: Data, words: Data) -> str:
    """That it is answered, by whom and how fast; or that nobody was asked, or only whether there is such a model."""
    answered = one["answered"]
    if answered is None:
        return str(words["listed" if one["asked"] else "unasked"])
    how = "slow" if answered["milliseconds"] >= _SLOW_MS else "answers"
    model = f"{answered['model']}, " if answered["model"] else ""
    return f"{words[how]} ({model}{answered['milliseconds']} ms)"


def _named(finding: Data, words: Data) -> str:
    doubt = "" if finding["certainty"] == "sure" else f", {words[finding['certainty']]}"
    return f"{finding['title']} ({finding['cause']}{doubt})"


def _excluded(one: Data, words: Data, language: Language) -> str:
    titles = [causes.named(slug, language).title for slug in one["ruled_out"][:_MOST_EVIDENCE]]
    return f"{words['ruled_out']}{words['colon']}{words['comma'].join(titles)}" if titles else ""


def _finding(finding: Data, words: Data, ways: WaysOut, excluded: str = "") -> Iterator[Line]:
    where, evidence = finding["where"], finding["evidence"]
    if len(evidence) > _MOST_EVIDENCE:  # the last lines say what the way out needs
        evidence = [*evidence[: _MOST_EVIDENCE - _LAST], *evidence[-_LAST:]]
    if where is not None and not any(line.startswith(place(where)) for line in evidence):
        yield _said(f"{words['where']}{words['colon']}{place(where)}")
    yield from map(_said, _once(evidence, words))
    if excluded:
        yield _said(excluded, "dim")
    yield from ways.line(finding["fix"] or finding["remedy"])


def _once(evidence: Sequence[str], words: Data) -> Iterator[str]:
    """The lines without what came before, as a part of another one; an answer that did is not spelled out again."""
    seen: set[str] = set()
    for index, line in enumerate(evidence):
        if any(line in before for before in evidence[:index]):
            continue
        asked, arrow, answer = line.partition(" → ")
        yield f"{asked}{arrow}{words['same']}" if len(answer) >= _LONG and answer in seen else line
        seen.add(answer)


def _said(text: str, style: str = "") -> Line:
    """What is said of a program, in lines that a terminal folds between words."""
    return sentence(f"    {text}", style, indent=6)


def _remarks(one: Data, words: Data, ways: WaysOut) -> Iterator[Line]:
    """What is no trouble now, and may be one with a longer answer."""
    for remark in one["remarks"]:
        yield from (_said(f"{words['remark']}{words['colon']}{line}") for line in remark["evidence"])
        if remark["fix"]:
            yield from ways.line(remark["fix"])
