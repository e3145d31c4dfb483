"""The user's own key, where toolsync sets a value: kept in the keyring for undo, or said to be lost before it is."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.machine import Machine
from tests.keys import invented
from tests.secret import rings
from toolsync.errors import SecretError
from toolsync.masking import Secret
from toolsync.secret.vault import MemoryVault, SystemVault

CLAUDE, CODEX = ".claude/settings.json", ".codex/config.toml"
OLD = invented("old")
BEFORES = {
    CLAUDE: f'{{\n\t"env": {{ "ANTHROPIC_API_KEY" : "{OLD}", "A": "1" }}\n}}',
    CODEX: f'[model_providers.toolsync]\nexperimental_bearer_token = "{OLD}" # mine\n',
    "service/settings.json": f'{{"apiKey": "{OLD}"}}\n',
}
GONE = SystemVault(timeout_seconds=5, choices=())
PATHS = '\n[profiles.work.tool.settings-json]\npaths = ["~/service/settings.json"]\n'


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """Three tools with keys of the user's own."""
    for name, content in BEFORES.items():
        machine.write(name, content)
    machine.profile(PATHS)
    return machine


def test_it_goes_to_the_keyring_and_comes_back_byte_for_byte(ready: Machine) -> None:
    ran = ready.toolsync("apply", "--yes", "--no-ping")
    assert ran.said == (0, "")
    assert OLD not in ran.out
    assert OLD not in "".join(ready.contents().values())
    assert OLD not in json.dumps(ready.memory)
    assert len(ready.kept) > 1
    again = ready.toolsync("apply", "--yes", "--no-ping")
    assert again.out.startswith("Nothing to change.\n")

    undone = ready.toolsync("undo", "--yes")
    assert undone.said == (0, "")
    assert OLD not in undone.out
    assert ready.contents() == BEFORES
    assert ready.kept == {"work"}


OPAQUE = "opaque-zebra"
"""A key that nobody knows by its look."""
HIDDEN = {
    ".cline/data/settings/providers.json": json.dumps(
        {
            "version": 1,
            "modes": {},
            "providers": {
                "openai-compatible": {
                    "settings": {
                        "provider": "openai-compatible",
                        "auth": {"accessToken": OPAQUE},
                        "headers": {"X-Any": OPAQUE},
                        "azure": {"password": OPAQUE},
                        "client": {"secret": OPAQUE},
                    },
                    "updatedAt": "2026-01-01T00:00:00.000Z",
                    "tokenSource": "oauth",
                }
            },
        }
    ),
    ".cline/data/globalState.json": f'{{"openAiBaseUrl": "https://me:{OPAQUE}@h.example/v1?api_key={OPAQUE}"}}',
    CLAUDE: f'{{"apiKeyHelper": "echo {OPAQUE}", "env": {{"ANTHROPIC_CUSTOM_HEADERS": "X-Any: {OPAQUE}"}}}}',
    CODEX: f'[model_providers.toolsync]\nbase_url = "https://me:{OPAQUE}@h.example"\nenv_key = "{OPAQUE}"\n',
}


def test_what_is_secret_by_its_place_alone_is_neither_remembered_nor_shown(machine: Machine) -> None:
    for name, content in HIDDEN.items():
        machine.write(name, content)
    for words in (("apply", "--yes", "--no-ping", "--allow-plaintext"), ("status", "--json"), ("undo", "--yes")):
        ran = machine.toolsync(*words)
        assert (ran.code, OPAQUE in ran.out + ran.err) == (0, False)
        assert not [path.name for path in machine.state.iterdir() if OPAQUE.encode() in path.read_bytes()]
    assert (machine.contents(), machine.kept) == (HIDDEN, {"work"})


def test_it_survives_a_change_of_key_way(ready: Machine) -> None:
    way = "".join(f'\n[profiles.work.tool.{tool}]\nkey_way = "plaintext"\n' for tool in ("claude-code", "codex"))
    for rest in (PATHS, f'plaintext = "allow"\n{PATHS}{way}', PATHS):
        ready.profile(rest)
        assert ready.toolsync("apply", "--yes", "--no-ping").said == (0, "")
        assert OLD not in json.dumps(ready.memory)
    assert ready.toolsync("undo", "--yes").said == (0, "")
    assert ready.contents() == BEFORES
    assert ready.kept == {"work"}


def test_a_new_key_of_the_user_becomes_what_undo_gives_back(ready: Machine) -> None:
    newer = invented("newer")
    assert ready.toolsync("apply", "--yes", "--no-ping").code == 0
    ready.write(CLAUDE, json.dumps(json.loads(ready.read(CLAUDE)) | {"env": {"ANTHROPIC_API_KEY": newer}}))
    assert ready.toolsync("apply", "--yes", "--no-ping").code == 0
    assert newer not in json.dumps(ready.memory) + ready.read(CLAUDE)
    assert ready.toolsync("undo", "--yes").code == 0
    assert json.loads(ready.read(CLAUDE))["env"]["ANTHROPIC_API_KEY"] == newer
    assert ready.kept == {"work"}


def test_without_a_keyring_apply_says_so_first_and_undo_says_what_is_lost(ready: Machine) -> None:
    ready.vault = GONE
    ready.environ["WORK_KEY"] = invented("work")
    ready.profile(f"{PATHS}\n[profiles.work.tool.claude-code]\nenabled = false\n", key="env:WORK_KEY")
    (ready.home / CODEX).unlink()
    (ready.home / ".codex").rmdir()
    told = (
        "undo cannot bring back what stands at apiKey in ~/service/settings.json: "
        "it may be a key, and no keyring answers here (none is installed)"
    )
    hint = "Note it down before it is written over, or let a keyring answer."
    warning = f"warning: {told}\n    {hint}\n"
    with ready.untouched():
        declined = ready.toolsync("apply", "--no-ping")
    assert declined.code == 2
    assert declined.out.endswith(f"{warning}Profile 'work': 1 file to change (settings.json).\n")

    with ready.untouched():
        refused = ready.toolsync("apply", "--yes", "--no-ping")
    switch = "`--lose-old-values` writes over them all the same."
    assert refused.said == (2, f"error: {told}\n  hint: {hint} {switch}\n")

    ran = ready.toolsync("apply", "--yes", "--no-ping", "--lose-old-values")
    assert ran.said == (0, "")
    assert ran.out.index(warning) < ran.out.index("Applied profile 'work'")
    assert ran.out.count(warning) == 1
    assert OLD not in json.dumps(ready.memory)
    assert ready.toolsync("apply", "--yes", "--no-ping").out.startswith("Nothing to change.\nApplied profile")

    undone = ready.toolsync("undo", "--yes")
    lost = "warning: ~/service/settings.json: apiKey: what stood there before could not be kept, and is lost\n"
    assert undone.said == (0, "")
    assert undone.out.index(lost) < undone.out.index("Given back: 1 file.")
    assert json.loads(ready.read("service/settings.json")) == {}
    assert ready.memory["files"] == {}


def test_a_locked_keyring_stops_apply_and_undo_for_nothing_may_be_lost(ready: Machine) -> None:
    sound, locked = ready.vault, SystemVault(timeout_seconds=5, choices=[rings.allowed("Locked")])
    ready.vault = locked
    with ready.untouched():
        assert ready.toolsync("apply", "--yes", "--no-ping").err.startswith("error: Locked ring is locked\n")
    ready.vault = sound
    assert ready.toolsync("apply", "--yes", "--no-ping").code == 0
    for vault, reason in {locked: "Locked ring is locked", GONE: "no keyring answers here (none is installed)"}.items():
        ready.vault = vault
        with ready.untouched():
            refused = ready.toolsync("undo", "--yes")
            assert ready.toolsync("apply", "--yes", "--no-ping").out.startswith("Nothing to change.\n")
        assert refused.code == 2
        what = "~/.claude/settings.json: what stood at env.ANTHROPIC_API_KEY lies in the keyring, and"
        assert f"error: {what} {reason}\n" in refused.err
    ready.vault = sound
    assert ready.toolsync("undo", "--yes").code == 0
    assert ready.contents() == BEFORES


def test_a_reference_is_no_key_and_needs_no_keyring(ready: Machine) -> None:
    befores = {
        "service/settings.json": '{"apiKey":   "${OLD_KEY}"}',
        "service/config.toml": "[api]\napi_key = '${OLD_KEY}' # as ever\n",
    }
    for name, content in befores.items():
        ready.write(name, content)
    ready.profile(f'{PATHS}\n[profiles.work.tool.config-toml]\npaths = ["~/service/config.toml"]\n')
    ready.vault = GONE
    tools = ("--tool", "settings-json", "--tool", "config-toml")
    ran = ready.toolsync("apply", "--yes", "--no-ping", *tools)
    assert ran.said == (0, "")
    assert "warning" not in ran.out
    assert "-api_key = '${OLD_KEY}' # as ever\n+api_key = \"${TOOLSYNC_API_KEY}\" # as ever\n" in ran.out
    assert ready.toolsync("undo", "--yes").said == (0, "")
    assert {name: ready.read(name) for name in befores} == befores


class _Full(MemoryVault):
    """Keeps one entry, and refuses the next."""

    def set(self, name: str, secret: Secret) -> None:
        if len(self._secrets) > 1:
            raise SecretError("the keyring is full")
        super().set(name, secret)


def test_a_keyring_that_fails_half_way_is_as_before_and_no_file_is_written(ready: Machine) -> None:
    ready.vault = _Full()
    with ready.untouched():
        assert ready.toolsync("apply", "--yes", "--no-ping").said == (2, "error: the keyring is full\n")
    assert ready.kept == set()
