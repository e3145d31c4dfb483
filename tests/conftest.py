"""What all tests share: corpora of nasty files, hypothesis profiles, and skips that CI does not accept.

`pytest -k corpus --corpus jsonc=FILE --corpus toml=FILE` runs other files of the same form instead of ours.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from toolsync import disk, masking

pytest_plugins = ["tests.leaks"]

T = TypeVar("T")
_CORPORA = Path(__file__).parent / "corpus"
_MARKERS = (
    "client: runs a real client of a tool (claude, codex, cline); needs it installed, and Linux namespaces",
    "corpus(name, where=None, **fields): runs for each row of a corpus that `where` and the fields allow",
    "secret_service: needs a real Secret Service on the session bus",
    "settling: somebody writes slowly, and is waited for as long as in earnest",
)

for _name, _examples in {"default": 25, "ci": 500, "nightly": 20_000}.items():
    settings.register_profile(
        _name,
        max_examples=_examples,
        derandomize=_name == "default",  # a newcomer's run is the same every time; the others go on searching
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        print_blob=True,
    )
settings.load_profile(
    os.environ.get("TOOLSYNC_HYPOTHESIS", "ci" if os.environ.get("TOOLSYNC_REQUIRE_ALL") == "1" else "default")
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--corpus",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="run the corpus tests of NAME over FILE instead of tests/corpus/NAME.jsonl; repeatable",
    )
    parser.addoption("--update-golden", action="store_true", help="write what the tests see as what they expect")


def pytest_configure(config: pytest.Config) -> None:
    _check_given_corpora(config)
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`@pytest.mark.corpus("real", format=["json", "jsonc"])` runs a test with `row` for each such row."""
    marker = metafunc.definition.get_closest_marker("corpus")
    if marker is None:
        return
    fields = dict(marker.kwargs)
    where = fields.pop("where", None) or (lambda _: True)
    rows = [
        row
        for row in corpus_rows(metafunc.config, marker.args[0])
        if all(row.get(field) in values for field, values in fields.items()) and where(row)
    ]
    metafunc.parametrize("row", rows, ids=[str(row["name"]) for row in rows])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """What one test makes known as a key is masked in no other's texts."""
    known = set(masking._known)
    try:
        return (yield)
    finally:
        masking._known.clear()
        masking._known.update(known)


@pytest.fixture(scope="session", autouse=True)
def quick_disk() -> Iterator[None]:
    """A process that dies loses nothing that the system has: the time of fsync is saved, which slow disks have most of.

    Not in processes that tests start; and what is no open file is an error all the same.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(autouse=True)
def quick_settling(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that looks half-written is read again after a moment: a shorter one, where nobody is writing."""
    if request.node.get_closest_marker("settling") is None:
        monkeypatch.setattr(disk, "_SETTLING_SECONDS", 0.001)


def corpus_rows(config: pytest.Config, name: str) -> list[dict[str, Any]]:
    """The rows of `tests/corpus/<name>.jsonl`, or of the file that `--corpus <name>=FILE` names instead.

    A row without a name is named by its `id`, or its number.
    """
    file = _given_corpora(config).get(name, _CORPORA / f"{name}.jsonl")
    # Not splitlines(): a row may hold U+2028 unescaped.
    rows = [json.loads(line) for line in file.read_bytes().split(b"\n") if line.strip()]
    return [{"name": row.get("id", f"row {number}"), **row} for number, row in enumerate(rows, start=1)]


def is_own_corpus(config: pytest.Config, name: str) -> bool:
    """Whether the rows are those of this repository, of which more is known than of any other file's."""
    return name not in _given_corpora(config)


def _given_corpora(config: pytest.Config) -> dict[str, Path]:
    given = (option.partition("=") for option in config.getoption("--corpus"))
    cases = config.getoption("--doctor-cases", None)  # `toolsync.pytest_option` adds it, where that is installed
    return {**{name: Path(file) for name, _, file in given}, **({"doctor": Path(cases)} if cases else {})}


def _check_given_corpora(config: pytest.Config) -> None:
    """A corpus that no test runs, or a file that is not there, would pass as if it had been run."""
    known = sorted(file.stem for file in _CORPORA.glob("*.jsonl"))
    for name, file in _given_corpora(config).items():
        if name not in known:
            raise pytest.UsageError(f"--corpus {name}={file}: no test runs '{name}'; known: {', '.join(known)}")
        if not file.is_file():
            raise pytest.UsageError(f"--corpus {name}={file}: there is no such file")


def raw(row: dict[str, Any]) -> bytes:
    """The bytes of a row's file; half a surrogate, which JSON can spell, is no UTF-8 and makes a broken one."""
    if "base64" in row:
        return base64.b64decode(row["base64"])
    return str(row["text"]).encode(errors="surrogatepass")


def needs(available: object, reason: str) -> None:
    """Skip this test with `reason` unless `available`; where all is required (CI), that is a failure."""
    if available:
        return
    if _all_is_required():
        pytest.fail(f"required here, and missing: {reason}")
    pytest.skip(reason)


def takes(what: str) -> None:
    """Skip this test, which takes long, where a newcomer waits; CI has the time."""
    if not _all_is_required():
        pytest.skip(f"{what}: with TOOLSYNC_REQUIRE_ALL=1 only")


def limited_from(begun: Path) -> Callable[[subprocess.Popen[bytes], float | None], int]:
    """`Popen.wait` whose time begins once the program has written this file, however long it takes to start."""
    wait = subprocess.Popen.wait

    def waited(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        until = time.monotonic() + 20
        while not begun.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        return wait(process, timeout)

    return waited


def sampled(rows: Sequence[T], every: int = 3) -> Sequence[T]:
    """The rows of a long table that are tried: all in CI; elsewhere some and the last, for a newcomer waits."""
    return rows if _all_is_required() else [*rows[:-1:every], *rows[-1:]]


def _all_is_required() -> bool:
    return os.environ.get("TOOLSYNC_REQUIRE_ALL") == "1"


def thorough(all_of_them: int, some: int) -> int:
    """How many rounds a long test takes: all where all is required (CI), some where a newcomer waits."""
    return all_of_them if _all_is_required() else some
