"""Cline: three files in agreement, a copy of the key by consent, and nothing that Cline would take for empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.machine import ADDRESS, KEY, Machine
from tests.acceptance.test_asking import terminal
from tests.keys import invented
from tests.programs import started
from toolsync.masking import Secret

STATE, SECRETS, PROVIDERS = (f".cline/data/{name}" for name in ("globalState.json", "secrets.json", "providers.json"))
PROVIDERS = ".cline/data/settings/providers.json"
APPLY = ("apply", "--yes", "--no-ping", "--tool", "cline")
MOMENT = "2026-01-01T00:00:00.000Z"


def entry(provider: str, **settings: Any) -> dict[str, Any]:
    return {"settings": {"provider": provider, **settings}, "updatedAt": MOMENT, "tokenSource": "manual"}


HOME: dict[str, Any] = {
    STATE: {"mode": "plan", "planModeApiProvider": "openrouter", "actModeApiProvider": "openrouter"},
    SECRETS: {"openRouterApiKey": invented("openrouter")},
    PROVIDERS: {
        "version": 1,
        "lastUsedProvider": "deepseek",
        "modes": {},
        "providers": {"deepseek": entry("deepseek", apiKey=invented("deepseek"), model="d")},
    },
}


@pytest.fixture
def lived_in(machine: Machine) -> Machine:
    """A home in which Cline has been used, with the modes that it gives its files."""
    for name, data in HOME.items():
        machine.write(name, json.dumps(data, indent=2)).chmod(0o644 if name == STATE else 0o600)
    return machine


def data(machine: Machine, name: str) -> Any:
    return json.loads(machine.read(name))


def keys(machine: Machine) -> tuple[Any, Any]:
    """The key as each of the two files holds it."""
    ours = data(machine, PROVIDERS)["providers"]["openai-compatible"]["settings"]
    return data(machine, SECRETS).get("openAiApiKey"), ours.get("apiKey")


def modes(machine: Machine) -> list[str]:
    return [oct((machine.home / name).stat().st_mode & 0o777) for name in (STATE, SECRETS, PROVIDERS)]


def test_without_consent_it_is_left_out_with_the_reason(lived_in: Machine) -> None:
    with lived_in.untouched():
        ran = lived_in.toolsync(*APPLY)
    assert ran.code == 2
    assert (
        "problem: Cline is left out: it would hold a copy of the key in its own file, and that needs your consent\n"
        '    `--allow-plaintext`, or `plaintext = "allow"` in the profile, gives it. Cline (vscode) can take the key '
        'no other way; `key_way = "env"` under [profiles.work.tool.cline] serves the rest.\n'
    ) in ran.out


def test_left_out_it_is_said_to_stay_set_to_the_profile_whose_key_it_holds(lived_in: Machine) -> None:
    lived_in.profile(f'\n[profiles.home]\nbase_url = "{ADDRESS}"\nmodel = "m"\nkey = "keyring:work"\n')
    assert lived_in.toolsync(*APPLY, "--allow-plaintext", "-p", "home").code == 0
    with lived_in.untouched():
        ran = lived_in.toolsync(*APPLY)
    assert "and that needs your consent; it stays set to profile 'home', whose key it holds\n" in ran.out


def test_all_three_files_agree_and_undo_gives_every_byte_and_mode_back(lived_in: Machine) -> None:
    before, before_modes = lived_in.contents(), modes(lived_in)
    assert lived_in.toolsync(*APPLY, "--allow-plaintext").said == (0, "")
    state, ours = data(lived_in, STATE), data(lived_in, PROVIDERS)["providers"]["openai-compatible"]["settings"]
    assert [state[f"{mode}ModeApiProvider"] for mode in ("plan", "act")] == ["openai", "openai"]
    assert {state["planModeOpenAiModelId"], state["actModeOpenAiModelId"], ours["model"]} == {"some-model"}
    assert {state["openAiBaseUrl"], ours["baseUrl"]} == {f"{ADDRESS}/v1"}
    assert keys(lived_in) == (KEY, KEY)
    assert data(lived_in, PROVIDERS)["lastUsedProvider"] == "openai-compatible"
    assert data(lived_in, PROVIDERS)["providers"]["deepseek"] == HOME[PROVIDERS]["providers"]["deepseek"]
    assert data(lived_in, SECRETS)["openRouterApiKey"] == invented("openrouter")
    assert modes(lived_in) == ["0o644", "0o600", "0o600"]
    assert lived_in.toolsync("undo", "--yes").said == (0, "")
    assert (lived_in.contents(), modes(lived_in)) == (before, before_modes)


def test_a_file_that_others_could_read_is_private_while_the_key_is_in_it(lived_in: Machine) -> None:
    for name in (SECRETS, PROVIDERS):
        (lived_in.home / name).chmod(0o664)
    assert lived_in.toolsync(*APPLY, "--allow-plaintext").code == 0
    assert modes(lived_in) == ["0o644", "0o600", "0o600"]
    assert lived_in.toolsync("undo", "--yes").code == 0
    assert modes(lived_in) == ["0o644", "0o664", "0o664"]


def test_a_file_that_is_opened_to_others_later_is_shut_again(lived_in: Machine) -> None:
    assert lived_in.toolsync(*APPLY, "--allow-plaintext").code == 0
    (lived_in.home / SECRETS).chmod(0o644)
    text = f"~/{SECRETS} holds the key, and was opened to other users (chmod) since\n    `toolsync apply` shuts it.\n"
    status = lived_in.toolsync("status")
    assert (status.code, f"problem: {text}" in status.out) == (1, True), status.out
    assert f"warning: {text}" in lived_in.toolsync(*APPLY, "--allow-plaintext").out
    assert modes(lived_in) == ["0o644", "0o600", "0o600"]
    assert lived_in.toolsync("status").code == 0
    assert lived_in.toolsync("undo", "--yes").said == (0, "")


def test_an_empty_home_gets_all_three_and_loses_them_again(machine: Machine) -> None:
    assert machine.toolsync(*APPLY, "--allow-plaintext").said == (0, "")
    assert modes(machine) == ["0o644", "0o600", "0o600"]
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert machine.contents() == {}
    assert not (machine.home / ".cline").exists()


@pytest.mark.parametrize("text", ["", " \n", "{}", "{\n}\n"])
def test_a_file_with_nothing_in_it_begins_as_a_new_one(machine: Machine, text: str) -> None:
    for name in (STATE, SECRETS, PROVIDERS):
        machine.write(name, text)
    before = machine.contents()
    assert machine.toolsync(*APPLY, "--allow-plaintext").said == (0, "")
    assert (data(machine, PROVIDERS)["version"], keys(machine)) == (1, (KEY, KEY))
    with machine.untouched():
        assert machine.toolsync(*APPLY, "--allow-plaintext").code == 0
    assert machine.toolsync("undo", "--yes").said == (0, "")
    assert machine.contents() == before


def test_a_variable_that_holds_no_absolute_path_is_named(machine: Machine) -> None:
    machine.environ["CLINE_DATA_DIR"] = "my/cline"
    said = "error: cline: $CLINE_DATA_DIR is 'my/cline', which is not an absolute path\n"
    said += "  hint: Set it to a path that starts with /, or leave it unset.\n"
    assert machine.toolsync(*APPLY, "--allow-plaintext").said == (2, said)


def test_consent_is_asked_for_once_at_a_terminal_and_remembered(lived_in: Machine) -> None:
    lived_in.environ["WORK_KEY"] = invented("first")
    lived_in.profile(key="env:WORK_KEY")
    asked = "Cline: may the tool's own file hold a copy of the key in clear? [y/N]: "
    with lived_in.untouched(), terminal(lived_in, "apply", "--no-ping") as screen:
        assert screen.until(asked).answer("n\n").ended() == 0
    with terminal(lived_in, "apply", "--no-ping") as screen:
        assert screen.until(asked).answer("y\n").until("Write this?").answer("y\n").ended() == 0
    lived_in.environ["WORK_KEY"] = invented("second")
    with terminal(lived_in, "apply", "--no-ping", "--yes") as screen:
        assert screen.ended() == 0
    assert asked not in screen.shown
    assert keys(lived_in) == (invented("second"), invented("second"))


def test_a_new_key_reaches_both_files_by_apply(lived_in: Machine) -> None:
    assert lived_in.toolsync(*APPLY, "--allow-plaintext").code == 0
    lived_in.vault.set("work", Secret(invented("rotated")))
    assert lived_in.toolsync("status").code == 1
    assert lived_in.toolsync(*APPLY).said == (0, "")
    assert keys(lived_in) == (invented("rotated"), invented("rotated"))
    assert lived_in.toolsync("status").code == 0


@pytest.mark.parametrize(
    "rest", ['plaintext = "never"\n', '\n[profiles.work.tool.cline]\nkey_way = "env"\n'], ids=["never", "key_way"]
)
def test_by_the_environment_no_file_holds_the_key_and_vs_code_is_said_to_find_none(machine: Machine, rest: str) -> None:
    machine.profile(rest)
    ran = machine.toolsync(*APPLY)
    assert ran.said == (0, "")
    assert (
        "warning: Cline (vscode) will find no key: the way that is used serves others of its programs only" in ran.out
    )
    assert "Cline  reads $OPENAI_API_KEY from its environment" in ran.out
    assert "Cline (cli)" not in ran.out
    assert KEY not in "".join(machine.contents().values())
    assert SECRETS not in machine.contents()


def test_by_the_environment_the_users_own_key_goes_and_comes_back(lived_in: Machine) -> None:
    lived_in.profile('plaintext = "never"\n')
    lived_in.write(SECRETS, json.dumps({"openAiApiKey": invented("users")}))
    before = lived_in.contents()
    assert lived_in.toolsync(*APPLY).code == 0
    assert data(lived_in, SECRETS) == {}
    assert lived_in.toolsync("undo", "--yes").code == 0
    assert lived_in.contents() == before


def test_what_would_win_over_our_key_or_lead_elsewhere_makes_way_and_comes_back(lived_in: Machine) -> None:
    own = entry(
        "openai-compatible",
        auth={"accessToken": invented("token"), "apiKey": invented("nested")},
        protocol="openai-responses",
        client="openai",
        azure={"apiVersion": "1"},
        maxTokens=4096,
    )
    stored = HOME[PROVIDERS]
    lived_in.write(PROVIDERS, json.dumps({**stored, "providers": {**stored["providers"], "openai-compatible": own}}))
    lived_in.write(STATE, json.dumps({**HOME[STATE], "azureApiVersion": "1", "openAiHeaders": {"X": "1"}}))
    before = lived_in.contents()
    assert lived_in.toolsync(*APPLY, "--allow-plaintext").said == (0, "")
    ours = data(lived_in, PROVIDERS)["providers"]["openai-compatible"]["settings"]
    assert set(ours) == {"provider", "apiKey", "model", "baseUrl", "maxTokens"}
    assert {"azureApiVersion", "openAiHeaders"} & data(lived_in, STATE).keys() == set()
    assert lived_in.toolsync("undo", "--yes").said == (0, "")
    assert lived_in.contents() == before


WIPED = {
    "a byte-order mark": lambda text: "\ufeff" + text,
    "a comment": lambda text: "// mine\n" + text,
    "no object": lambda _: "[]\n",
}


@pytest.mark.parametrize("name", [STATE, SECRETS, PROVIDERS], ids=lambda name: Path(name).stem)
@pytest.mark.parametrize("spoil", WIPED.values(), ids=WIPED)
def test_a_file_that_cline_would_take_for_empty_is_called_one_and_nothing_is_written(
    lived_in: Machine, name: str, spoil: Any
) -> None:
    lived_in.write(name, spoil(lived_in.read(name)))
    with lived_in.untouched():
        ran = lived_in.toolsync(*APPLY, "--allow-plaintext")
    assert ran.code == 2
    assert name in ran.err
    assert "Traceback" not in ran.err


def test_the_message_says_where_and_what_comes_of_it(lived_in: Machine) -> None:
    lived_in.write(PROVIDERS, "\ufeff" + lived_in.read(PROVIDERS))
    ran = lived_in.toolsync(*APPLY, "--allow-plaintext")
    said = f"error: ~/{PROVIDERS}: cline would not accept it: "
    said += "line 1, column 1: a byte-order mark, which it does not skip\n  hint: Mend that in the file first: "
    said += "a tool may take a file that breaks its rules for empty, and overwrite it.\n"
    assert ran.said == (2, said)


def test_the_folder_that_cline_is_told_to_use_is_used(machine: Machine) -> None:
    machine.environ |= {
        "CLINE_DIR": str(machine.home / "c"),
        "CLINE_PROVIDER_SETTINGS_PATH": str(machine.home / "p.json"),
    }
    assert machine.toolsync(*APPLY, "--allow-plaintext").said == (0, "")
    assert set(machine.contents()) == {"c/data/globalState.json", "c/data/secrets.json", "p.json"}


# Editors that are open


@pytest.fixture
def in_the_environment(lived_in: Machine) -> Machine:
    """With a key that processes of their own can find."""
    lived_in.environ["WORK_KEY"] = invented("running")
    lived_in.profile('plaintext = "allow"\n', key="env:WORK_KEY")
    return lived_in


def _warning(pid: int, files: str) -> str:
    return (
        f"code (pid {pid}) is running: it writes its old values back over {files} until each of its windows is reloaded"
    )


def test_an_open_editor_is_named_before_the_question_and_in_the_result(in_the_environment: Machine) -> None:
    machine = in_the_environment
    with started(machine.place / "code") as pid:
        said = _warning(pid, "globalState.json and secrets.json")
        with machine.untouched():
            asked = machine.child("apply", "--no-ping")  # nobody is there to answer: it ends at the question
        ran = machine.child("apply", "--no-ping", "--yes", "--json")
        again = machine.child("apply", "--no-ping", "--yes")
    assert (
        asked.code,
        f"warning: {said}\n    Run 'Developer: Reload Window' in every VS Code window" in asked.out,
    ) == (
        2,
        True,
    )
    assert [one["text"] for one in ran.json["messages"]] == [said]
    assert (ran.code, again.code, "is running" in again.out) == (0, 0, False)


def test_a_file_that_an_editor_wrote_back_has_drifted_for_that_reason(in_the_environment: Machine) -> None:
    machine = in_the_environment
    assert machine.child("apply", "--no-ping", "--yes").code == 0
    with started(machine.place / "code") as pid:
        assert machine.child("status").code == 0
        machine.write(STATE, json.dumps(HOME[STATE] | {"mode": "act"}, indent=2))  # the whole old object, as Cline does
        status = machine.child("status")
        undo = machine.child("undo")
    assert status.code == 1
    assert "cline  ~/.cline/data/globalState.json         taken out since      differs from the profile\n" in status.out
    assert f"warning: {_warning(pid, 'globalState.json')}\n" in status.out
    assert f"warning: {_warning(pid, 'secrets.json')}\n" in undo.out
