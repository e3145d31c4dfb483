"""What one program of a tool finds on this machine: its layers, its answers, and the variables that it sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path

from toolsync import disk
from toolsync.doctor.layers import UNREAD, Seen
from toolsync.doctor.model import Where
from toolsync.doctor.references import expanded
from toolsync.doctor.wanted import wanted
from toolsync.doctor.world import World
from toolsync.document import KeyPath, parse_path
from toolsync.document import data as _data
from toolsync.document.keypath import spell
from toolsync.errors import FileError
from toolsync.overlay import Edit
from toolsync.secret.vault import Entry
from toolsync.tool import Reader, Tool
from toolsync.trace import Answer, Tree, answers
from toolsync.value import frozen


@frozen
class Sight:
    """A reader, and all that it finds.

    Attributes:
        world: what it was looked at with.
        tool: whose.
        reader: which of its programs.
        layers: lowest first.
        unread: files that people take for its settings.
        edits: what the profile wants, by overlay.
        is_alone: whether the tool has no other program.
        passed_over: questions whose answers are of no account, for they belong to what the settings do not choose.
    """

    world: World
    tool: Tool
    reader: Reader
    layers: tuple[Seen, ...]
    unread: tuple[Seen, ...] = ()
    edits: Mapping[str, Sequence[Edit]] = field(default_factory=dict)
    is_alone: bool = True
    passed_over: frozenset[str] = frozenset()

    @cached_property
    def trees(self) -> list[Tree]:
        """The layers as the trace takes them."""
        return [one.tree for one in self.layers]

    @property
    def damaged(self) -> Seen | None:
        """The first of the user's own files that cannot be read, or of which it takes nothing."""
        own = (one for one in self.layers if not one.is_projects)
        return next((one for one in own if one.state in UNREAD), None)

    @cached_property
    def variables(self) -> Mapping[str, Where]:
        """The variables that its settings put into its environment, and where each stands."""
        return self._variables_of(self.layers)

    def _variables_of(self, layers: Sequence[Seen]) -> Mapping[str, Where]:
        found: dict[str, Where] = {}
        for one in layers:
            for path in map(parse_path, self.tool.request.environment):
                found |= _variables(one, path)
        return {name: where for name, where in found.items() if name not in self.tool.request.at_start}

    @cached_property
    def entries(self) -> Mapping[str, str]:
        """What it finds in the keyring where a variable is not set."""
        found = self.world.entries(self.tool.name, *self._looked_up())
        return {name: text for name, text in found.items() if not self._environ.get(name)}

    def _looked_up(self) -> Iterator[Entry]:
        """Where it looks in the keyring for the variable that the user's own files name, whoever put it there."""
        where = self.tool.key.get("keyring")
        if not isinstance(where, Mapping) or where.get("user") != "<key_variable>":
            return
        trees = [one.tree for one in self.layers if not one.is_projects]
        answer = answers(self.reader, trees, self._environ).get("key_env")
        if answer is not None and answer.layer and answer.value and not self._environ.get(answer.value):
            yield Entry.of(str(where["service"]), answer.value)

    @property
    def _environ(self) -> Mapping[str, str]:
        return self.world.session.places.environ

    @cached_property
    def environ(self) -> Mapping[str, str]:
        """The variables that it sees."""
        return self._with(self.variables)

    @cached_property
    def users_environ(self) -> Mapping[str, str]:
        """The same without what a repository's own files say: with these we run a command, and never with those."""
        return self._with(self._variables_of([one for one in self.layers if not one.is_projects]))

    def environ_from(self, own: Mapping[str, str]) -> Mapping[str, str]:
        """The variables that it sees where it was started with others than there are here."""
        return self._with(self.variables, own)

    def _with(self, variables: Mapping[str, Where], own: Mapping[str, str] | None = None) -> Mapping[str, str]:
        environ = {**self._environ, **self.entries} if own is None else {**own}
        by_name = {one.layer.name: one for one in self.layers}
        for name, where in variables.items():
            value = _data.get(by_name[where.layer].tree.data, by_name[where.layer].below(parse_path(where.slot)))
            environ[name] = value if isinstance(value, str) else str(value)
        return environ

    @cached_property
    def raw(self) -> Mapping[str, Answer]:
        """Its answers as they stand in the settings."""
        found = answers(self.reader, self.trees, self.environ)
        return {**found, **{question: Answer(question, "") for question in self.passed_over}}

    @cached_property
    def users(self) -> Mapping[str, Answer]:
        """Its answers as they would stand without the project's files."""
        return answers(self.reader, [one.tree for one in self.layers if not one.is_projects], self.users_environ)

    @cached_property
    def found(self) -> Mapping[str, Answer]:
        """Its answers, with the references filled in that it expands itself, and the model that an alias stands for."""
        found = {question: self._expanded(answer)[0] for question, answer in self.raw.items()}
        alias = self.tool.request.aliases.get(found["model"].value) if "model" in found else None
        return {**found, "model": replace(found[alias], question="model")} if alias in found else found

    def named(self, question: str) -> tuple[str, ...]:
        """The variables that the answer refers to: by a reference that the tool expands, or as `env_key` does."""
        answer = self.raw.get(question)
        if answer is None:
            return ()
        return (answer.slot[1:],) if answer.slot.startswith("$") else self._expanded(answer)[1]

    def _expanded(self, answer: Answer) -> tuple[Answer, tuple[str, ...]]:
        if not answer.file or not self.tool.request.references:
            return answer, ()
        read = partial(self._text, answer)
        value, named = expanded(answer.value, self.tool.request.references, self.environ, read)
        return replace(answer, value=value), named

    def _text(self, answer: Answer, path: str) -> str:
        """What the file holds that an answer refers to; a repository's own settings speak of its own files only."""
        places, one = self.world.session.places, self.seen(answer)
        file = Path(answer.file).parent / re.sub(r"^~(?=/)", lambda _: str(places.home), path)
        within = (places.repository or places.project) if one is not None and one.is_projects else None
        try:
            return (disk.read(file, within=within).raw or b"").decode(errors="replace").strip()
        except FileError:  # the tool finds nothing there either
            return ""

    def is_elsewhere(self, question: str) -> bool:
        """Whether the settings say only where the answer is to be found."""
        return question in self.raw and self.raw[question].value != self.found[question].value

    def seen(self, answer: Answer) -> Seen | None:
        """The layer that the answer comes from."""
        return next((one for one in self.layers if one.layer.name == answer.layer), None)

    def is_projects(self, where: Where | None) -> bool:
        """Whether a file of the project says so, in which whoever wrote the repository has a say."""
        return where is not None and any(one.is_projects for one in self.layers if one.layer.name == where.layer)

    def is_steered(self, question: str) -> bool:
        """Whether a file of the project says so, and the user's own files do not say the same."""
        answer = self.found.get(question)
        if answer is None or not answer.value or not self.is_projects(self.where(answer)):
            return False
        return question not in self.users or self.users[question].value != answer.value

    def where(self, answer: Answer) -> Where:
        """Where the answer stands."""
        one = self.seen(answer)
        if answer.slot.startswith("$"):
            return self.where_variable(answer.slot[1:])
        if one is not None and one.environ is not None:
            return self.where_variable(str(answer.path[-1]) if answer.path else "")
        line = one.line(answer) if one else None
        return Where(answer.layer, answer.slot, answer.file, line)

    def where_variable(self, name: str) -> Where:
        """Where a variable that it sees is set."""
        stated = self.variables.get(name)
        if stated is not None:
            return stated
        if name in self.entries:
            return Where("keyring", f"${name}")
        line = self.world.set_at(name) if name in self.world.session.places.environ else None
        return Where("environment", f"${name}", line.file if line else "", (line.line or None) if line else None)

    @property
    def called(self) -> str:
        """What people call the program."""
        return self.tool.title if self.is_alone else f"{self.tool.title} ({self.reader.name})"

    @cached_property
    def wanted(self) -> Mapping[str, str]:
        """What the profile would have."""
        return wanted(self.tool, self.reader, self.edits)


def _variables(one: Seen, path: KeyPath) -> Mapping[str, Where]:
    """The variables that stand at that path of a layer."""
    if one.environ is not None:
        return {}
    inner = one.below(path)
    table = _data.get(one.tree.data, inner)
    if not isinstance(table, Mapping):
        return {}
    found: dict[str, Where] = {}
    for name, value in table.items():
        if isinstance(value, str | int | float) and one.document is not None:
            position = one.document.position((*inner, name))
            found[name] = Where(one.layer.name, spell((*path, name)), one.file, position[0] if position else None)
    return found
