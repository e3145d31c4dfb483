"""GPU memory by NVIDIA's library: the real nvidia-ml-py on a library of known truth."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needs

HERE = Path(__file__).parent
GPU0, GPU1 = (f"GPU-00000000-0000-0000-0000-00000000000{n}" for n in range(2))
PARTS = [f"MIG-00000000-0000-0000-0000-00000000000{n}" for n in range(2)]
TOTAL, RESERVED = 143771.0, 600.0

MODES = {
    "peak": "FAKE_NVML_USED=1000|FAKE_NVML_USED=1500|FAKE_NVML_USED=1200",
    "two": "FAKE_NVML_COUNT=2;FAKE_NVML_PID=@",
    "wddm": "FAKE_NVML_MODE=wddm;FAKE_NVML_PID=@",
    "a-stranger": "FAKE_NVML_PID=1",
    "nobody": "",
    "parts": "FAKE_NVML_MODE=mig",
    "unified": "FAKE_NVML_MODE=notsupported",
    "wsl": "FAKE_NVML_MODE=v2fails",
    "lost": "FAKE_NVML_USED=700;FAKE_NVML_MODE=ok|FAKE_NVML_USED=900|FAKE_NVML_MODE=lost",
    "all-ones": f"FAKE_NVML_USED={2**44 - 1}",
    "no-driver": "FAKE_NVML_MODE=nodriver",
    "no-gpu": "FAKE_NVML_COUNT=0",
}
"""By name; `@` is the process that answers; what stands behind a bar changes during the rung."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs(sys.platform == "linux" and shutil.which("gcc"), "needs gcc, to build a library for nvidia-ml-py")
    folder = tmp_path_factory.mktemp("nvml")
    for name, flags in (("v2", []), ("v1", ["-DNOV2"])):
        (folder / name).mkdir()
        built = folder / name / "libnvidia-ml.so.1"
        options = ["-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", *flags]
        subprocess.run(["gcc", *options, "-o", built, HERE / "fake_nvml.c"], check=True)
    return folder


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:  # this process answers
        yield listener.getsockname()[1]


@pytest.fixture(scope="module")
def seen(library: Path, port: int) -> Mapping[str, Any]:
    return dict(zip(MODES, told(library / "v2", port, list(MODES.values())), strict=True))


def told(library: Path, port: int, modes: Sequence[str]) -> list[dict[str, Any]]:
    ended = subprocess.run(
        [
            sys.executable,
            str(HERE / "inside_nvml.py"),
            f"http://127.0.0.1:{port}/v1",
            *(mode.replace("@", str(os.getpid())) for mode in modes),
        ],
        env={"PATH": "", "LD_LIBRARY_PATH": str(library), "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        check=True,
        timeout=60,
    )
    answer: list[dict[str, Any]] = json.loads(ended.stdout)
    return answer


def gpu(uuid: str = GPU0, **more: Any) -> dict[str, Any]:
    whole = {"uuid": uuid, "name": "FAKE H200", "total": TOTAL, "baseline": 1000.0, "peak": 1000.0}
    return {**whole, "reserved": RESERVED, "serves": None, "why": "", **more}


@pytest.mark.parametrize(
    ("mode", "way", "gpus", "reason"),
    [
        pytest.param("peak", "v2", [gpu(peak=1500.0)], "No process on a GPU is named here", id="peak"),
        pytest.param("two", "v2", [gpu(serves=False), gpu(GPU1, serves=True)], "", id="the-second-serves"),
        pytest.param("wddm", "v2", [gpu(serves=True)], "", id="windows-tells-who-not-how-much"),
        pytest.param("a-stranger", "v2", [gpu()], "holds no GPU memory that can be seen from here", id="a-stranger"),
        pytest.param("nobody", "v2", [gpu()], "No process on a GPU is named here", id="nobody-is-named"),
        pytest.param("parts", "v2", [gpu(part) for part in PARTS], "No process on a GPU is named here", id="mig"),
        pytest.param(
            "wsl",
            "v1",
            [gpu(baseline=1600.0, peak=1600.0, reserved=None)],
            "counts what it reserves itself",
            id="version-2-fails",
        ),
        pytest.param(
            "all-ones",
            "v2",
            [gpu(baseline=None, peak=None, why="NVML does not know")],
            "No process on a GPU is named here",
            id="a-figure-that-is-none",
        ),
        pytest.param(
            "no-driver", "", [], "The NVIDIA driver is not loaded, and neither nvidia-smi nor", id="no-driver"
        ),
        pytest.param("no-gpu", "", [], "The NVIDIA driver knows of no GPU here", id="no-gpu"),
    ],
)
def test_what_is_seen(seen: Mapping[str, Any], mode: str, way: str, gpus: list[dict[str, Any]], reason: str) -> None:
    found = seen[mode]
    assert (found["way"], found["gpus"]) == (way, gpus)
    assert found["source"] == ("nvml" if gpus else "")
    assert reason in found["reason"] if reason else found["reason"] == ""
    assert bool(found["trouble"]) == (not gpus)


def test_a_process_whose_memory_windows_manages_has_memory_of_unknown_size(seen: Mapping[str, Any]) -> None:
    assert seen["wddm"]["held"] == [[GPU0, os.getpid(), None]]
    assert seen["two"]["held"] == [[GPU1, os.getpid(), 5120.0]]


def test_a_gpu_that_shares_the_systems_memory_is_said_to(seen: Mapping[str, Any]) -> None:
    found = seen["unified"]
    (only,) = found["gpus"]
    assert found["way"] == "unified"
    assert "the use of the whole machine's RAM (unified)" in found["reason"]
    assert 0 < only["peak"] < only["total"]
    assert only["total"] != TOTAL


def test_a_card_that_is_lost_midway_keeps_what_was_seen_before(seen: Mapping[str, Any]) -> None:
    (only,) = seen["lost"]["gpus"]
    assert (only["baseline"], only["peak"]) == (700.0, 900.0)


def test_an_older_driver_is_read_by_version_1_and_marked(library: Path, port: int) -> None:
    (found,) = told(library / "v1", port, [""])
    assert found["way"] == "v1"
    assert found["gpus"] == [gpu(baseline=1600.0, peak=1600.0, reserved=None)]


def test_without_a_library_the_reason_says_so(tmp_path: Path, port: int) -> None:
    (found,) = told(tmp_path, port, [""])
    assert (found["source"], found["gpus"]) == ("", [])
    assert found["reason"] == (
        "No library of an NVIDIA driver is here, and neither nvidia-smi nor amd-smi is on the PATH."
    )
