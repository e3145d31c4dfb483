"""Keys in files of age's: by its library, by the program `age` itself, and by what asks toolsync for them."""

from __future__ import annotations

import io
import os
import shutil
import stat
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.acceptance.machine import KEY, Machine, Ran
from tests.conftest import needs, takes
from tests.key_print import key_print, profile_file, program
from toolsync.errors import FileError, SecretError
from toolsync.keyref import KeyRef
from toolsync.masking import Secret
from toolsync.secret import age
from toolsync.secret.reference import resolve
from toolsync.secret.vault import Vault

PHRASE = "correct horse battery staple"
QUICK = Path(__file__).parents[1] / "corpus" / "quick.age"
"""Shut with `PHRASE` by age's format, at a cost that keeps nobody out: real ones take a second or two to open."""


@pytest.fixture(autouse=True)
def library() -> None:
    needs(find_spec("pyrage"), "pyrage is not installed (`pip install '.[age]'`)")


def no_vault() -> Vault:
    raise AssertionError("the keyring was opened")


def found(reference: str, **environ: str) -> Secret:
    return resolve(KeyRef.parse(reference), no_vault, {"PATH": os.environ["PATH"], **environ})


@pytest.mark.parametrize("kind", ["env", "command", "systemd"])
def test_a_file_is_opened_by_what_the_reference_names(tmp_path: Path, kind: str) -> None:
    (tmp_path / "phrase").write_text(f"{PHRASE}\n")
    inner = {"env": "env:PHRASE", "command": f"command:cat {tmp_path}/phrase", "systemd": "systemd:phrase"}[kind]
    environ = {"PHRASE": PHRASE, "CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert found(f"age:{QUICK}#{inner}", **environ) == Secret(KEY)


def test_a_machine_that_is_held_up_is_not_taken_for_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    class Error(Exception):
        pass

    refused = iter([Error("Excessive work parameter for passphrase.\nDecryption would take around 2048 seconds.")] * 3)

    def decrypt(raw: bytes, phrase: str) -> bytes:
        if (error := next(refused, None)) is not None:
            raise error
        return f"{KEY}\n".encode() if (raw[:3], phrase) == (b"age", PHRASE) else b""

    library = SimpleNamespace(passphrase=SimpleNamespace(decrypt=decrypt), DecryptError=Error)
    monkeypatch.setattr(age, "_library", lambda: library)
    assert found(f"age:{QUICK}#env:PHRASE", PHRASE=PHRASE) == Secret(KEY)


def test_a_file_at_a_price_that_no_machine_pays_is_said_to_be_one(tmp_path: Path) -> None:
    file = _other(tmp_path, QUICK.read_bytes().replace(b"A 1\n", b"A 40\n", 1))
    with pytest.raises(SecretError, match="is shut at a price that this machine cannot pay"):
        found(f"age:{file}#env:PHRASE", PHRASE=PHRASE)


def _other(folder: Path, content: bytes) -> Path:
    path = folder / "x.age"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "inner", "message"),
    [
        pytest.param(None, "#env:PHRASE", "{path} is not there", id="no file"),
        pytest.param(b"sk-plain", "#env:PHRASE", "{path} is no file of age's", id="another file"),
        pytest.param(b"age-encryption.org/v1\n-> x", "#env:PHRASE", "the passphrase does not open {path}", id="broken"),
        pytest.param(..., "#env:OTHER", "the passphrase does not open {path}", id="another passphrase"),
        pytest.param(..., "#env:UNSET", "env:UNSET: the variable is not set", id="no passphrase"),
        pytest.param(..., "#command:true", "'true' printed nothing", id="an empty passphrase"),
        pytest.param(..., "", "age:{path} is shut with a passphrase, and nobody is there to type it", id="nobody"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: object, inner: str, message: str
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    raw = QUICK.read_bytes() if content is ... else content
    path = _other(tmp_path, raw) if isinstance(raw, bytes) else tmp_path / "x.age"
    with pytest.raises(SecretError) as caught:
        found(f"age:{path}{inner}", PHRASE=PHRASE, OTHER="wrong")
    assert caught.value.message == message.format(path=path)
    assert PHRASE not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("inner", "hint"),
    [
        ("#env:OTHER", "Check the passphrase that env:OTHER gives. A file that is shut for a key pair instead is"),
        ("#command:echo wrong", "A file that is shut for a key pair instead is"),
        ("#env:UNSET", "Set UNSET to the passphrase of the file, or keep that in the keyring (age:FILE#keyring:NAME)."),
    ],
)
def test_the_hint_is_about_the_passphrase(inner: str, hint: str) -> None:
    with pytest.raises(SecretError) as caught:
        found(f"age:{QUICK}{inner}", OTHER="wrong", PATH=os.defpath)
    assert caught.value.hint.startswith(hint)


def test_without_the_library_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        if name == "pyrage":
            raise ImportError(name)
        return import_module(name)

    monkeypatch.setattr(age, "import_module", absent)
    with pytest.raises(SecretError, match="need the library pyrage, which is not installed") as caught:
        found(f"age:{QUICK}#env:PHRASE", PHRASE=PHRASE)
    assert "pipx inject toolsync pyrage" in caught.value.hint


def test_no_key_is_asked_for_that_no_file_can_take(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write("mine.txt", "somebody's")
    machine.profile(key="age:~/mine.txt")
    monkeypatch.setattr("toolsync.cli.naming.typed_key", lambda *_, **__: pytest.fail("asked"))
    ran = machine.toolsync("key", "set")
    assert ran.code == 2
    assert "is no file of age's" in ran.err


def test_key_print_uses_it_without_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "phrase").write_text(f"{PHRASE}\n")
    config = profile_file(tmp_path, f"age:{QUICK}#command:cat {tmp_path}/phrase")
    done = key_print(config, environ={"PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{KEY}\n", "")


def test_key_print_without_a_terminal_and_a_reference_says_why(tmp_path: Path) -> None:
    done = key_print(profile_file(tmp_path, f"age:{QUICK}"), environ={"PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stdout) == (2, "")
    assert "is shut with a passphrase, and nobody is there to type it. Let the profile's reference say" in done.stderr


def typed(argv: Sequence[str], answers: Sequence[str], **environ: str) -> tuple[int, str]:
    """What the program says on a terminal where a person answers each question; its exit code."""
    import pty  # not on Windows

    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(argv[0], [*argv], {"PATH": "/usr/bin:/bin", "TERM": "dumb", **environ})  # noqa: S606
    said, waiting = b"", list(answers)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            said += os.read(terminal, 1024)
        except OSError:  # it has ended
            break
        if waiting and said.rstrip(b"\x1b[K").endswith((b": ", b"?")):
            os.write(terminal, f"{waiting.pop(0)}\n".encode())
            time.sleep(0.05)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()


def test_a_person_is_asked_and_shown_nothing(tmp_path: Path) -> None:
    config = profile_file(tmp_path, f"age:{QUICK}")
    code, said = typed([*program(), "--config", str(config), "key", "print"], [PHRASE], HOME=str(tmp_path))
    asked, _, printed = said.partition("\r\n")
    assert (code, asked, printed.strip()) == (0, f"Passphrase of {QUICK} (nothing is shown): ", KEY)


def test_key_set_makes_the_file_and_age_itself_opens_it(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    takes("shuts and opens files at the price that keeps others out")
    needs(shutil.which("age"), "age is not installed")
    machine.profile(key="age:~/keys/work.age#env:PHRASE")
    machine.environ |= {"PHRASE": PHRASE}
    monkeypatch.setattr("toolsync.cli.streams.typed_in", lambda: f"{KEY}\n")
    ran = machine.toolsync("key", "set", "--stdin")
    file = machine.home / "keys" / "work.age"
    assert ran.out == "age:~/keys/work.age holds the key, shut with the passphrase.\n"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    assert KEY.encode() not in file.read_bytes()
    code, said = typed(["/usr/bin/age", "-d", str(file)], [PHRASE])
    assert (code, KEY in said) == (0, True)


def test_what_age_itself_shut_is_opened(tmp_path: Path) -> None:
    needs(shutil.which("age"), "age is not installed")
    (tmp_path / "key").write_text(f"{KEY}\n", encoding="utf-8")
    code, _ = typed(["/usr/bin/age", "-p", "-a", "-o", str(tmp_path / "x.age"), str(tmp_path / "key")], [PHRASE] * 2)
    assert code == 0
    assert found(f"age:{tmp_path}/x.age#env:PHRASE", PHRASE=PHRASE) == Secret(KEY)


@pytest.mark.parametrize(
    ("content", "environ", "said"),
    [
        pytest.param(b"notes", {"PHRASE": PHRASE}, "is no file of age's", id="another file"),
        pytest.param(None, {}, "env:PHRASE: the variable is not set", id="no passphrase"),
    ],
)
def test_key_set_writes_over_nothing_else(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, content: bytes | None, environ: dict[str, str], said: str
) -> None:
    machine.profile(key="age:~/x.age#env:PHRASE")
    machine.environ |= environ
    if content is not None:
        machine.write("x.age", content)
    monkeypatch.setattr("toolsync.cli.streams.typed_in", lambda: f"{KEY}\n")
    with machine.untouched():
        ran = machine.toolsync("key", "set", "--stdin")
    assert (ran.code, ran.out, said in ran.err) == (2, "", True)


# The passphrase, where the keyring has it


class Files:
    """Files of age's, opened and shut without the time that this takes."""

    def __init__(self) -> None:
        self.held: dict[Path, tuple[str, str]] = {}
        self.refuses = False

    def opened(self, path: Path, passphrase: Secret) -> str:
        phrase, key = self.held[path]
        if phrase != passphrase.reveal():
            raise SecretError("the passphrase does not open it")
        return key

    def shut(self, path: Path, key: Secret, passphrase: Secret) -> None:
        if self.refuses:
            self.refuses = False
            raise FileError("no space left")
        self.held[path] = passphrase.reveal(), key.reveal()


@pytest.fixture
def files(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Two files that the keyring has the passphrase of, and one that opens with another."""
    made, names = Files(), ("one.age", "two.age", "other.age")
    table = 'base_url = "https://h"\nmodel = "m"\nkey = "age:{}#keyring:phrase"\n'
    profiles = "".join(f"\n[profiles.{name[:-4]}]\n{table.format(machine.home / name)}" for name in names[1:])
    machine.profile(profiles, key=f"age:{machine.home / names[0]}#keyring:phrase")
    machine.vault.set("phrase", Secret(PHRASE))
    for name in names:
        made.held[machine.write(name, QUICK.read_bytes())] = PHRASE if name != "other.age" else "x", KEY
    monkeypatch.setattr(age, "opened", made.opened)
    monkeypatch.setattr(age, "shut", made.shut)
    return made


def _phrases(machine: Machine, files: Files) -> list[str]:
    kept = machine.vault.get("phrase")
    assert {key for _, key in files.held.values()} == {KEY}
    return [kept.reveal() if kept else "", *(phrase for phrase, _ in files.held.values())]


LATER = "another phrase, with spaces"


def _set(machine: Machine, monkeypatch: pytest.MonkeyPatch, phrase: str = LATER) -> Ran:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{phrase}\n"))
    return machine.toolsync("key", "set", "phrase", "--stdin")


def test_files_are_shut_with_their_new_passphrase(
    machine: Machine, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody could open them again."""
    for ran in (_set(machine, monkeypatch), _set(machine, monkeypatch)):
        assert (ran.code, _phrases(machine, files)) == (0, [LATER, LATER, LATER, "x"]), ran.err
    assert _set(machine, monkeypatch, PHRASE).out.splitlines() == [
        "keyring:phrase is replaced in memory (kept only while this command runs).",
        "age:~/one.age is shut with it now.",
        "age:~/two.age is shut with it now.",
        "warning: age:~/other.age does not open with it, and stays as it is",
        "    What asks for the key in it gets none. `toolsync key set phrase` takes the passphrase that it has.",
    ]


def test_a_passphrase_that_is_stored_first_is_tried(
    machine: Machine, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.vault.remove("phrase")
    said = "warning: age:~/{}.age does not open with it, and stays as it is\n"
    for phrase, refused in ((LATER, 3), (PHRASE, 1), (PHRASE, 1)):
        ran = _set(machine, monkeypatch, phrase)
        assert [said.format(name) in ran.out for name in ("one", "two", "other")].count(True) == refused, ran.out
    assert _phrases(machine, files) == [PHRASE, PHRASE, PHRASE, "x"]


@pytest.mark.parametrize(("name", "is_told"), [("other", True), ("two", False)])
def test_a_key_that_is_shut_with_another_passphrase_than_before_is_said_to_be(
    machine: Machine, files: Files, monkeypatch: pytest.MonkeyPatch, name: str, *, is_told: bool
) -> None:
    """Whoever knows the one from before gets no key from there."""
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}2\n"))
    ran = machine.toolsync("key", "set", name, "--stdin")
    said = f"warning: another passphrase opened age:~/{name}.age until now, and opens it no more\n"
    assert (ran.code, said in ran.out) == (0, is_told), ran.out
    assert files.held[machine.home / f"{name}.age"] == (PHRASE, f"{KEY}2")


def test_what_was_cut_off_is_ended_by_the_same_passphrase(
    machine: Machine, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the files and the keyring, whose passphrase opens but the second now."""
    files.held[machine.home / "one.age"] = LATER, KEY
    ran = _set(machine, monkeypatch)
    assert _phrases(machine, files) == [LATER, LATER, LATER, "x"]
    assert [line for line in ran.out.splitlines() if ".age" in line] == [
        "age:~/two.age is shut with it now.",
        "warning: age:~/other.age does not open with it, and stays as it is",
    ]


@pytest.mark.parametrize("fault", ["file", "keyring", "none"])
def test_where_one_cannot_be_all_stay_as_they_were(
    machine: Machine, files: Files, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    files.refuses = fault == "file"
    if fault == "keyring":
        refused = SecretError("the keyring is full")
        monkeypatch.setattr(machine.vault, "set", lambda *_: (_ for _ in ()).throw(refused))
    ran = _set(machine, monkeypatch, " " if fault == "none" else LATER)
    assert (ran.code, _phrases(machine, files)) == (2, [PHRASE, PHRASE, PHRASE, "x"]), ran.err


def test_a_passphrase_is_in_use_and_is_no_key(machine: Machine, files: Files) -> None:
    with machine.untouched():
        removed = machine.toolsync("key", "remove", "phrase", "--yes")
        rotated = machine.toolsync("key", "rotate", "phrase", "--yes", "--from", "env:X")
    used = "error: keyring:phrase is also used by profile 'work' as the passphrase of age:~/one.age and profile 'two'"
    assert (removed.code, removed.err.startswith(used)) == (2, True), removed.err
    said = "error: keyring:phrase is no key, but the passphrase of age:~/one.age, age:~/two.age, age:~/other.age\n"
    assert (rotated.code, rotated.err.startswith(said)) == (2, True), rotated.err
    assert _phrases(machine, files)[0] == PHRASE


@pytest.mark.parametrize("is_going", [False, True], ids=["keys stay", "keys go"])
def test_uninstall_calls_a_passphrase_what_it_is_and_names_the_files_that_stay(
    machine: Machine, files: Files, monkeypatch: pytest.MonkeyPatch, *, is_going: bool
) -> None:
    _set(machine, monkeypatch, PHRASE)
    ran = machine.toolsync("uninstall", "--yes", "--json", *(["--remove-keys"] if is_going else []))
    named = "age:~/one.age, age:~/two.age, age:~/other.age"
    data, said = ran.json["data"], [one["text"] for one in ran.json["messages"]]
    left = {one["name"]: one["reason"] for one in data["left"]}
    assert (ran.code, left["~/one.age"]) == (0, "your key, shut with a passphrase")
    kept = f"the passphrase of {named}; `toolsync uninstall --remove-keys` removes it"
    assert left.get("keyring:phrase") == (None if is_going else kept)
    assert ({"kind": "passphrase", "name": "keyring:phrase"} in data["removed"]) is is_going
    warned = f"keyring:phrase goes, the passphrase of {named}: without it nobody opens what stays"
    assert (warned in said) is is_going
    assert all(path.exists() for path in files.held)


def test_a_passphrase_with_blanks_is_looked_for_as_it_is(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.profile(key=f"age:{QUICK}#keyring:pp")
    monkeypatch.setattr("sys.stdin", io.StringIO(PHRASE))
    assert machine.toolsync("key", "set", "pp", "--stdin").code == 0
    machine.write(".bashrc", f"export P='{PHRASE}'\n").chmod(0o600)
    ran = machine.toolsync("check", "--json")
    assert [one["secret"]["name"] for one in ran.json["data"]["findings"]] == ["keyring:pp"]
    assert [one["text"] for one in ran.json["messages"] if "keyring:pp" in one["text"]] == []
