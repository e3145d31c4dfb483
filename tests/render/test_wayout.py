"""What mends it is said once: nothing of it again for the same program, a reference for another one."""

from __future__ import annotations

import pytest

from toolsync import causes
from toolsync.render.wayout import WaysOut

KEY, A, B = "toolsync key set work", "toolsync apply --tool a", "toolsync apply --tool b"
EDIT, BOTH = "toolsync profile edit work --set model=m", f"{A} --tool b"
SENTENCE = "Start it anew."

ROWS: dict[str, tuple[list[list[str]], list[str]]] = {
    "two programs, two ways": ([[A], [B]], [f"    → {A}", f"    → {B}"]),
    "the same again, of one program": ([[A, A]], [f"    → {A}"]),
    "a part of it, of one program": ([[f"{KEY} && {A}", KEY, A]], [f"    → {KEY} && {A}"]),
    "more than it, of one program": ([[A, BOTH]], [f"    → {A}", f"    → {BOTH}"]),
    "a sentence again, of one program": ([[SENTENCE, SENTENCE]], [f"    → {SENTENCE}"]),
    "a sentence again, of another program": ([[SENTENCE], [SENTENCE]], [f"    → {SENTENCE}"] * 2),
    "a key that another one waits for too": (
        [[f"{KEY} && {A}"], [f"{KEY} && {B}"]],
        [f"    → {KEY} && {A}", f"    as above: {KEY}", f"    → {B}"],
    ),
    "a key, and no more": ([[f"{KEY} && {A}"], [KEY], [KEY]], [f"    → {KEY} && {A}", *[f"    → as above: {KEY}"] * 2]),
    "a command for one tool, of another program": ([[A], [A]], [f"    → {A}"] * 2),
    "what comes after another first step": (
        [[f"{EDIT} && {A}"], [f"{KEY} && {EDIT} && {B}"]],
        [f"    → {EDIT} && {A}", f"    → {KEY} && {EDIT} && {B}"],
    ),
}


@pytest.mark.parametrize(("programs", "expected"), ROWS.values(), ids=ROWS)
def test_a_way_out_is_said_once(programs: list[list[str]], expected: list[str]) -> None:
    ways, told = WaysOut(causes.words("en")["doctor"]), []
    for program in programs:
        ways.begin()
        told += [line.text for text in program for line in ways.line(text)]
    assert told == expected
