"""What a template says of a tool, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from toolsync.document import Document, Value
from toolsync.tool.running import Connection, Processes
from toolsync.value import frozen

Dialect = Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini"]


@frozen
class FileRow:
    """One settings file of a tool, or one part of a store.

    Attributes:
        overlay: the row's name: the overlay's file name in the template folder, or the part.
        document: the overlay itself, unfilled.
        path: alternatives, best first; or the name of a list fact (`<paths?>`) in `each`.
        each: the list fact that names the files, one each, or None.
        format: the settings file's format.
        needs: the row counts only where this path exists.
        new: what a file that does not exist starts as; None: the filled overlay with its comments.
        schema: JSON Schema that the tool's file must meet, or None.
        running: programs that write their old values back over the file while they run; `NAME/` for a folder above one.
        part: which part of the store it is; "" for a file.
        of: the tool whose own file the part holds: filled as that tool's file would be; "" for none.
        template: the overlay's file name, in the folder of `of` if there is one.
        is_replaced: whether a tool of the user's own took the place of `of`, and keeps another file: then the part is
            given back, and wanted no more.
    """

    overlay: str
    document: Document
    path: tuple[str, ...]
    format: str
    each: str | None = None
    needs: str | None = None
    new: str | None = None
    schema: Mapping[str, Any] | None = None
    running: tuple[str, ...] = ()
    part: str = ""
    of: str = ""
    template: str = ""
    is_replaced: bool = False

    @property
    def app(self) -> str:
        """Whose row of a store the part belongs to; "" for a file."""
        return self.part.partition("/")[0]


@frozen
class Slot:
    """One place where the answer to a question may stand.

    Attributes:
        kind: `path` in the layers, `variable` of the environment, or `default` of the tool itself.
        text: the path, the variable's name (or `<question>` that names it), or the default.
        pattern: group 1 of it is the answer, or None for the whole value.
        unless: the earlier question whose answer takes its place: the tool then does not look here; "" for none.
    """

    kind: Literal["path", "variable", "default"]
    text: str
    pattern: str | None = None
    unless: str = ""

    def __str__(self) -> str:
        return {"path": self.text, "variable": f"${self.text}", "default": f"={self.text}"}[self.kind]


@frozen
class Reader:
    """One program that reads the settings, and how it finds its answers.

    Attributes:
        name: empty when the tool has one reader only.
        questions: the slots of each question, strongest first, in the order in which they are answered.
        agree: questions whose answers must come from one slot.
        expect: the answers that ours must give.
        merge: questions whose answers are tables, which it puts together of all its layers, key by key.
        newer_than: the program of which it is another version, spoken of only where it finds otherwise; "" for none.
        known: the answers with which the questions behind it are what the template says, by question; with another one,
            whom it asks, and how, is not examined.
    """

    name: str
    questions: Mapping[str, tuple[Slot, ...]]
    agree: tuple[str, ...] = ()
    expect: Mapping[str, str] = field(default_factory=dict)
    merge: tuple[str, ...] = ()
    newer_than: str = ""
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@frozen
class Layer:
    """One place that sets values, as the tool layers them.

    Attributes:
        name: what people call it.
        kind: another file, one of our own rows, or the environment.
        path: alternatives, for `file`.
        overlay: the row's name, for `overlay`.
        format: of the file.
        at: the key under which the layer's tree is mounted, or "".
        ignores: keys, or paths, that this layer may not set.
        is_managed: whether an organisation rules it, and no user may change it.
        refuses: settings with which the tool does not start; `<any>` stands for each key of a table.
        wants: settings without which it does not start, each in a table that is there; `<any>` likewise.
        needs: slots, one of which the layers below must answer, else the tool takes nothing of this one; `<project>`
            and `<repository>` stand for these folders.
        is_unmet: whether it is known that they do not, on this machine.
        is_login: whether the tool itself keeps there what a login gave it, and nothing else.
    """

    name: str
    kind: Literal["file", "overlay", "environment"]
    path: tuple[str, ...] = ()
    overlay: str = ""
    format: str = ""
    at: str = ""
    ignores: tuple[str, ...] = ()
    is_managed: bool = False
    refuses: tuple[Slot, ...] = ()
    wants: tuple[Slot, ...] = ()
    needs: tuple[Slot, ...] = ()
    is_unmet: bool = False
    is_login: bool = False


@frozen
class Request:
    """How the tool asks its gateway.

    Attributes:
        headers: the header that each question's answer is sent in, by question, as HTTP spells it.
        outdone: those of these headers in which one that the user states himself wins over the key.
        path: what is appended to the base address; None: what the dialect appends.
        streams: whether it asks for a stream.
        references: the spellings of variables that it expands in its settings: `${NAME}`, `{env:NAME}`.
        environment: the tables of its settings whose entries it puts into its own environment.
        at_start: variables that count only where they are set before it starts, not in those tables.
        runs: the places whose value is a command that it runs for the answer.
        needs_key: whether it asks nobody without a key, though a server may want none.
        falls_back: whether it goes on to the next address of a name where one refuses.
        trims: the readers that leave out white space around a key and an address.
        tolerates_key: white space at a key's end that gets lost on the way.
        tolerates_address: the same at an address's end.
        aliases: names that stand for what another question is answered with, where they are a model's; "" for none.
        timeout_seconds: how long it waits for an answer where nothing says it; None: nobody knows, or for ever.
        timeout_of: what its limit holds for: the `headers` of an answer, its `first` word, the `gaps` of a stream.
        limit: the parameter by which it limits the answer's tokens; "": the dialect's usual one.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    outdone: tuple[str, ...] = ()
    path: str | None = None
    streams: bool = True
    references: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    at_start: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    needs_key: bool = False
    falls_back: bool = False
    trims: tuple[str, ...] = ()
    tolerates_key: str = ""
    tolerates_address: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float | None = None
    timeout_of: tuple[str, ...] = ("first",)
    limit: str = ""


@frozen
class Strict:
    """What a tool takes in files of which it reads nothing where one field is otherwise.

    Attributes:
        schema: JSON Schema of that.
        layers: the names of those that are such files.
        version: what `PROGRAM --version` says matches it where all of the schema holds; newer ones may take more.
    """

    schema: Mapping[str, Any]
    layers: tuple[str, ...]
    version: str


@frozen
class Client:
    """The command that asks one program of the tool once, and what its output says.

    Attributes:
        reader: which of the tool's programs it is.
        command: the program and its arguments, one of which is `<prompt>`.
        version: what `PROGRAM --version` says must match it; "": every version is asked so.
        sets: variables that it is given beside the user's own.
        hides: variables that it is not given: a tool that runs toolsync has set them for itself.
        output: answers `answer`, `error`, `status` and `refusal` over what it printed.
        timeout_seconds: how long it may take.
        loads: arguments with which it reads its settings, and asks nobody; empty where nobody knows any.
    """

    reader: str
    command: tuple[str, ...]
    output: Reader
    version: str = ""
    sets: Mapping[str, str] = field(default_factory=dict)
    hides: tuple[str, ...] = ()
    timeout_seconds: float = 120
    loads: tuple[str, ...] = ()


@frozen
class Tool:
    """One template, read.

    Attributes:
        name: the folder's name; what `--tool` takes.
        title: what people call it.
        speaks: the dialects of its requests; the first is the one that is pinged.
        reload: what a person must do for new values to count.
        commands: programs whose presence on PATH shows that the tool is installed.
        paths: files or folders that show it.
        key: each way the tool can take a key, best first, and how it spells it.
        files: its settings files.
        environment: what it takes from its environment, as overlays of variables without a file.
        readers: who reads them; at least one.
        layers: lowest first.
        is_users_own: whether it comes from the user's config directory.
        store: the name of the store that its rows are parts of, or "".
        unread: files in which people put these settings, and that the tool does not read.
        request: how it asks.
        connections: how each reader gets to its gateway; by its name.
        processes: the running programs of each reader; by its name.
        leftovers: the files that it leaves beside its settings, where a key can stand too; patterns, by kind.
        clients: how its programs are asked once.
        strict: what it takes in files that it drops whole; None where nobody knows of any.
    """

    name: str
    title: str
    speaks: tuple[Dialect, ...]
    reload: str
    commands: tuple[str, ...]
    paths: tuple[str, ...]
    key: Mapping[str, Value]
    files: tuple[FileRow, ...]
    readers: tuple[Reader, ...]
    layers: tuple[Layer, ...]
    is_users_own: bool = False
    environment: tuple[Document, ...] = ()
    store: str = ""
    unread: tuple[Layer, ...] = ()
    request: Request = field(default_factory=Request)
    connections: Mapping[str, Connection] = field(default_factory=dict)
    processes: Mapping[str, Processes] = field(default_factory=dict)
    leftovers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clients: tuple[Client, ...] = ()
    strict: Strict | None = None

    @property
    def holds(self) -> tuple[str, ...]:
        """The tools whose own files its rows hold."""
        return tuple(dict.fromkeys(row.of for row in self.files if row.of and not row.is_replaced))
