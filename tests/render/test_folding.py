"""Tables and sentences on a terminal: within its width, words and commands whole, wide characters counted as two."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolsync.masking import Secret
from toolsync.render import folding
from toolsync.render.screen import Line, Screen, sentence
from toolsync.render.tables import cards, columns

texts = st.text(st.sampled_from("ab c/,-`密钥"), max_size=60)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _shown(lines: list[Line], monkeypatch: pytest.MonkeyPatch, width: int, stream: io.StringIO | None = None) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    stream = stream or _Terminal()
    Screen(stream).show(lines)
    return stream.getvalue()


ROWS = [("claude-code", "yes", "~/.claude/settings.json, ~/.config/Code/User/settings.json"), ("codex", "no", "x")]
HEADS = ("Tool", "Found", "Files")


def test_a_table_folds_its_widest_column_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(list(columns(ROWS, HEADS)), monkeypatch, 50) == (
        "Tool         Found  Files\n"
        "claude-code  yes    ~/.claude/settings.json,\n"
        "                    ~/.config/Code/User/\n"
        "                    settings.json\n"
        "codex        no     x\n"
    )


FIGURES = [(str(number), "12, 3 short", *["100.25"] * 6) for number in (1, 16)]
FIGURE_HEADS = ("Streams", "Done", *(f"p{number}" for number in range(6)))


def test_a_row_of_more_columns_than_a_terminal_can_show_is_its_cells_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(list(cards(FIGURES, FIGURE_HEADS)), monkeypatch, 40) == (
        "Streams 1; Done 12, 3 short; p0 100.25;\n"
        "    p1 100.25; p2 100.25; p3 100.25; p4\n"
        "    100.25; p5 100.25\n"
        "Streams 16; Done 12, 3 short; p0 100.25;\n"
        "    p1 100.25; p2 100.25; p3 100.25; p4\n"
        "    100.25; p5 100.25\n"
    )


@pytest.mark.parametrize(("width", "stream"), [(200, _Terminal), (66, _Terminal), (20, io.StringIO)])
def test_where_there_is_room_cards_are_columns(
    monkeypatch: pytest.MonkeyPatch, width: int, stream: type[io.StringIO]
) -> None:
    shown = [
        _shown(list(lines), monkeypatch, width, stream())
        for lines in (cards(FIGURES, FIGURE_HEADS), columns(FIGURES, FIGURE_HEADS))
    ]
    assert shown[0] == shown[1]
    assert max(map(len, shown[0].splitlines())) <= max(width, 80)


@pytest.mark.parametrize(("width", "stream"), [(200, _Terminal), (50, io.StringIO)], ids=["wide", "pipe"])
def test_a_wide_terminal_and_a_pipe_see_each_row_in_one_line(
    monkeypatch: pytest.MonkeyPatch, width: int, stream: type[io.StringIO]
) -> None:
    shown = _shown(list(columns(ROWS, HEADS)), monkeypatch, width, stream())
    assert shown.splitlines()[1] == f"claude-code  yes    {ROWS[0][2]}"
    assert len(shown.splitlines()) == 3


def test_wide_characters_take_two_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown(list(columns([("密钥", "a"), ("key", "b")])), monkeypatch, 80) == "密钥  a\nkey   b\n"


def test_a_sentence_folds_between_words_and_a_command_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    line = sentence("    Name its files: `toolsync profile edit work --set a=1`, and go on.")
    assert _shown([line], monkeypatch, 40) == (
        "    Name its files:\n    `toolsync profile edit work --set a=1`,\n    and go on.\n"
    )


def test_a_diff_is_left_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _shown([Line("+" + "a b " * 30, "add")], monkeypatch, 40).count("\n") == 1


def test_a_key_is_masked_before_it_could_be_folded_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    key = Secret("invented/folded/key/of/some/length").reveal()
    shown = _shown([*columns([("a", key)]), sentence(f"it said {key}")], monkeypatch, 20)
    assert "".join(shown.split()) == "a***itsaid***"


@given(texts, st.integers(2, 30))
@example("```", 2)
def test_a_cell_keeps_every_character_within_its_width(text: str, width: int) -> None:
    lines = folding.cell(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert max(map(folding.cells, lines)) <= width
    assert not any(line.startswith("\n") for line in lines)


def test_chinese_marks_stay_with_their_words() -> None:
    text = "删除文件，或写入（配置）。完成"  # noqa: RUF001  Chinese has its own
    assert folding.prose(text, 9) == ["删除文", "件，或写", "入（配", "置）。完", "成"]  # noqa: RUF001  likewise


def test_a_path_that_is_too_long_begins_on_the_line_of_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _shown(list(columns([("project", "~/a/folder/settings.json")])), monkeypatch, 24)
    assert shown == "project  ~/a/folder/\n         settings.json\n"


@given(texts, st.integers(2, 30))
def test_a_sentence_keeps_every_character(text: str, width: int) -> None:
    assert "".join("".join(folding.prose(text, width, indent=2)).split()) == "".join(text.split())


@given(st.lists(st.integers(0, 90), min_size=1, max_size=6), st.integers(10, 120))
def test_columns_share_the_room(widths: list[int], room: int) -> None:
    fitted = folding.fitted(widths, room)
    assert sum(fitted) <= room or fitted == widths
