"""Tools that do not start with half a provider: undo leaves none of ours, whatever its user added to it."""

from __future__ import annotations

import pytest

from tests.acceptance.machine import Machine

CODEX, VIBE = ".codex/config.toml", ".vibe/config.toml"
BEFORES = {
    "nothing else": '# mine\nmodel = "mine" # good\n',
    "another provider": 'model = "mine"\n\n[model_providers.other]\nname = "Other"\nwire_api = "responses"\n',
    "another provider without a name": 'model = "mine"\n\n[model_providers.other]\nwire_api = "responses"\n',
}
WHOLE = "went whole, with what was added to it"


def _applied(machine: Machine, name: str, before: str) -> None:
    machine.write(name, before)
    machine.profile()
    ran = machine.toolsync("apply", "--yes", "--no-ping")
    assert ran.code == 0, ran.err


def _edited(machine: Machine, name: str, old: str, new: str) -> None:
    text = machine.read(name)
    assert old in text
    machine.write(name, text.replace(old, new))


@pytest.mark.parametrize("before", BEFORES.values(), ids=BEFORES)
def test_codex_table_goes_whole_with_what_was_added_to_it(machine: Machine, before: str) -> None:
    _applied(machine, CODEX, before)
    _edited(machine, CODEX, 'base_url = "', 'stream_max_retries = 9\nbase_url = "')
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, machine.read(CODEX)) == (0, before)
    assert f"model_providers.toolsync: {WHOLE}" in ran.out


def test_codex_table_with_a_name_of_the_users_stays(machine: Machine) -> None:
    _applied(machine, CODEX, BEFORES["nothing else"])
    _edited(machine, CODEX, 'name = "work"\n', 'name = "My gateway"\nstream_max_retries = 9\n')
    ran = machine.toolsync("undo", "--yes")
    assert ran.code == 0, ran.err
    table = '\n[model_providers.toolsync]\nname = "My gateway"\nstream_max_retries = 9\n'
    assert machine.read(CODEX) == BEFORES["nothing else"] + table


def test_vibe_provider_goes_whole_with_what_was_added_to_it(machine: Machine) -> None:
    before = '[[providers]]\nname = "other"\n'
    _applied(machine, VIBE, before)
    _edited(machine, VIBE, 'backend = "generic"\n', 'backend = "generic"\nreasoning_field_name = "reasoning"\n')
    ran = machine.toolsync("undo", "--yes")
    assert (ran.code, machine.read(VIBE)) == (0, before)
    assert f"providers[name=toolsync]: {WHOLE}" in ran.out
