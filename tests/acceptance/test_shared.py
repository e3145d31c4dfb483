"""A shared profile that changed under its consent: no command uses anything of it."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from tests.acceptance.both import Both
from tests.acceptance.machine import KEY, Machine
from tests.keys import invented
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret
from toolsync.secret.index import record

NEW = invented("shared-new")
OWN = """\
active = "team"

[profiles.team]
from = "~/team/toolsync.toml"

[profiles.home]
base_url = "http://127.0.0.1:9"
model = "m"
key = "keyring:work"
"""


@pytest.fixture
def other() -> Iterator[LoopbackGateway]:
    """The one that the shared file names afterwards: it takes any key."""
    with LoopbackGateway() as running:
        yield running


@pytest.fixture
def applied(machine: Machine, other: LoopbackGateway) -> Iterator[Both]:
    """The gateway of a shared profile that was trusted and applied; then the file names the other gateway."""
    with Both(KEY, NEW) as gateway:
        machine.config.write_text(OWN, encoding="utf-8")
        machine.write(".codex/config.toml", "")
        _share(machine, gateway.base_url)
        assert machine.toolsync("profile", "trust", "--yes").said == (0, "")
        assert machine.toolsync("apply", "--yes").said == (0, "")
        assert {key for _, key in gateway.came()} == {KEY}
        _share(machine, other.base_url)
        yield gateway


def _share(machine: Machine, base_url: str) -> None:
    table = f'base_url = "{base_url}"\nmodel = "some-model"\nkey = "keyring:work"\n'
    machine.write("team/toolsync.toml", f"[profiles.team]\n{table}")


COMMANDS = [
    "apply --yes --force --no-ping",
    "diff",
    "ping",
    "models",
    "profile show",
    "env",
    "exec -- true",
    "key rotate --stdin --yes",
    "key rotate home --stdin --yes",
    "bench run --concurrency 1 --requests 1",
]


def test_no_command_goes_where_nobody_agreed_to(
    machine: Machine, applied: Both, other: LoopbackGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in COMMANDS:
        monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
        with machine.untouched():
            ran = machine.toolsync(*command.split())
        assert (ran.code, ran.out) == (2, ""), command
        assert "says otherwise than you agreed to: base_url (line 2)\n" in ran.err, command
        assert "`toolsync profile trust team`" in ran.err, command
    assert machine.kept == {"work"}
    assert not applied.asked
    assert not other.asked


@pytest.mark.usefixtures("applied")
def test_those_that_look_say_it(machine: Machine, other: LoopbackGateway) -> None:
    for command in ("doctor", "status", "profile list"):
        ran = machine.toolsync(*command.split())
        assert "says otherwise than you agreed to" in ran.out, command
    assert not other.asked


def test_after_consent_it_goes_there(machine: Machine, applied: Both, other: LoopbackGateway) -> None:
    assert machine.toolsync("profile", "trust", "--yes").said == (0, "")
    assert machine.toolsync("apply", "--yes").said == (0, "")
    assert f'base_url = "{other.base_url}/v1"' in machine.read(".codex/config.toml")
    assert other.asked
    assert not applied.asked


@pytest.mark.usefixtures("applied")
def test_consent_is_a_person_s_or_yes(machine: Machine, other: LoopbackGateway) -> None:
    with machine.untouched():
        ran = machine.toolsync("profile", "trust")
    assert ran.said == (2, "error: nobody is there to say yes; nothing was written\n  hint: Add `--yes`.\n")
    assert ran.out.splitlines() == [
        "~/team/toolsync.toml decides for profile 'team':",
        "Field     Value                     Line",
        f'base_url  "{other.base_url.removesuffix("/api")}"  2',
        'key       "keyring:work"            4',
    ]


@pytest.mark.usefixtures("applied")
def test_the_list_of_keys_says_whose_cannot_be_told(machine: Machine) -> None:
    ran = machine.toolsync("key", "list")
    assert (ran.code, "warning: which keys profile 'team' uses cannot be told: " in ran.out) == (0, True), ran.out
    assert "`toolsync profile trust team`" in ran.out
    machine.vault.set("spare", Secret(NEW))
    for command in (("key", "uses", "keyring:spare"), ("key", "remove", "spare", "--yes")):
        record(machine.state, "spare")
        assert "warning: which keys profile 'team' uses cannot be told: " in machine.toolsync(*command).out, command
    assert machine.toolsync("profile", "trust", "--yes").said == (0, "")
    assert "cannot be told" not in machine.toolsync("key", "list").out


def test_a_shared_profile_with_a_key_of_its_own_holds_up_no_other_s_rotation(
    machine: Machine, applied: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = applied.base_url.removeprefix("http://")
    own = OWN.replace("127.0.0.1:9", home).replace('"keyring:work"', '"keyring:home"')
    machine.vault.set("home", Secret(KEY))
    machine.environ["NEXT"] = NEW
    for line, code in (("", 2), ('key = "keyring:home"\n', 2), ('key = "keyring:work"\n', 0)):
        machine.config.write_text(own.replace("\n\n[profiles.home]", f"\n{line}\n[profiles.home]"), encoding="utf-8")
        ran = machine.toolsync("key", "rotate", "home", "--from", "env:NEXT", "--yes")
        assert (ran.code, "Tools are set to 'team', which may have the key. Nothing" in ran.err) == (code, code == 2), (
            line
        )
        machine.vault.set("home", Secret(KEY))
        monkeypatch.setattr("sys.stdin", io.StringIO(NEW))
        told = machine.toolsync("key", "set", "home", "--stdin")
        assert (told.code, "'team' uses cannot be told" in told.out) == (0, code == 2), (line, told)
        machine.vault.set("home", Secret(KEY))
