"""How often `toolsync bench compare` finds a planted change, and how often it finds one that is not there.

`python -m tests.benchmarks.verdicts` compiles `truth_server.c` with gcc, and measures a fast server (TTFT 20 ms, ITL
1 ms, 32 tokens) three times in each of twenty repetitions: before, after with nothing changed, after with TTFT 8 %
longer. Linux, two processors and nothing else running; some minutes. `--repetitions 2 --ladder 1,8` sees that it works.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.truth import TruthServer, pinned

_TTFT_US, _ITL_US, _TOKENS = 20_000, 1_000, 32
_PLANTED = 1.08
_SERVER_CPU, _CLIENT_CPU = 0, 1
_LEAST_FOUND, _MOST_FALSE = 0.95, 0.05


def main() -> None:
    """Repeat, print a line for each repetition, and end with 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--ladder", default="1,2,4,8,16,32")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), asked.ladder)
        print(f"{'':<12}{'rungs where +8 % is found':>28}  false verdicts, of equals")
        seen = [bench.repetition(number) for number in range(asked.repetitions)]
    everywhere = sum(found == steps for found, steps, _ in seen)
    found, false = sum(found > 0 for found, _, _ in seen), sum(bool(wrong) for _, _, wrong in seen)
    print(f"found: {found} of {len(seen)}, at every rung: {everywhere}; runs with a false verdict: {false}")
    sys.exit(everywhere < _LEAST_FOUND * len(seen) or false > max(1, _MOST_FALSE * len(seen)))


class Bench:
    """Runs of the bench against servers of known truth, and their comparison."""

    def __init__(self, folder: Path, ladder: str) -> None:
        self._folder, self._ladder = folder, ladder
        self._server = TruthServer(folder, _SERVER_CPU)

    def repetition(self, number: int) -> tuple[int, int, Sequence[str]]:
        """At how many rungs the planted change was found, of how many; and which verdicts of equals are false."""
        before, same, slower = (
            self._run(name, factor) for name, factor in (("before", 1), ("same", 1), ("slower", _PLANTED))
        )
        wrong = [
            f"{one['metric']}@{one['concurrency']} {one['verdict']} ({one['change']:+.1%})"
            for one in self._rows(before, same)
            if one["verdict"] in ("better", "worse")
        ]
        ttft = [one for one in self._rows(before, slower) if one["metric"] == "ttft_p50"]
        found = sum(one["verdict"] == "worse" for one in ttft)
        silent = sorted({one["why"] for one in ttft if one["why"]})
        told = f"{found} of {len(ttft)}"
        print(f"{number + 1:<12}{told:>28}  {', '.join(wrong) or '-'}  {'; '.join(silent)}", flush=True)
        return found, len(ttft), wrong

    def _run(self, name: str, factor: float) -> Path:
        out = self._folder / f"{name}.json"
        with self._server.serving((round(_TTFT_US * factor), _ITL_US, _TOKENS, 1, 1)) as config:
            options = ["--concurrency", self._ladder, "--tokens", f"512,{_TOKENS}", "--out", str(out)]
            self._toolsync("--config", str(config), "bench", "run", *options)
        return out

    def _rows(self, before: Path, after: Path) -> Sequence[Mapping[str, Any]]:
        told = self._toolsync("bench", "compare", str(before), str(after), "--json")
        answer = json.loads(told)
        if answer["exit_code"]:
            sys.exit(f"the comparison was refused: {answer['messages']}")
        found: Sequence[Mapping[str, Any]] = answer["data"]["rows"]
        return found

    def _toolsync(self, *words: str) -> bytes:
        command = [*pinned(_CLIENT_CPU), sys.executable, "-m", "toolsync", *words]
        ended = subprocess.run(command, env=self._server.environ, stdout=subprocess.PIPE, check=False)
        if ended.returncode not in (0, 3):
            sys.exit(f"toolsync {words[0]} ended with {ended.returncode}")
        return ended.stdout


if __name__ == "__main__":
    main()
