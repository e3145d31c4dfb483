"""Splices that add whole lines to a TOML text and take whole lines from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolsync.document.splice import Splice
from toolsync.document.toml_layout import Layout
from toolsync.document.toml_scan import Blank, Comment, Header, Pair, Place, Statement
from toolsync.document.toml_value import spelled_key


def section_added(layout: Layout, path: Place, lines: Sequence[str]) -> Splice:
    """A header for `path` and its keys. At the end a blank line of its own goes before it, which `removed` takes along.

    Raises:
        ValueError: only a block of another tool has place for it.
    """
    spot, known = layout.spot_for_table(path), layout.lines
    if spot == len(known):
        return _inserted(layout, spot, ["", *lines] if _holds_something(layout, spot) else lines)
    return _inserted(layout, spot, [*lines, ""] if isinstance(known[spot - 1], Blank) else lines)


def key_added(layout: Layout, section: Place, key: str, text: str) -> Splice:
    """`key = text` as the last key of `section`, in the style of the one before it.

    Raises:
        ValueError: only a block of another tool has place for it.
    """
    own = [n for n, line in layout.statements.items() if isinstance(line, Pair) and line.section == section]
    if own:
        return _key_after(layout, own[-1], key, text)
    spot, known = layout.spot_for_key(section, None), layout.lines
    if section:
        header = layout.statements[layout.headers[section]]
        return _inserted(layout, spot, [f"{_indent(layout, header)}{key} = {text}"])
    is_apart = spot < len(known) and isinstance(known[spot - 1], Blank)
    before = [""] if _holds_something(layout, spot) and not is_apart else []
    after = [""] if spot < len(known) and not isinstance(known[spot], Blank) else []
    return _inserted(layout, spot, [*before, f"{key} = {text}", *after])


def dotted_key_added(layout: Layout, table: Place, key: str, text: str) -> Splice:
    """`table.key = text` after the last dotted key that makes `table`, which is spelled as there.

    Raises:
        ValueError: only a block of another tool has place for it.
    """
    last = layout.dotted(table)[-1]
    line = _pair(layout, last)
    prefix = layout.text[line.key.start : line.key.ends[len(table) - len(line.section) - 1]]
    return _key_after(layout, last, f"{prefix}.{key}", text)


def removed(layout: Layout, numbers: Iterable[int]) -> list[Splice]:
    """Those lines gone, last first, and one of two blank lines that would then meet."""
    gone = set(numbers)
    for first, end in _runs(gone):
        gone.update(_superfluous_blank(layout, first, end, gone))
    return [_run_removed(layout, first, end) for first, end in reversed(_runs(gone))]


def needless_header(layout: Layout, number: int) -> list[int]:
    """The header above key line `number`, if it would end the file bare and its table is there without it.

    So stands what `section_added` wrote for a key of a table that had sub-tables only.
    """
    header_number = number - 1
    line, bare = layout.statements.get(header_number), number == len(layout.lines) - 1
    if not bare or not isinstance(line, Header) or not isinstance(line.path[-1], str):
        return []
    has_comment = not layout.text[line.start : line.end].rstrip().endswith("]")
    follows_blank = header_number > 0 and isinstance(layout.lines[header_number - 1], Blank)
    is_needed = len(layout.under(line.path)) <= 2  # noqa: PLR2004  itself and the key
    return [] if has_comment or is_needed or not follows_blank else [header_number]


def emptied(layout: Layout, line: Statement, names: int) -> Splice:
    """The line cut back to an empty table, named by the first `names` keys of its path."""
    start = line.start + len(_indent(layout, line))
    end = line.start + len(layout.text[line.start : line.end].rstrip("\r\n"))
    if isinstance(line, Header):
        return Splice(start, end - start, f"[{layout.text[line.key.start : line.key.ends[names - 1]]}]")
    own = names - sum(isinstance(step, str) for step in line.section)
    return Splice(start, end - start, f"{layout.text[line.key.start : line.key.ends[own - 1]]} = {{}}")


def header(path: Place) -> str:
    """How a header names `path`: without list positions, which follow from where it stands."""
    return spelled_key([step for step in path if isinstance(step, str)])


def _key_after(layout: Layout, last: int, key: str, text: str) -> Splice:
    model = _pair(layout, last)
    spot = layout.spot_for_key(model.section, last)
    equals = "=" if model.value.start == model.key.ends[-1] + 1 else " = "
    before = [""] if spot and isinstance(layout.lines[spot - 1], Comment) else []
    return _inserted(layout, spot, [*before, f"{_indent(layout, model)}{key}{equals}{text}"])


def _inserted(layout: Layout, spot: int, new: Sequence[str]) -> Splice:
    """`new` lines at `spot`, with the line ends around it; a file without a final line end stays so."""
    eol = layout.nearest_eol(spot)
    if spot < len(layout.lines):
        return Splice(layout.lines[spot].start, 0, "".join(line + eol for line in new))
    if layout.lines and not layout.eol(spot - 1):
        return Splice(len(layout.text), 0, "".join(eol + line for line in new))
    return Splice(len(layout.text), 0, "".join(line + eol for line in new))


def _superfluous_blank(layout: Layout, first: int, end: int, gone: set[int]) -> list[int]:
    """The blank line that had a reason only while lines `first` to `end` were there."""
    before = next((n for n in range(first - 1, -1, -1) if n not in gone), None)
    after = next((n for n in range(end, len(layout.lines)) if n not in gone), None)
    is_blank_before = before is not None and isinstance(layout.lines[before], Blank)
    is_blank_after = after is not None and isinstance(layout.lines[after], Blank)
    if before is None:
        return [after] if after is not None and is_blank_after else []
    if after is None:
        return [before] if is_blank_before and _holds_something(layout, before) else []
    if not (is_blank_before and is_blank_after):
        return []
    return [before if isinstance(layout.lines[first], Header) else after]


def _holds_something(layout: Layout, end: int) -> bool:
    return any(not isinstance(line, Blank) for line in layout.lines[:end])


def _run_removed(layout: Layout, first: int, end: int) -> Splice:
    start, stop = layout.lines[first].start, layout.lines[end - 1].end
    if end == len(layout.lines) and first > 0 and not layout.eol(end - 1):
        start -= len(layout.eol(first - 1))
    return Splice(start, stop - start, "")


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as ranges without gaps: the first, and one after the last."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs


def _pair(layout: Layout, number: int) -> Pair:
    line = layout.statements[number]
    assert isinstance(line, Pair)  # noqa: S101  whoever asks has found it among the pairs
    return line


def _indent(layout: Layout, line: Statement) -> str:
    return layout.text[line.start : line.key.start].partition("[")[0]
