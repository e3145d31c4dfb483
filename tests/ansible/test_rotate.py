"""The play of the README, by the real Ansible: a team's machines get the new key, or keep the old one that works."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.both import Both
from tests.conftest import needs
from tests.https_site import Site, running
from tests.keys import invented

HERE = Path(__file__).parent
SECRET_SERVICE = HERE.parent / "secret_service.sh"
OLD, NEW, REFUSED = invented("fleet-old"), invented("fleet-new"), invented("fleet-refused")
HOSTS = ("anna", "bert")


class Fleet:
    """Two machines, each with a home and a keyring of its own, and the one that Ansible runs on."""

    def __init__(self, place: Path, gateway: Both, site: Site) -> None:
        self.place, self.gateway, self.site = place, gateway, site
        hosts = {host: {"toolsync_environment": self.environ(host)} for host in HOSTS}
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        (place / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": local}}), encoding="utf-8")
        (place / "control").mkdir()
        for host in HOSTS:
            self._furnish(host)

    def environ(self, host: str) -> dict[str, str]:
        home = self.place / host
        path = os.pathsep.join([str(home / "bin"), os.environ["PATH"]])
        return {"HOME": str(home), "PATH": path, "SSL_CERT_FILE": str(self.site.roots), "LC_ALL": "C.UTF-8"}

    def _furnish(self, host: str) -> None:
        home = self.place / host
        for folder in ("bin", ".codex", ".claude", ".config/toolsync"):
            (home / folder).mkdir(parents=True)
        (home / ".codex" / "config.toml").touch()
        (home / ".claude" / "settings.json").write_text("{}", encoding="utf-8")
        source = f'from = "{self.site.url}"\nsha256 = "{_hash(self.site.body)}"\n'
        profile = f'active = "team"\n\n[profiles.team]\n{source}request.max_retries = 3\n'
        (home / ".config" / "toolsync" / "profile.toml").write_text(profile, encoding="utf-8")
        ring = f'export SECRET_SERVICE_HOME="$HOME/ring"\nexec {SECRET_SERVICE} '
        self._program(host, "toolsync", f'{ring} {sys.executable} -m toolsync "$@"\n')
        words = "$0 -m toolsync profile trust --yes && $0 -m toolsync key set --stdin && $0 -m toolsync apply --yes"
        self._program(host, "begin", f"{ring} sh -c '{words}' {sys.executable}\n")
        self.on(host, "begin", stdin=OLD)

    def _program(self, host: str, name: str, text: str) -> None:
        program = self.place / host / "bin" / name
        program.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        program.chmod(0o755)

    def on(self, host: str, *argv: str, stdin: str = "") -> str:
        """What a command prints on a machine."""
        environ = self.environ(host)
        program = shutil.which(argv[0], path=environ["PATH"]) or argv[0]
        done = subprocess.run(
            [program, *argv[1:]],
            env=environ,
            cwd=environ["HOME"],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def play(self, key: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """The play with that key; what Ansible says holds none."""
        extra = self.place / "control" / "new_key.json"
        extra.write_text(json.dumps({"new_key": key, **variables}), encoding="utf-8")
        control = {"HOME": str(extra.parent), "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
        done = subprocess.run(
            [_playbook(), "-vvv", "-i", "inventory.json", *options, "-e", f"@{extra}", str(HERE / "rotate.yml")],
            env=control,
            cwd=self.place,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        extra.unlink()
        assert not [one for one in (OLD, NEW, REFUSED) if one in done.stdout + done.stderr]
        return done

    def keys(self) -> list[str]:
        """What each machine's tools are given."""
        return [self.on(host, "toolsync", "key", "print").strip() for host in HOSTS]


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _playbook() -> str:
    return shutil.which("ansible-playbook", path=str(Path(sys.executable).parent)) or ""


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    needs(_playbook(), "ansible-core, installed beside this Python")
    needs(shutil.which("gnome-keyring-daemon") and shutil.which("dbus-daemon"), "gnome-keyring and dbus")
    with Both(OLD, NEW) as gateway, running(tmp_path, _shared(gateway, "first")) as site:
        yield Fleet(tmp_path, gateway, site)


def _shared(gateway: Both, model: str) -> bytes:
    table = f'base_url = "{gateway.base_url}"\nmodel = "{model}"\nkey = "keyring:team"\n'
    return f"[profiles.team]\n{table}".encode()


def test_a_team_s_machines_get_the_new_key_and_the_profile_as_it_stands_now(fleet: Fleet) -> None:
    fleet.gateway.forget()
    refused = fleet.play(REFUSED)
    assert refused.returncode == 2, refused.stdout
    assert _recap(refused.stdout) == {"anna": (0, 1)}, "nobody goes on to the next machine"
    assert "Pipelining is enabled" in refused.stdout, "or the key lies in a file for a moment"
    assert "the gateway does not know this key (401)" in refused.stdout
    assert {key for _, key in fleet.gateway.came()} == {REFUSED}

    (fleet.place / "anna" / ".bashrc").write_text(f"export MINE={OLD}\n", encoding="utf-8")
    fleet.site.body = _shared(fleet.gateway, "second")
    done = fleet.play(NEW, profile_sha256=_hash(fleet.site.body))
    assert done.returncode == 0, done.stdout
    assert _recap(done.stdout) == {"anna": (3, 0), "bert": (3, 0)}
    assert done.stdout.count('"the old key still stands in ~/.bashrc (line 1)"') == 1, "which stops nobody"
    assert fleet.keys() == [NEW, NEW]
    assert all('model = "second"' in _read(fleet, host, ".codex/config.toml") for host in HOSTS)

    again = fleet.play(NEW, "--limit", "anna", profile_sha256=_hash(fleet.site.body))
    assert again.returncode == 0, again.stdout
    assert _recap(again.stdout) == {"anna": (0, 0)}
    (fleet.place / "anna" / ".bashrc").unlink()


def _recap(said: str) -> dict[str, tuple[int, int]]:
    """Of each machine, how many tasks changed something, and how many failed."""
    rows = re.findall(r"^(\w+) +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=(\d+)", said, re.MULTILINE)
    return {host: (int(changed), int(failed)) for host, changed, failed in rows}


def _read(fleet: Fleet, host: str, name: str) -> str:
    return (fleet.place / host / name).read_text(encoding="utf-8")
