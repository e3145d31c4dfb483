"""What mends a tool where there are profiles, and none is in use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.doctor.home import SHIPPED, Home
from toolsync.causes import named
from toolsync.commands.doctor.mending import Mending
from toolsync.doctor.checks import saying
from toolsync.doctor.look import looks
from toolsync.doctor.model import Finding
from toolsync.doctor.world import World
from toolsync.profile.reader import read
from toolsync.sentence import tell

GATEWAYS = {"work": "https://gw.example/api", "home": "https://home.example", "other": "https://gw.example/v2"}
ROWS = {
    "the only one": ("key_invalid", ("home",), ("use", "home"), ["key rotate home", "use home"]),
    "that of the gateway": ("key_invalid", ("home", "work"), ("use", "work"), ["key rotate work", "use work"]),
    "several of the gateway": (
        "key_invalid",
        ("home", "work", "other"),
        (),
        ["key rotate NAME", "use NAME`, which is one of home, work, other."],
    ),
    "a cause without a command": ("dns_failure", ("home",), ("use", "home"), ["profile edit", "use home"]),
    "none": ("key_invalid", (), ("init", "--base-url", GATEWAYS["work"]), ["key rotate NAME", "init --base-url"]),
}


@pytest.mark.parametrize(("cause", "names", "argv", "told"), ROWS.values(), ids=ROWS)
def test_what_comes_first_is_said(
    tmp_path: Path, cause: str, names: Sequence[str], argv: tuple[str, ...], told: Sequence[str]
) -> None:
    home = Home(tmp_path)
    own = {"ANTHROPIC_BASE_URL": GATEWAYS["work"], "ANTHROPIC_AUTH_TOKEN": "the-tools-own"}
    home.write({".claude/settings.json": json.dumps({"env": own})})
    tables = (f'[profiles.{one}]\nbase_url = "{GATEWAYS[one]}"\nmodel = "m"\nkey = "env:GW"\n' for one in names)
    profiles = read("".join(tables)).profiles if names else ()
    look = next(looks(World(home.session(), None, profiles), SHIPPED["claude-code"]))
    values = saying.values(look)
    remedy = named(cause).filled({name: tell(value) for name, value in values.items()}).remedy
    found = Mending(look).of(Finding(cause, values=values), remedy)
    assert found is not None
    assert found.argv == argv
    said = tell(found.text)
    assert [words for words in told if words not in said] == []
