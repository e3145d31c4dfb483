"""The file of certificates that a profile names: with `~`, as its own example has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.machine import Machine
from tests.https_site import running

MODELS = json.dumps({"object": "list", "data": [{"id": "some-model", "object": "model"}]}).encode()


@pytest.mark.parametrize(("file", "code"), [("~/roots.pem", 0), ("~/others.pem", 2)], ids=["there", "not there"])
def test_a_file_at_home(machine: Machine, tmp_path: Path, file: str, code: int) -> None:
    with running(tmp_path, MODELS) as site:
        machine.write("roots.pem", site.roots.read_text())
        network = f'\n[profiles.work.network]\nca_bundle = "{file}"\n'
        machine.profile(network, base_url=site.url.removesuffix("/toolsync.toml"))
        ran = machine.toolsync("models")
    assert (ran.code, "some-model" in ran.out) == (code, code == 0)
