"""`bench`: nothing is measured that does not answer, and what is kept may be shown to anybody."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.machine import KEY, OWN_FOLDERS, Machine
from tests.bench import server
from tests.bench.records import record
from tests.bench.server import pong, streamed
from tests.bench.test_exact import DONE, LAST, TEXT
from tests.bench.test_gpu_texts import served
from tests.conftest import needs
from tests.keys import invented
from toolsync import disk
from toolsync.bench.gpu.watch import Watch
from toolsync.bench.record_file import dumped, loaded
from toolsync.cli import benchmarking
from toolsync.commands.bench.keeping import _LARGEST, put
from toolsync.loopback import Answer, LoopbackGateway, Received

_QUICK = ("bench", "run", "--concurrency", "1,2", "--requests", "2")


@pytest.fixture
def measured(machine: Machine, gateway: LoopbackGateway) -> Machine:
    """A machine whose gateway answers."""
    machine.profile(base_url=gateway.base_url)
    return machine


def _record(machine: Machine) -> Path:
    (file,) = (machine.state / "bench").glob("*.json")
    return file


def test_a_run_leaves_a_record_that_is_listed_and_shown(measured: Machine) -> None:
    ran = measured.toolsync(*_QUICK, "--label", "before")
    assert ran.code == 0, ran.err
    record = loaded(_record(measured).read_bytes(), "it")
    assert [(rung.concurrency, len(rung.requests)) for rung in record.rungs] == [(1, 2), (2, 2)]
    assert record.id in measured.toolsync("bench", "list").out
    shown = measured.toolsync("bench", "show", record.id[:12]).out
    assert shown == measured.toolsync("bench", "show", "before").out
    assert shown.splitlines()[:8] == ran.out.splitlines()[:8]
    assert "TTFT p50" in shown


def test_nothing_in_a_record_names_key_host_person_or_prompt(measured: Machine, gateway: LoopbackGateway) -> None:
    measured.toolsync(*_QUICK)
    raw = _record(measured).read_bytes().decode()
    prompts = [one.json["messages"][0]["content"] for one in gateway.received if one.json and one.json.get("stream")]
    assert len(prompts) > 6
    for secret in (KEY, "127.0.0.1", str(measured.home), *(text[:24] for text in prompts)):
        assert secret not in raw


def test_what_ssh_says_of_hosts_and_people_is_shown_and_not_kept(measured: Machine, tmp_path: Path) -> None:
    program = tmp_path / "ssh"
    line = "no clock, 0, GPU-00, a card, 7000, 80000"
    program.write_text(f"#!/bin/sh\necho {line}; echo anna@gpu7.corp.internal: Connection closed >&2; exit 255\n")
    program.chmod(0o755)
    measured.environ["PATH"] = f"{tmp_path}:/usr/bin:/bin"
    ran = measured.toolsync(*_QUICK, "--gpu-ssh", "anna@gpu7.corp.internal")
    assert "GPU memory: anna@gpu7.corp.internal: Connection closed" in ran.out
    record = loaded(_record(measured).read_bytes(), "it")
    assert record.gpu.reason == "ssh ended midway (exit status 255)."
    assert "anna" not in _record(measured).read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--gpu-ssh", "anna@gpu7"],
            "ssh ended at once (exit status 255): anna@gpu7: Permission denied; nothing was measured",
        ),
        (["--gpu-ssh", "-oProxyCommand=x"], "the host's name begins with a dash"),
        (["--dcgm-url", "http://anna:pw@127.0.0.1:1/metrics?token=t"], "the address does not answer: Connection"),
        (["--dcgm-url", "gpu-7"], "the address is not one of http or https"),
        (["--metrics-url", "http://127.0.0.1:1"], "KV-cache use: the address does not answer: Connection"),
        (["--gpu", "7"], "no GPU is called 7; there are: 0"),
    ],
    ids=["refused", "an option", "nobody there", "no address", "no engine", "no such card"],
)
def test_where_somebody_said_to_look_and_nothing_is_seen_nothing_is_measured(
    measured: Machine, gateway: LoopbackGateway, tmp_path: Path, words: list[str], says: str
) -> None:
    needs(sys.platform != "darwin" and os.name == "posix", "needs a shell, and a system with NVIDIA's programs")
    for name, script in (
        ("ssh", "echo anna@gpu7: Permission denied >&2; exit 255"),
        ("nvidia-smi", f"{'echo no clock, 0, GPU-00, a card, 7000, 80000; ' * 2}exec sleep 5"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    measured.environ["PATH"] = f"{tmp_path}:/usr/bin:/bin"
    ran = measured.toolsync(*_QUICK, *words)
    assert ran.code == 2
    assert f"GPU memory cannot be watched: {says}" in ran.err
    assert not any(word in ran.err for word in ("pw", "token"))
    assert not any(one.json and one.json.get("stream") for one in gateway.received)


_SSH = """#!/bin/sh
echo "$@" >>{log}
while :; do
    printf 'no clock, %s, GPU-0%s, a card, 700%s, 80000\\n' 0 0 0 1 1 1 # in one go, as the real one writes a tick
    sleep 0.02
done
"""
_LASTING = ("bench", "run", "--concurrency", "1", "--requests", "1")


@pytest.fixture
def lasting(gateway: LoopbackGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once somebody watches, an answer takes as long as five samples of each kind, however long those take."""
    watches: list[Watch] = []
    start, answer = Watch.start, gateway.answer

    def started(watch: Watch) -> str:
        watches.append(watch)
        return start(watch)

    def answered(request: Received) -> Answer:
        for sampler in [one for watch in watches for one in (watch._memory, watch._cache) if one]:
            wanted, until = len(sampler.seen()) + 5, time.monotonic() + 20
            while len(sampler.seen()) < wanted and time.monotonic() < until:
                time.sleep(0.005)
        return answer(request)

    monkeypatch.setattr(Watch, "start", started)
    monkeypatch.setattr(gateway, "answer", answered)


def _with_ssh(machine: Machine, folder: Path) -> Path:
    """An ssh that tells of two cards; the file in which it writes down what it was asked."""
    log = folder / "asked"
    (folder / "ssh").write_text(_SSH.format(log=log))
    (folder / "ssh").chmod(0o755)
    machine.environ["PATH"] = f"{folder}:/usr/bin:/bin"
    return log


@pytest.mark.usefixtures("lasting")
def test_memory_is_sampled_where_and_as_often_as_was_said(
    measured: Machine, gateway: LoopbackGateway, tmp_path: Path
) -> None:
    measured.profile("[profiles.work.observability]\nsample_interval_ms = 50\n", base_url=gateway.base_url)
    log = _with_ssh(measured, tmp_path)
    with served((200, 'vllm:kv_cache_usage_perc{engine="0"} 0.25')) as engine:
        ran = measured.toolsync(*_LASTING, "--gpu-ssh", "gpu-7", "--gpu", "1", "--metrics-url", engine)
    assert ran.code == 0, ran.err
    record = loaded(_record(measured).read_bytes(), "it")
    (rung,) = record.rungs
    assert [(one.uuid, one.peak_mib, len(one.samples) > 3) for one in rung.gpus] == [("GPU-01", 7001.0, True)]
    assert (record.gpu.source, record.gpu.interval_ms, rung.kv_cache_peak) == ("ssh", 50, 0.25)
    (asked,) = log.read_text().splitlines()
    assert asked.split(" -- ")[1].startswith("gpu-7 nvidia-smi --query-gpu=")
    assert asked.endswith("-lms 50")


def test_memory_is_not_sampled_where_the_profile_does_not_want_it(
    measured: Machine, gateway: LoopbackGateway, tmp_path: Path
) -> None:
    measured.profile("[profiles.work.observability]\nlog_memory = false\n", base_url=gateway.base_url)
    log = _with_ssh(measured, tmp_path)
    assert measured.toolsync(*_QUICK, "--gpu-ssh", "gpu-7").code == 0
    assert loaded(_record(measured).read_bytes(), "it").gpu.reason == "The profile says log_memory = false."
    assert not log.exists()


@pytest.mark.usefixtures("lasting")
def test_an_exporter_is_asked_and_not_named(measured: Machine, gateway: LoopbackGateway) -> None:
    measured.profile("[profiles.work.observability]\nsample_interval_ms = 50\n", base_url=gateway.base_url)
    text = 'DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-aa",Hostname="gpu-7.example"} 1234'
    with served((200, text)) as exporter:
        assert measured.toolsync(*_LASTING, "--dcgm-url", exporter.replace("//", "//anna:pw@")).code == 0
    record = loaded(_record(measured).read_bytes(), "it")
    assert [(one.uuid, one.peak_mib) for one in record.rungs[0].gpus] == [("GPU-aa", 1234.0)]
    assert not any(word in _record(measured).read_text() for word in ("anna", "127.0.0.1", "gpu-7"))


def test_runs_of_one_machine_tell_origins_apart_by_one_secret(measured: Machine) -> None:
    found = [measured.toolsync(*_QUICK, "--json").json["data"]["run"]["target"]["origin"] for _ in range(2)]
    assert found[0] == found[1]
    assert len((measured.state / "bench/salt").read_bytes()) == 16


def test_what_does_not_answer_is_not_measured(measured: Machine, gateway: LoopbackGateway) -> None:
    from toolsync.masking import Secret

    gateway.key = Secret("another-key-altogether")
    ran = measured.toolsync(*_QUICK)
    assert ran.code == 2
    assert "nothing was measured" in ran.err
    assert "[key_invalid]" in ran.err
    assert not (measured.state / "bench").exists()
    assert not any(one.json and one.json.get("stream") for one in gateway.received)


def test_what_cannot_be_measured_is_mended_in_the_profile_that_was_asked_for(measured: Machine) -> None:
    other = 'base_url = "http://127.0.0.1:1/v1"\nmodel = "m"\nkey = "keyring:work"\n'
    measured.profile(f"[profiles.other]\n{other}")
    ran = measured.toolsync(*_QUICK, "--profile", "other")
    assert ran.code == 2
    assert "`toolsync profile edit other --set base_url=ADDRESS`." in ran.err
    assert "toolsync apply" not in ran.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--concurrency", "0"], "whole numbers"),
        (["--concurrency", "1,x"], "whole numbers"),
        (["--concurrency", "99999"], "distributed engine"),
        (["--concurrency", "2,2"], "a step twice"),
        (["--tokens", "512"], "two numbers"),
        (["--dialect", "gemini"], "no dialect 'gemini'"),
        (["--rate", "5"], "when to stop"),
        (["--rate", "nan", "--requests", "2"], "'nan' is no number"),
        (["--rate", "inf", "--requests", "2"], "--rate"),
        (["--duration", "nan"], "'nan' is no number"),
        (["--duration", "1e300"], "--duration"),
        (["--requests", "99999999999"], "--requests"),
        (["--tokens", "99999999999,5"], "no model takes more than 10,000,000"),
        (["--rate", "5", "--duration", "1", "--concurrency", "1,2"], "no ladder"),
        (["--csv", "--markdown"], "two forms"),
        (["--out", "nowhere/run.json"], "no folder"),
        (["--out", "notes.txt"], "no record"),
    ],
)
def test_a_wish_that_cannot_be_is_refused_before_anything_is_asked(
    measured: Machine, gateway: LoopbackGateway, words: list[str], says: str
) -> None:
    measured.write("project/notes.txt", "mine\n")
    ran = measured.toolsync("bench", "run", *words)
    assert ran.code == 2
    assert says in ran.err
    assert gateway.received == ()
    assert measured.read("project/notes.txt") == "mine\n"


def test_the_record_goes_where_it_is_wanted_too(measured: Machine) -> None:
    for _ in range(2):  # a record may be measured anew
        assert measured.toolsync(*_QUICK, "--out", "run.json").code == 0
    raw = (measured.project / "run.json").read_bytes()
    kept = max((measured.state / "bench").glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
    assert raw == kept.read_bytes()
    assert measured.toolsync("bench", "show", "run.json").code == 0


def test_a_file_that_is_no_record_is_told_of_and_not_in_the_way(measured: Machine) -> None:
    measured.toolsync(*_QUICK, "--label", "before")
    (measured.state / "bench" / "0.json").write_text("{")
    (measured.state / "bench" / "1.json").mkdir()
    ran = measured.toolsync("bench", "list")
    assert ran.code == 0
    assert "0.json: it is no JSON" in ran.out
    assert "1.json" in ran.out
    assert "before" in ran.out
    assert measured.toolsync("bench", "show", "before").code == 0


def _blocked(machine: Machine) -> None:
    """Where records lie usually, none can."""
    folder = _usual(machine)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way")


def _usual(machine: Machine) -> Path:
    return machine.home / OWN_FOLDERS[sys.platform == "darwin"] / "bench"


def test_what_cannot_be_kept_is_shown_all_the_same(measured: Machine) -> None:
    _blocked(measured)
    ran = measured.toolsync(*_QUICK, "--out", "run.json")
    assert ran.code == 0
    assert "TTFT p50" in ran.out
    assert "warning: the record is not kept there" in ran.out
    assert measured.toolsync("bench", "show", "run.json").code == 0


def test_what_could_not_be_kept_is_not_measured(measured: Machine, gateway: LoopbackGateway) -> None:
    _blocked(measured)
    ran = measured.toolsync(*_QUICK)
    assert ran.code == 2
    assert "no record could be kept there" in ran.err
    assert "Or give `--out FILE`" in ran.err
    assert gateway.received == ()


@pytest.mark.skipif(sys.platform != "linux", reason="a folder that nobody can write, and a disk as full as one says")
@pytest.mark.parametrize("out", ["/proc/run.json", "run.json", "old.json"], ids=["folder", "full disk", "may not be"])
def test_an_out_that_cannot_be_written_is_known_before_anything_is_asked(
    measured: Machine, gateway: LoopbackGateway, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    from resource import RLIMIT_FSIZE, getrlimit, setrlimit

    old = measured.write("project/old.json", dumped(record()))
    if out == "old.json":
        monkeypatch.setattr(os, "access", lambda path, _: Path(path) != old)  # root may write everything
    before = getrlimit(RLIMIT_FSIZE)
    try:
        setrlimit(RLIMIT_FSIZE, (1000 if out == "run.json" else before[0], before[1]))
        ran = measured.toolsync(*_QUICK, "--out", out)
    finally:
        setrlimit(RLIMIT_FSIZE, before)
    assert ran.code == 2
    assert ("no record could be kept there" in ran.err) is (out != "old.json")
    assert "name another --out" in ran.err
    assert gateway.received == ()
    assert sorted(one.name for one in measured.project.iterdir()) == ["old.json"]
    assert loaded(old.read_bytes(), "it") == record()


def test_what_can_be_kept_nowhere_any_more_is_kept_in_a_temporary_file(
    measured: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spare))

    def fill(*_: Any) -> None:  # while it is measured
        if not _usual(measured).is_file():
            shutil.rmtree(_usual(measured), ignore_errors=True)
            _blocked(measured)
        (measured.project / "run.json").mkdir(exist_ok=True)

    monkeypatch.setattr(benchmarking._Progress, "__call__", fill)
    ran = measured.toolsync(*_QUICK, "--out", "run.json", "--json")
    assert ran.code == 1
    (file,) = spare.iterdir()
    assert ran.json["data"]["files"] == [str(file)]
    assert loaded(file.read_bytes(), "it").id == ran.json["data"]["run"]["id"]
    told = [one["text"] for one in ran.json["messages"]]
    assert sum(text.startswith("the record is not kept there: ") for text in told) == 2
    assert told[-1] == "it is kept in a temporary file instead"


def test_a_record_that_is_measured_anew_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(os.name == "posix", "needs links and modes")
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real.name)
    put(link, b"new")
    assert (real.read_bytes(), real.stat().st_mode & 0o777, link.is_symlink()) == (b"new", 0o640, True)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no room"):
        put(link, b"newer")
    assert real.read_bytes() == b"new"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_a_record_may_be_larger_than_a_settings_file(measured: Machine, tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.write_bytes(dumped(record()) + b" " * disk.LIMIT_BYTES)
    assert measured.toolsync("bench", "show", str(large)).code == 0
    assert disk.LIMIT_BYTES < large.stat().st_size < _LARGEST


def test_ctrl_c_behind_the_last_rung_loses_nothing(measured: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Watch.stop

    def pressed(watch: Watch) -> Any:
        signal.raise_signal(signal.SIGINT)
        return stop(watch)

    monkeypatch.setattr(Watch, "stop", pressed)
    ran = measured.toolsync(*_QUICK)
    assert (ran.code, len(loaded(_record(measured).read_bytes(), "it").rungs)) == (0, 2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_terminal_that_is_gone_ends_no_run(measured: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def write(self, _: str) -> int:
            raise OSError(errno.EIO, "gone")

        def flush(self) -> None:
            raise OSError(errno.EIO, "gone")

    def there() -> bool:
        monkeypatch.setattr(sys, "stderr", Gone())
        return True

    monkeypatch.setattr(benchmarking, "_is_watched", there)
    measured.toolsync(*_QUICK)
    assert len(loaded(_record(measured).read_bytes(), "it").rungs) == 2


@pytest.mark.parametrize("dialect", ["chat", "responses", "messages"])
def test_every_dialect_is_measured(measured: Machine, dialect: str) -> None:
    ran = measured.toolsync(*_QUICK, "--dialect", dialect, "--model", "another", "--json")
    (rung, _) = ran.json["data"]["run"]["rungs"]
    assert (ran.code, rung["ok"], rung["failed"]) == (0, 2, 0)
    assert rung["ttft_ms"]["p50"] > 0
    assert ran.json["data"]["run"]["target"]["answered_model"] == "another"


def test_what_was_refused_is_told_of_with_the_servers_own_words(machine: Machine) -> None:
    machine.environ["WORK_KEY"] = invented("refused")
    refusal = [b"HTTP/1.1 429 No\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nslow"]
    good = iter([streamed(TEXT, LAST + DONE)] * 4)  # the calibration, a warm-up, and the rung of one stream

    def answer(raw: bytes) -> list[bytes]:
        return next(good, refusal) if json.loads(raw).get("stream") else pong()

    with server.served(server.Scripted(answer, 0.0)) as base:
        machine.profile(base_url=f"{base}/v1", key="env:WORK_KEY")
        ran = machine.toolsync(*_QUICK)
    assert ran.code == 1, "at 2 streams nothing went well"
    assert re.search("(?m)^2( !)? +0, 2 failed ", ran.out), ran.out
    assert "2 of the requests were refused: 429 (Retry-After: 7) slow" in ran.out
    assert "A limit of the gateway's is the most usual reason." in ran.out


def test_csv_and_markdown_stand_alone_on_stdout(measured: Machine) -> None:
    told = measured.toolsync(*_QUICK, "--label", "=1+1", "--csv")
    rows = list(csv.DictReader(io.StringIO(told.out)))
    assert [row["concurrency"] for row in rows] == ["1", "2"]
    assert {row["Label"] for row in rows} == {"'=1+1"}
    page = measured.toolsync("bench", "show", "=1+1", "--markdown").out
    assert page.startswith("**=1+1** (some-model)\n\n| Streams |")


def test_the_workload_for_aiperf_stands_alone_on_stdout(measured: Machine, gateway: LoopbackGateway) -> None:
    measured.toolsync(*_QUICK, "--label", "before")
    asked = [one.json for one in gateway.received if one.json and one.json.get("stream")][-1]
    told = measured.toolsync("bench", "show", "before", "--aiperf").out
    lines = [json.loads(line) for line in told.splitlines()]
    assert len(lines) == 2 + 1 + 2 + 2  # each rung's own, and those that warmed it up
    for line in lines:
        held = {name: value for name, value in asked.items() if name not in ("model", "stream", "stream_options")}
        assert held | {"messages": 0} == line["extra"] | {"messages": 0}
        assert len(line["text"].split()) == len(asked["messages"][0]["content"].split())
    assert "two forms of one answer" in measured.toolsync("bench", "show", "before", "--aiperf", "--csv").err


def test_ctrl_c_keeps_what_is_finished_and_says_so(measured: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(_: Any, concurrency: int, done: int, __: int | None) -> None:
        if concurrency == 2 and not done:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(benchmarking._Progress, "__call__", press)
    ran = measured.toolsync(*_QUICK, "--json")
    assert ran.code == ran.json["exit_code"] == 130
    assert [one["type"] for one in ran.json["errors"]] == ["InterruptedRunError"]
    assert [rung["concurrency"] for rung in ran.json["data"]["run"]["rungs"]] == [1]
    assert json.loads(_record(measured).read_bytes())["ladder"] == [1, 2]


def test_progress_is_one_line_that_leaves_nothing_behind(capsys: pytest.CaptureFixture[str]) -> None:
    for is_shown in (True, False):
        progress = benchmarking._Progress(is_shown=is_shown)
        for done, total in ((0, None), (3, 12), (7, None)):
            progress(4, done, total)
        progress.end()
        told = capsys.readouterr().err
        assert bool(told) is is_shown
        assert "\n" not in told
        assert ("3/12" in told, "7 requests" in told) == (is_shown, is_shown)
        assert told.rpartition("\r")[2] == ""


def test_progress_is_no_wider_than_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    progress = benchmarking._Progress(is_shown=True)
    for done, total in ((10_000, 12_288), (999_999, 1_000_000)):
        progress(4096, done, total)
        assert len(capsys.readouterr().err.strip("\r")) < 40


def test_a_record_of_nobody_is_named(measured: Machine) -> None:
    ran = measured.toolsync("bench", "show", "nothing")
    assert (ran.code, "no record 'nothing'" in ran.err) == (2, True)
    assert "no record yet" in measured.toolsync("bench", "list").out
