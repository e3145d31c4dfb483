"""A file, its memory and a keyring, as plans change them: what the laws of plans are tried on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from toolsync.document import Document, Item, KeyPath, Value, parse
from toolsync.errors import EditRefusedError
from toolsync.memory_form import from_json, to_json
from toolsync.overlay import ABSENT, TABLE, Edit
from toolsync.plan import FilePlan, Place, Row, plan_file
from toolsync.remembered import FileMemory, Memory, vault_names

KEY = bytes(range(32))
SECRET = "s3cr3t-0123456789"
"""Stands in every value that may be a key, and nowhere else."""


@dataclass
class World:
    """What lies on disk, in memory and in the keyring."""

    text: str | None
    format: str = "jsonc"
    memory: FileMemory | None = None
    vault: dict[str, str] = field(default_factory=dict)
    clock: int = 0

    def plan(self, *rows: Row) -> FilePlan:
        place = Place("/home/u/f", self.format, KEY, f"2026-12-01T{self.clock:08}", self.vault.get)
        return plan_file(place, self.text, rows, self.memory)

    def run(self, *rows: Row) -> FilePlan:
        """Carry a plan out as `apply` does: keyring, file, memory, keyring."""
        self.clock += 1
        plan = self.plan(*rows)
        if not plan.is_nothing:
            self.vault.update(plan.kept)
            self.text, self.memory = plan.after, plan.memory
            for name in plan.forgotten:
                del self.vault[name]
        return plan

    @property
    def document(self) -> Document:
        return parse((self.text or "").encode(), self.format)

    def edit(self, path: KeyPath, value: Value) -> None:
        """A user's own edit, with an editor that keeps the rest."""
        document = self.document
        self.text = (document.remove(path) if value is ABSENT else document.set(path, value)).text

    @property
    def memory_json(self) -> str:
        files = {} if self.memory is None else {"/home/u/f": self.memory}
        data = json.dumps(to_json(Memory(KEY, "work", files)))
        assert from_json(json.loads(data)).files == files
        return data

    @property
    def entries(self) -> set[str]:
        """The keyring entries that memory speaks of."""
        return set(vault_names(self.memory)) if self.memory else set()


def row(tool: str, edits: Iterable[Edit] = (), **more: object) -> Row:
    return replace(Row(tool, "o.json", tuple(edits)), **more)  # type: ignore[arg-type]  # fields by name


ONE, TWO = "one", "two"
_VALUES = st.sampled_from(["v", "w", "", 1, True, 1.5, ["x"], [], {"k": "v"}])
_SECRETS = st.sampled_from([SECRET, f"{SECRET}-2", ""])
_PATHS: dict[str, Sequence[KeyPath]] = {
    ONE: [
        ("a",),
        ("one",),
        ("env", "ONE"),
        ("t", "one", "x"),
        ("t", "one", "y"),
        ("l", Item("id", "one"), "u"),
        ("b",),
    ],
    TWO: [
        ("c",),
        ("two",),
        ("env", "TWO"),
        ("t", "two", "x"),
        ("u", "v", "w"),
        ("l", Item("id", "two"), "u"),
        ("a.b",),
    ],
}
_TABLES: dict[str, KeyPath] = {ONE: ("t", "must"), TWO: ("must",)}
_SECRET_PATHS: dict[str, KeyPath] = {ONE: ("env", "API_KEY_ONE"), TWO: ("auth", "token")}


@st.composite
def overlays(draw: st.DrawFn, tool: str) -> tuple[Edit, ...]:
    """What one tool's overlay wants: some values, some nothing, a table, a key."""
    paths = draw(st.lists(st.sampled_from(_PATHS[tool]), unique=True, min_size=1, max_size=5))
    edits = [Edit(path, draw(st.just(ABSENT) | _VALUES if draw(st.booleans()) else _VALUES)) for path in paths]
    if draw(st.booleans()):
        edits.append(Edit(_TABLES[tool], TABLE))
    if draw(st.booleans()):
        edits.append(Edit(_SECRET_PATHS[tool], draw(st.just(ABSENT) | _SECRETS), secret=True, harmless=False))
    return tuple(draw(st.permutations(edits)))


USERS_KEYS = [*_SECRET_PATHS.values()]
ELSEWHERE: Sequence[KeyPath] = [
    ("user",),
    ("env", "MINE"),
    ("t", "mine"),
    ("t", "one", "mine"),
    ("l", Item("id", "mine"), "u"),
]
OURS: Sequence[KeyPath] = [*_PATHS[ONE], *_PATHS[TWO]]


def with_users_keys(text: str, format: str, draw: st.DrawFn) -> str:
    """The text with keys of the user's own where tools look for them."""
    document = parse(text.encode(), format)
    for path in draw(st.lists(st.sampled_from(USERS_KEYS), unique=True)):
        try:
            document = document.set(path, f"{SECRET}-of-the-user")
        except EditRefusedError:
            continue
    return document.text
