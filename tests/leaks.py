"""After the tests: no invented key may stand in anything that was written, printed or logged, but where it must.

A pytest plugin. What it looks through: every file under pytest's folder for temporary files (the homes of the real
clients too), what each test printed, what toolsync's own processes said, and every log record of any level. What may
hold a key is in `ALLOWED`, each with the reason; anything else fails the run.
"""

from __future__ import annotations

import base64
import logging
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.keys import MARK

_TOOLS = r"(service/config\.toml|\.codex/config\.toml|\.claude/settings\.json)"

ALLOWED: Sequence[tuple[str, str, str]] = (
    (
        r"test_faithful.py::test_what_was_applied_before_leaves_nothing_behind",
        rf"file machine-\d+/home/{_TOOLS}",
        "the plaintext way, agreed to: the template spells `<key>`",
    ),
    (
        r"doctor/test_by_variable.py::test_a_variable_gives_way",
        r"file machine-0/home/service/settings\.json",
        "the plaintext way, agreed to",
    ),
    (
        r"test_bad_input.py::test_a_tool_that_would_need_a_copy_of_the_key_is_left_out_without_consent",
        r"file machine-0/home/\.claude/settings\.json",
        "the plaintext way, agreed to",
    ),
    (
        r"acceptance/test_(doctor_arrows|keys).py::",
        r"file machine-0/home/(print-key|\.codex/config\.toml|\.cline/data/(secrets|settings/providers)\.json)",
        "the plaintext way, agreed to; and the user's own program that prints a key",
    ),
    (
        r"acceptance/test_keys.py::test_(the_(secret|uses)_of_a_header|who_asks_for_a_key|a_tool_that_still_asks)",
        r"file machine-0/home/(\.claude/settings\.json|\.cline/data/globalState\.json|\.vibe/config\.toml)",
        "the secret of a header, agreed to",
    ),
    (
        r"acceptance/test_(earlier_key|old_key|old_values|old_address|keyring|keyring_faults|uninstall).py::",
        rf"file machine-0/home/({_TOOLS}|service/settings\.json|\.acme\.json)",
        "the user's own key, where the user had it before toolsync came and has it again after undo",
    ),
    (
        r"acceptance/test_earlier_key.py::test_(who_forgets_a_key|a_key_that_another_name)",
        r"file machine-0/home/\.zshrc",
        "the user's own line, which is what is looked for",
    ),
    (
        r"acceptance/test_kept.py::test_(what_was_shut|nor_does_the_next)",
        r"file machine-0/home/service/settings\.json",
        "the user's own key, put there since",
    ),
    (
        r"acceptance/test_copied.py::",
        r"file machine-0/home/((dots/)?\.cline/data/secrets|(moved|\.claude)/settings)\.json",
        "the user's own key, given back in the file and in its copy",
    ),
    (
        r"acceptance/test_copies.py::test_status_and_diff_say_that_it_stands_there",
        r"file machine-0/home/\.claude/settings\.json",
        "the plaintext way, agreed to before the profile forbade it: nothing takes it back there",
    ),
    (
        r"test_conflicts.py::test_a(_project_with_a_token|_key_in_the_login|n_organisations_key|_header)",
        r"file machine-0/home/(\.claude\.json|project/\.claude/settings\.local\.json|\.acme/policy\.d/10\.json)",
        "the user's own key, in a file that toolsync only reads",
    ),
    (
        r"test_shared_profile.py::.*\[a key( elsewhere)?\]",
        r"file team/toolsync\.toml",
        "the mistake of who keeps the shared file, which the test is about",
    ),
    (
        r"test_bad_input.py::.*\[a key in the profile\]",
        r"file config/profile\.toml",
        "the user's mistake that the test is about",
    ),
    (
        r"doctor/test_(applied|aside|astray|effective|checks|healthy|processes|helper|well|key_stays|mended|at_home|hearing|words|client|breach|diagnosis|hostile|taking_out|said|untried|choice|scheme).py::",
        r"file (home|root|machine-0/home)/.*",
        "the settings that are looked at, with the user's own keys in them",
    ),
    (
        r"acceptance/test_twin.py::test_(a_copy_of_the_others|once_both_have_the_new_one)",
        r"file machine-0/home/\.cline/data/(secrets|settings/providers)\.json",
        "the plaintext way, agreed to",
    ),
    (
        r"acceptance/test_filled.py::",
        r"file machine-0/home/((svc/|project/)?\.env|other|notes\.env|\.bashrc)",
        "what `env` printed, and its owner had written there",
    ),
    (r"^$", r"(file|name of) leaking\d+/inner/.*", "the check's own tests: what it must find"),
    (
        r"gitguard/test_apply.py::",
        r"file machine-\d+/home/dots/(service|deep/er)/[a-z]+\.json",
        "the plaintext way, agreed to, in a file that git ignores",
    ),
    (
        r"^$",
        r"file layers\d+/\d+/(\.|etc/codex/|project/\.).*",
        "the settings of real clients, with the user's own keys in them",
    ),
    (
        r"^$",  # rooms that the tests of the transaction share
        r"file rooms\d+/\d+/(dotfiles/real|linked|new/deep/file|other name)",
        "the files that a transaction is told to write, in the tests of how it is interrupted",
    ),
    (
        r"acceptance/test_fault_table.py::test_a_keyring_that_is_locked_midway",
        rf"file machine-0/home/({_TOOLS}|service/settings\.json)",
        "the user's own keys, there before and again after undo",
    ),
    (
        r"acceptance/test_cc_switch_crash.py::test_the_database_is_as_shut_as_its_rows_ask_for",
        r"file machine-0/home/\.cc-switch/cc-switch\.db",
        "the plaintext way, agreed to",
    ),
    (
        r"acceptance/test_crash_table.py::",
        r"file machine-\d+/home/(\.cline/data/(secrets|settings/providers)|[ab]/settings|new/deep/settings)\.json",
        "the user's own keys, and the plaintext way, agreed to",
    ),
    (
        r"acceptance/test_crash_table.py::",
        r"file machine-\d+/home/([ab]/config\.toml|b/other name|new/deep/config\.toml|\.cc-switch/cc-switch\.db)",
        "likewise",
    ),
    (
        r"acceptance/test_rotate(_stray)?.py::",
        rf"file machine-0/home/({_TOOLS}|service/settings\.json|\.cline/data/(secrets|settings/providers)\.json)",
        "the plaintext way, agreed to",
    ),
    (
        r"acceptance/test_rotate_stray.py::",
        r"file machine-0/home/(mine|\.cline/data/globalState)\.json",
        "likewise; and a header that is the key",
    ),
    (
        r"acceptance/test_rotate(_stray)?.py::",
        r"file machine-0/home/(\.cc-switch/.*\.db|\.bash.*|\.codex/(.*bak|hist.*)|\.claude/backups/.*)",
        "likewise, and the places in which the old key is looked for",
    ),
    (
        r"^$",  # the home in which the real clients see a key rotated
        r"file rotating\d+/(\.cc-switch/cc-switch\.db|\.cline/data/(secrets|settings/providers)\.json|service/.*)",
        "the plaintext way, agreed to",
    ),
    (r"^$", r"file rotating\d+/\.codex/config\.toml", "likewise"),
    (
        r"acceptance/test_rotate_crash.py::",
        r"file machine-\d+/home/(\.cline/data/(secrets|settings/providers)|[ab]/settings|new/deep/settings)\.json",
        "the user's own keys, and the plaintext way, agreed to",
    ),
    (
        r"acceptance/test_rotate_crash.py::",
        r"file machine-\d+/home/([ab]/config\.toml|b/other name|new/deep/config\.toml|\.cc-switch/cc-switch\.db)",
        "likewise",
    ),
    (
        r"secret/test_reference.py::",
        r"file pass( word)?(\.py)?",
        "a program that the test invents, and that prints a key",
    ),
    (
        r"(secret/test_credential|acceptance/test_age).py::",
        r"file (gateway|key)",
        "a credential as systemd lays it there; and what the program age is told to shut",
    ),
    (r"acceptance/test_argv.py::", r"file machine-0/home/kept", "where a program that the test invents has it from"),
    (
        r"acceptance/test_(env|argv).py::",
        r"stdout( of toolsync)?|file machine-0/lines",
        "the lines that `env` is asked for",
    ),
    (
        r"acceptance/test_exec.py::",
        r"file machine-0/home/(keeper|\.claude/settings\.json)",
        "a program that the test invents, and that prints a key; and the user's own key, in a file that is only read",
    ),
    (
        r"acceptance/test_led_out.py::",
        r"file machine-0/home/(bin/(give|count)|\.codex/config\.toml)",
        "a program that the test invents, and that prints a key; and the plaintext way, agreed to",
    ),
    (
        r"(test_golden.py::.*\[cline-|acceptance/test_(cline|consent).py::)",
        r"file (machine-\d+/)?home/(\.cline/data/(secrets|settings/providers)|c/data/secrets|p)\.json",
        "where Cline keeps every provider's key: the user's own, and ours by consent",
    ),
    (
        r"^$",  # the home that the real clients of Cline share, and those of its variants
        r"file cline\d+/(variant-\d+/)?\.cline/data/(secrets|settings/providers)\.json",
        "likewise, and in the variants that are judged by whether another provider's key stays",
    ),
    (
        r"^$",  # the homes in which faults of the real clients' settings are mended
        r"file mending\d+/(cline/\.cline/data/(secrets|settings/providers)\.json|codex/\.codex/config\.toml)",
        "likewise; and the key that somebody wrote by hand, beside the provider that apply adds",
    ),
    (
        r"acceptance/test_(cc_switch(_world)?|row_uses).py::",
        r"file machine-0/home/\.cc-switch/cc-switch\.db",
        "a row of ours, by consent",
    ),
    (
        r"check/test_",
        r"(?s)(file|name of) (machine-\d+/)?home/.*",
        "what `check` must find, and pieces of keys that it must not",
    ),
    (
        r"test_key_print.py::test_a_key_in_the_place_of_a_reference_is_not_shown",
        r"file profile\.toml",
        "the user's mistake that the test is about",
    ),
)
"""Test, place and reason: regular expressions over a test's id, and over `file PATH`, `stdout` and the like."""


@dataclass(frozen=True)
class Leak:
    """A key where none may be.

    Attributes:
        test: the id of the test, empty where it is not known.
        place: `file PATH` in the test's own folder (or in that of all tests), `stdout`, `stderr`, `log NAME`.
    """

    test: str
    place: str

    @property
    def is_allowed(self) -> bool:
        """Whether the list says that it may be there."""
        return any(re.search(test, self.test) and re.fullmatch(place, self.place) for test, place, _ in ALLOWED)


def holds_key(content: bytes) -> bool:
    """Whether an invented key stands in `content`, also as UTF-16 or in base64."""
    return any(form in content for form in _FORMS)


def _forms(text: str) -> Iterator[bytes]:
    raw = text.encode()
    yield raw
    yield text.encode("utf-16-le")
    for before in range(3):  # base64 looks different at each place in its groups of three
        encoded = base64.b64encode(bytes(before) + raw)
        yield encoded[(before * 4 + 2) // 3 : len(raw + bytes(before)) // 3 * 4]


_FORMS = tuple(_forms(MARK))


@dataclass
class _Watch(logging.Handler):
    """Notes each key that it sees, and the test that was running."""

    test: str = ""
    folders: dict[Path, str] = field(default_factory=dict)
    seen: set[Leak] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__(logging.NOTSET)

    __hash__ = object.__hash__

    def look(self, place: str, content: str | bytes | None) -> None:
        raw = content.encode(errors="replace") if isinstance(content, str) else content
        if raw and holds_key(raw):
            self.seen.add(Leak(self.test, place))

    def emit(self, record: logging.LogRecord) -> None:
        self.look(f"log {record.name}", logging.Formatter().format(record))

    def look_through(self, folder: Path, test: str = "", top: Path | None = None) -> None:
        """Names and contents of everything below `folder`, as part of `top`; of a test's own folder, as that test's."""
        if folder in self.folders:
            test, top = self.folders[folder], folder
        top = top or folder
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            self.test, inner = test, entry.path[len(str(top)) + 1 :]
            self.look(f"name of {inner}", inner)
            if entry.is_dir(follow_symlinks=False):
                self.look_through(Path(entry.path), test, top)
            elif entry.is_file(follow_symlinks=False):
                self.look(f"file {inner}", Path(entry.path).read_bytes())


_watch = _Watch()


def pytest_configure() -> None:
    logging.getLogger().addHandler(_watch)
    logging.getLogger().setLevel(logging.DEBUG)
    _spy(pytest.CaptureFixture, "readouterr", _captured)
    _spy(subprocess.Popen, "communicate", _said)


def _spy(owner: Any, name: str, look: Any) -> None:
    """Let `look` see what `owner.name` returns, whoever calls it."""
    original = getattr(owner, name)

    def spied(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        look(self, result)
        return result

    setattr(owner, name, spied)


def _captured(_fixture: object, result: Any) -> None:
    _watch.look("stdout", result.out)
    _watch.look("stderr", result.err)


def _said(process: Any, result: Any) -> None:
    """What a process said, if it is toolsync: others (a helper that a test invents) may print what they like."""
    words = [str(word) for word in process.args] if isinstance(process.args, list | tuple) else [str(process.args)]
    if not any(re.search(r"(^|/)toolsync$|toolsync\.__main__", word) for word in words):
        return
    out, err = result
    if "print" not in words:  # `key print` prints the key: that is what it is for
        _watch.look("stdout of toolsync", out)
    _watch.look("stderr of toolsync", err)


def pytest_runtest_logstart(nodeid: str) -> None:
    _watch.test = nodeid


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if folder is not None:
        _watch.folders[folder] = item.nodeid


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, text in report.sections:
        _watch.look(name, text)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    factory: Any = getattr(session.config, "_tmp_path_factory", None)
    root = getattr(factory, "_basetemp", None)
    if root is not None:
        _watch.look_through(root)
    if _leaks() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    leaks = _leaks()
    if leaks:
        terminalreporter.section("keys where none may be", red=True)
        for leak in leaks:
            terminalreporter.line(f"{leak.place}  ({leak.test or 'no single test'})")


def _leaks() -> list[Leak]:
    return sorted((leak for leak in _watch.seen if not leak.is_allowed), key=lambda leak: (leak.test, leak.place))
