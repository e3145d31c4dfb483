"""GPU memory by `nvidia-smi`: what it prints, programs that fail midway, and a real ssh to a real sshd."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.conftest import needs
from toolsync.bench.gpu.reading import Recording
from toolsync.bench.gpu.smi import _UNIFIED, Line, Smi, argv, samples

MS = 1_000_000
A, B = "GPU-aaaaaaaa-0000-0000-0000-000000000000", "GPU-bbbbbbbb-0000-0000-0000-000000000000"


def row(used: str, *, gpu: str = A, index: int = 0, at: str = "2026/12/01 10:00:00.000") -> str:
    return f"{at}, {index}, {gpu}, NVIDIA H200, {used}, 143771"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(row("123"), (123.0, ""), id="number"),
        pytest.param(row("0"), (0.0, ""), id="a-true-zero"),
        pytest.param(row("123 MiB"), (123.0, ""), id="with-its-unit"),
        pytest.param(row("[N/A]"), (None, f"nvidia-smi says [N/A]{_UNIFIED}"), id="not-available"),
        pytest.param(row("N/A"), (None, f"nvidia-smi says N/A{_UNIFIED}"), id="not-available-bare"),
        pytest.param(row("[Not Supported]"), (None, f"nvidia-smi says [Not Supported]{_UNIFIED}"), id="not-supported"),
        pytest.param(row("[GPU is lost]"), (None, "nvidia-smi says [GPU is lost]"), id="lost"),
        pytest.param(row("[Unknown Error]"), (None, "nvidia-smi says [Unknown Error]"), id="unknown"),
        pytest.param(row("\x1b[31m5"), (None, "nvidia-smi says �[31m5"), id="what-a-terminal-would-obey"),
        pytest.param(
            row("9" * 400), (None, f"nvidia-smi says {'9' * 60}… (340 characters more)"), id="a-figure-that-is-none"
        ),
        pytest.param("No devices were found", None, id="no-row"),
        pytest.param("timestamp, index, uuid, name, memory.used [MiB], memory.total [MiB]", None, id="a-header"),
        pytest.param("", None, id="empty"),
    ],
)
def test_a_line(text: str, expected: tuple[float | None, str] | None) -> None:
    found = samples([Line(5, text)])
    told = [(reading.used_mib, reading.why) for sample in found for reading in sample.readings]
    assert told == ([] if expected is None else [expected])


def test_a_tick_names_each_gpu_once() -> None:
    ticks = [row("1"), row("2", gpu=B, index=1), row("3"), row("[N/A]", gpu=B, index=1), row("5")]
    found = samples([Line(number * MS, text) for number, text in enumerate(ticks)])
    told = [[(reading.gpu, reading.used_mib) for reading in sample.readings] for sample in found]
    assert told == [[(A, 1.0), (B, 2.0)], [(A, 3.0), (B, None)], [(A, 5.0)]]


@pytest.mark.parametrize(
    ("came_ms", "printed", "expected_ms"),
    [
        pytest.param((10, 510, 1010), ("00.000", "00.500", "01.000"), (10, 510, 1010), id="at-once"),
        pytest.param((1010, 1010, 1010), ("00.000", "00.500", "01.000"), (10, 510, 1010), id="in-a-heap"),
        pytest.param((40, 510, 1090), ("00.000", "00.500", "01.000"), (10, 510, 1010), id="by-an-uneven-network"),
        pytest.param((10, 510, 1010), ("00.000", "nonsense", "01.000"), (10, 510, 1010), id="without-a-stamp"),
        pytest.param((10, 510, 1010), ("00.000", "00.500", "01.000+1h"), (10, 510, 1010), id="the-clock-was-set"),
    ],
)
def test_lines_that_wait_on_their_way_are_put_where_they_were_printed(
    came_ms: tuple[int, ...], printed: tuple[str, ...], expected_ms: tuple[int, ...]
) -> None:
    stamps = [f"2026/12/01 {'11' if text.endswith('+1h') else '10'}:00:{text.removesuffix('+1h')}" for text in printed]
    lines = [Line(came * MS, row("1", at=at)) for came, at in zip(came_ms, stamps, strict=True)]
    assert [sample.at_ns // MS for sample in samples(lines)] == list(expected_ms)


def test_the_command_is_a_list_and_nothing_in_it_is_special_to_a_shell() -> None:
    here = argv(250)
    assert here == [
        "nvidia-smi",
        "--query-gpu=timestamp,index,uuid,name,memory.used,memory.total",
        "--format=csv,noheader,nounits",
        "-lms",
        "250",
    ]
    there = argv(250, "me@gpu-box")
    assert there[0] == "ssh"
    assert there[-len(here) - 2 :] == ["--", "me@gpu-box", *here]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts an `nvidia-smi` on the PATH."""
    needs(os.name == "posix", "needs a shell")

    def put(script: str) -> Path:
        file = tmp_path / "bin" / "nvidia-smi"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{file.parent}:/usr/bin:/bin")
        return file

    return put


def watched(smi: Smi, samples_wanted: int = 1) -> Recording:
    smi.start()
    smi.wait(10)
    until = time.monotonic() + 10
    while len(samples(list(smi._lines))) < samples_wanted and not _has_ended(smi) and time.monotonic() < until:
        time.sleep(0.01)
    return smi.stop()


def _has_ended(smi: Smi) -> bool:
    return smi._child is None or smi._child.poll() is not None


TICKS = "while :; do echo '{}'; echo '{}'; sleep 0.02; done"


def test_it_is_ended_by_its_number_and_took_no_notice_of_others(program: Callable[[str], Path]) -> None:
    file = program(TICKS.format(row("100"), row("[N/A]", gpu=B, index=1)))
    bystander = subprocess.Popen([file], stdout=subprocess.DEVNULL)
    try:
        smi = Smi(20)
        found = watched(smi, 3)
        assert bystander.poll() is None
        assert smi._child is not None
        assert not psutil.pid_exists(smi._child.pid)
    finally:
        bystander.kill()
        bystander.wait()
    assert (found.source, found.reason) == ("nvidia-smi", "")
    assert [(one.gpu, one.used_mib) for one in found.samples[0].readings] == [(A, 100.0), (B, None)]


FAILURES = {
    "midway": (f"echo '{row('7')}'; echo 'Unable to determine the device handle: GPU is lost'; exit 15", 1),
    "at-once": ("echo 'NVIDIA-SMI has failed because it could not communicate with the driver'; exit 9", 0),
    "nothing-there": ("echo 'No devices were found'; exit 6", 0),
    "older": ("echo 'Field \"memory.used\" is not a valid field to query.' >&2; exit 2", 0),
    "slow-to-end": ("echo 'No devices were found'; exec >&- 2>&-; sleep 0.3; exit 6", 0),
}
REASONS = {
    "midway": "nvidia-smi ended midway (exit status 15): Unable to determine the device handle: GPU is lost",
    "at-once": (
        "nvidia-smi ended at once (exit status 9): "
        "NVIDIA-SMI has failed because it could not communicate with the driver"
    ),
    "nothing-there": "nvidia-smi ended at once (exit status 6): No devices were found",
    "older": 'nvidia-smi ended at once (exit status 2): Field "memory.used" is not a valid field to query.',
    "slow-to-end": "nvidia-smi ended at once (exit status 6): No devices were found",
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_keeps_what_was_seen_and_says_why(program: Callable[[str], Path], case: str) -> None:
    script, seen = FAILURES[case]
    program(script)
    found = watched(Smi(20), 99)
    assert (len(found.samples), found.reason) == (seen, REASONS[case])


@pytest.mark.parametrize("script", ["yes nonsense", "cat /dev/zero"], ids=["lines without end", "one line without end"])
def test_a_program_that_floods_us_is_ended(program: Callable[[str], Path], script: str) -> None:
    program(f"echo '{row('7')}'; exec {script}")
    smi = Smi(20)
    found = watched(smi, 99)
    assert (len(found.samples), found.reason.partition(":")[0]) == (1, "nvidia-smi said too much that is of no GPU")
    assert len(smi._lines) <= 1001


def test_without_the_program_the_reason_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert watched(Smi(20)).reason == "nvidia-smi cannot be run: No such file or directory"


def test_a_host_that_would_be_an_option_is_refused(program: Callable[[str], Path]) -> None:
    program("exit 1")
    assert watched(Smi(20, "-oProxyCommand=touch /tmp/x")).reason == "the host's name begins with a dash"


def test_a_program_that_will_not_end_is_killed(program: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolsync.bench.gpu.smi._PATIENCE_SECONDS", 0.1)
    program("trap '' TERM; " + TICKS.format(row("1"), row("2", gpu=B, index=1)))
    smi = Smi(20)
    found = watched(smi)
    assert found.reason == ""
    assert smi._child is not None
    assert not psutil.pid_exists(smi._child.pid)


SSHD = "127.0.0.22"
"""An address of its own: nobody else takes its port once it is known to be free."""


@pytest.fixture
def sshd(program: Callable[[str], Path], tmp_path: Path) -> Iterator[Path]:
    """A real sshd on loopback that runs our `nvidia-smi`, and an `ssh` that is told of it by a file; its folder."""
    server = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    needs(server and shutil.which("ssh") and sys.platform == "linux", "needs OpenSSH's server and client")
    assert server is not None
    if os.geteuid() == 0:  # then it wants an empty folder, which a service's start would have made
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    folder = program(TICKS.format(row("4096"), row("8192", gpu=B, index=1))).parent
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    with socket.create_server((SSHD, 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress {SSHD}\nHostKey {tmp_path}/host\nPidFile none\nUsePAM no\nStrictModes no\n"
        f"AuthorizedKeysFile {tmp_path}/user.pub\nPasswordAuthentication no\nPermitRootLogin yes\n"
        f"SetEnv PATH={folder}:/usr/bin:/bin\n"
    )
    host_key = " ".join((tmp_path / "host.pub").read_text().split()[:2])
    (tmp_path / "known_hosts").write_text(f"[{SSHD}]:{port} {host_key}\n")
    (tmp_path / "ssh_config").write_text(
        f"Host gpu-box\n  HostName {SSHD}\n  Port {port}\n  User {getpass.getuser()}\n"
        f"  IdentityFile {tmp_path}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {tmp_path}/known_hosts\n"
        f"Host stranger\n  HostName {SSHD}\n  Port {port}\n  UserKnownHostsFile /dev/null\n"
    )
    (folder / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {tmp_path}/ssh_config "$@"\n')
    (folder / "ssh").chmod(0o755)
    daemon = subprocess.Popen([server, "-D", "-e", "-f", tmp_path / "sshd_config"], stderr=subprocess.DEVNULL)
    try:
        _answers(port)
        yield tmp_path
    finally:
        daemon.terminate()
        daemon.wait()


def _answers(port: int) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            socket.create_connection((SSHD, port), timeout=10).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    pytest.fail("sshd does not listen")


def _running(folder: Path) -> list[int]:
    """The programs that were started; not those which one of them is about to make something else."""
    mark = str(folder / "bin" / "nvidia-smi")
    found = {one.pid: one for one in psutil.process_iter(["ppid"]) if mark in _words(one)}
    return [pid for pid, one in found.items() if one.info["ppid"] not in found]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_over_ssh_one_long_lived_child_tells_all_and_nothing_stays_behind(sshd: Path) -> None:
    smi = Smi(20, "gpu-box")
    smi.start()
    assert smi.wait(20)
    assert len(_running(sshd)) == 1
    until = time.monotonic() + 10
    while len(smi.seen()) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    found = smi.stop()
    assert (found.source, found.reason) == ("ssh", "")
    assert [(one.gpu, one.used_mib) for one in found.samples[0].readings] == [(A, 4096.0), (B, 8192.0)]
    until = time.monotonic() + 10
    while _running(sshd) and time.monotonic() < until:
        time.sleep(0.02)
    assert _running(sshd) == []


@pytest.mark.usefixtures("sshd")
def test_a_host_that_ssh_does_not_know_is_not_trusted_and_nobody_is_asked() -> None:
    found = watched(Smi(20, "stranger"))
    assert found.samples == ()
    assert found.reason == "ssh ended at once (exit status 255)"
    assert found.words.startswith("Host key verification failed.")
