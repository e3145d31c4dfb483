"""Whatever others put into our rows stays: columns of a later schema, members of `meta`, and every other row."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.store.cc_switch import CODEX, ROW, home
from toolsync import document

_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_LATER = st.fixed_dictionaries(
    {},
    optional={
        "category": st.none() | _TEXTS,
        "icon": st.none() | _TEXTS,
        "sort_index": st.none() | st.integers(0, 2**40),
        "created_at": st.none() | st.integers(0, 2**40),
        "in_failover_queue": st.booleans(),
        "region": _TEXTS,
        "weight": st.none() | st.floats(allow_nan=False),
    },
)
_META = st.dictionaries(_TEXTS, st.none() | st.booleans() | _TEXTS | st.lists(_TEXTS, max_size=2), max_size=4)


@given(later=_LATER, meta=_META, name=_TEXTS, config=_TEXTS)
def test_foreign_columns_and_meta_stay(later: dict[str, Any], meta: dict[str, Any], name: str, config: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        at = home(Path(folder), "a later one")
        at.write(CODEX)
        values = {**later, "meta": json.dumps(meta)}
        at.run(
            f"UPDATE providers SET {', '.join(f'{column} = ?' for column in values)} WHERE id = ?",  # noqa: S608  names of ours
            *values.values(),
            ROW,
        )
        before, foreign = at.row("codex") or {}, at.foreign()
        columns = document.parse(at.store.read(at.database)[0]["codex"].encode(), "json")
        wanted = columns.set(("name",), name).set(("meta", "commonConfigEnabled"), value=False)
        at.write({"codex": wanted.text, "codex/settings_config/config": config})
        after = at.row("codex") or {}
        assert json.loads(after.pop("meta")) == meta | {"commonConfigEnabled": False}
        assert json.loads(after.pop("settings_config")) == {"auth": {}, "config": config}
        assert after == {column: before[column] for column in after} | {"name": name}
        assert at.foreign() == foreign
