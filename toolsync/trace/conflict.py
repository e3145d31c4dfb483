"""Where what we write is not what the tool will use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolsync.document import MISSING, KeyPath, Missing, Value
from toolsync.document import data as _data
from toolsync.document.keypath import parse as parse_path
from toolsync.overlay import ABSENT, TABLE, Edit
from toolsync.tool import Reader, Request, Slot
from toolsync.tool.stated import stated
from toolsync.trace import Answer, Tree, path_of, text_of
from toolsync.trace.credential import CREDENTIALS, keyed_headers
from toolsync.value import frozen


@frozen
class Conflict:
    """Why what we write is not what the tool will use.

    Attributes:
        question: what the trace asks.
        answer: what wins, and where it stands.
        is_foreign_credential: whether a key that is not ours would reach our gateway: a plan with it is refused.
        other: the answer that `answer` disagrees with, if two must agree.
        header: the header in which a further one of the user's carries a key; "" where it is none.
    """

    question: str
    answer: Answer
    is_foreign_credential: bool = False
    other: Answer | None = None
    header: str = ""


def conflicts(
    request: Request,
    reader: Reader,
    found: Mapping[str, Answer],
    trees: Sequence[Tree],
    edits: Mapping[str, Sequence[Edit]],
) -> list[Conflict]:
    """Where the answers are not ours.

    Args:
        request: how its tool asks.
        reader: whose questions.
        found: its answers over the planned texts.
        trees: the layers that they came from.
        edits: what we want, by overlay.
    """
    ours = {question: _ours(slots, found, trees, edits) for question, slots in reader.questions.items()}
    is_ours = {question: _is_given(reader, answer, ours[question]) for question, answer in found.items()}
    address_is_ours = is_ours.get("base_url", False)
    result: list[Conflict] = []
    for question, answer in found.items():
        if question in _conditions(reader):
            continue
        expected = reader.expect.get(question)
        if expected is not None and answer.value != expected:
            result.append(Conflict(question, answer))
        elif expected is None and ours[question] and not is_ours[question]:
            credential = question in CREDENTIALS and bool(answer.value) and address_is_ours
            result.append(Conflict(question, answer, is_foreign_credential=credential))
        elif _is_foreign(reader, answer) and not ours[question] and address_is_ours:
            result.append(Conflict(question, answer, is_foreign_credential=True))
    result.extend(_disagreement([found[question] for question in reader.agree], is_ours))
    result.extend(
        Conflict(question, found[question], is_foreign_credential=True, header=name)
        for question, name in keyed_headers(request, found)
        if address_is_ours and not is_ours[question]
    )
    return result


def _is_given(reader: Reader, answer: Answer, ours: set[str]) -> bool:
    """Whether the answer is one of ours; of a table that is put together, whether ours stands in it whole."""
    if answer.question not in reader.merge or not answer.value:
        return answer.value in ours
    return any({*stated(value)} <= {*stated(answer.value)} for value in ours)


def _conditions(reader: Reader) -> frozenset[str]:
    """The questions that are asked only to know where others look."""
    named = {slot.unless for slots in reader.questions.values() for slot in slots}
    return frozenset(named - CREDENTIALS - {"base_url", "model"})


def _is_foreign(reader: Reader, answer: Answer) -> bool:
    """Whether a file holds a key that the tool will send, where we mean it to find ours elsewhere."""
    return answer.question in CREDENTIALS - {*reader.agree} and bool(answer.value and answer.file)


def _disagreement(answers: Sequence[Answer], is_ours: Mapping[str, bool]) -> Iterator[Conflict]:
    """The conflict of answers that must come from one slot, and do not; about the one that is not ours."""
    given = [answer for answer in answers if answer.value]
    if len({(answer.slot, answer.layer) for answer in given}) > 1:
        *others, last = sorted(given, key=lambda answer: not is_ours[answer.question])
        is_foreign = is_ours.get("base_url", False) and not is_ours[last.question]
        yield Conflict(last.question, last, is_foreign, others[0])


def _ours(
    slots: Sequence[Slot], found: Mapping[str, Answer], trees: Sequence[Tree], edits: Mapping[str, Sequence[Edit]]
) -> set[str]:
    """The answers that we give at the slots of one question."""
    places = [(path, slot.pattern) for slot in slots if slot.kind == "path" and (path := path_of(slot, found))]
    values = (
        text_of(value, pattern)
        for tree in trees
        if tree.layer.overlay
        for edit in edits.get(tree.layer.overlay, ())
        for path, pattern in places
        if (value := _value_at(edit, path, tree.layer.at)) is not MISSING
    )
    return {value for value in values if value}


def _value_at(edit: Edit, path: KeyPath, at: str) -> Value | Missing:
    mounted = (*(parse_path(at) if at else ()), *edit.path)
    if edit.value in (ABSENT, TABLE) or path[: len(mounted)] != mounted:
        return MISSING
    return _data.get(edit.value, path[len(mounted) :])
