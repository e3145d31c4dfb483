"""A provider that a tool's settings choose, and of which its template says nothing: neither asked nor blamed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.cases import realised, run
from tests.doctor.home import KEY, OTHER, Home
from tests.doctor.test_well import CHUNKS, case, events
from toolsync.doctor.checks import findings
from toolsync.doctor.choice import examined
from toolsync.doctor.client import Outcome
from toolsync.doctor.model import Diagnosis
from toolsync.doctor.proof import Probe, candidates

CLI, STATE, SECRETS = (f".cline/data/{name}.json" for name in ("settings/providers", "globalState", "secrets"))
GATEWAY = "https://gw.example/api/v1"
WORDS = "asks a provider that toolsync neither sets up nor examines"


def cli(provider: str, *, also: Any = None, **settings: str) -> dict[str, str]:
    """The CLI's file, with what another provider left there."""
    given = {provider: settings, **(also or {})}
    entries = {name: _entry(name, own) for name, own in given.items()}
    return {CLI: json.dumps({"version": 1, "lastUsedProvider": provider, "modes": {}, "providers": entries})}


def _entry(name: str, settings: Mapping[str, str]) -> dict[str, Any]:
    return {"settings": {"provider": name, **settings}, "updatedAt": "2026-01-01T00:00:00.000Z"}


def editor(provider: str, base: str, **more: str) -> dict[str, str]:
    """The editor's files, in which fields of OpenAI Compatible stand too."""
    state = {"actModeApiProvider": provider, "openAiBaseUrl": base, "actModeOpenAiModelId": "m", **more}
    return {STATE: json.dumps(state), SECRETS: json.dumps({"openAiApiKey": KEY})}


HERE = "http://{main}"
STRANGE: dict[str, tuple[dict[str, str], str]] = {
    "Ollama": (cli("ollama", baseUrl=HERE, model="m"), "cli"),
    "Ollama with a version in its address": (cli("ollama", baseUrl=f"{HERE}/v1", model="m"), "cli"),
    "Anthropic with a key": (cli("anthropic", baseUrl=HERE, model="m", apiKey=OTHER), "cli"),
    "OpenAI with a key that is none": (cli("openai-native", baseUrl=HERE, apiKey="${OPENAI_API_KEY}"), "cli"),
    "LM Studio without an address": (cli("lmstudio", model="m"), "cli"),
    "Ollama in the editor, after a gateway": (editor("ollama", "http://{closed}/v1", ollamaBaseUrl=HERE), "vscode"),
    "Anthropic in the editor, after a gateway": (editor("anthropic", f"{HERE}/v2"), "vscode"),
}


@pytest.mark.parametrize("has_profile", [False, True], ids=["no profile", "a profile"])
@pytest.mark.parametrize(("files", "reader"), STRANGE.values(), ids=STRANGE)
def test_a_provider_of_which_nothing_is_known_is_neither_asked_nor_blamed(
    tmp_path: Path, files: Mapping[str, str], reader: str, *, has_profile: bool
) -> None:
    """3.0.65 and 2.18.0 ask Ollama at `/api/chat`, Anthropic at `/messages`, OpenAI at `/responses`."""
    told, asked = _doctored(tmp_path, files, reader, has_profile=has_profile)
    assert (told["state"], told["findings"], asked) == ("inconclusive", [], [])
    assert WORDS in told["unknown"][0]
    words = ["apply", "--tool", "cline"] if has_profile else []
    assert (told["command"][:3], told["request"]["credentials"]) == (words, [])


ALIKE = {  # provider, its settings, variables, the key that goes out to a gateway of the profile's
    "LM Studio": ("lmstudio", {}, {}, ""),
    "LM Studio where OpenAI's key is set": ("lmstudio", {}, {"OPENAI_API_KEY": OTHER}, ""),
    "LiteLLM by its own variable": ("litellm", {}, {"OPENAI_API_KEY": OTHER, "LITELLM_API_KEY": KEY}, KEY),
    "LiteLLM by its file": ("litellm", {"apiKey": KEY}, {"LITELLM_API_KEY": OTHER}, KEY),
    "OpenAI Compatible": ("openai-compatible", {}, {"OPENAI_API_KEY": KEY, "LITELLM_API_KEY": OTHER}, KEY),
}


@pytest.mark.parametrize(("provider", "settings", "variables", "key"), ALIKE.values(), ids=ALIKE)
def test_providers_that_ask_alike_are_asked_with_their_own_key(
    tmp_path: Path, provider: str, settings: Mapping[str, str], variables: dict[str, str], key: str
) -> None:
    """As 3.0.65 does."""
    files = cli(provider, **{"baseUrl": f"{HERE}/v1", "model": "demo-model", **settings})
    told, asked = _doctored(tmp_path, files, "cli", variables, has_profile=bool(key))
    assert (told["state"], told["findings"]) == ("healthy", [])
    assert {one[0] for one in asked if one[0].startswith("POST")} == {"POST /v1/chat/completions"}
    assert {one[1] for one in asked} == {key}


def _doctored(
    place: Path,
    files: Mapping[str, str],
    reader: str,
    variables: Mapping[str, str] | None = None,
    *,
    has_profile: bool,
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """What is said of the program, and what was asked: of whom, with which key."""
    row = case(events(*CHUNKS), key=KEY, asks=False, env=variables, others={"closed": {"type": "closed"}})
    row["environment"]["files"] = [{"path": f"{{HOME}}/{name}", "text": text} for name, text in files.items()]
    with realised(place, row) as stage:
        if not has_profile:
            (stage.config / "profile.toml").unlink()
        _, out, _ = run(stage, "doctor", "cline", "--json")
        asked = [(f"{one.method} {one.target}", one.keys.get("bearer", "")) for one in stage.listeners.asked]
    tools = {one["reader"]: one for one in json.loads(out)["data"]["tools"]}
    return tools[reader], asked


APPLIED: dict[str, tuple[dict[str, str], str, str]] = {  # files, the program, where the choice stands
    "in the editor": (editor("ollama", GATEWAY), "vscode", "state.actModeApiProvider"),
    "in the editor, its own default": (editor("openrouter", GATEWAY), "vscode", "state.actModeApiProvider"),
    "on the command line": (
        cli("ollama", baseUrl="http://h", also={"openai-compatible": {"baseUrl": GATEWAY, "apiKey": KEY}}),
        "cli",
        "cli.lastUsedProvider",
    ),
    "on the command line, its own default": (
        cli("cline", also={"openai-compatible": {"baseUrl": GATEWAY, "apiKey": KEY}}),
        "cli",
        "cli.lastUsedProvider",
    ),
}


@pytest.mark.parametrize(("files", "reader", "slot"), APPLIED.values(), ids=APPLIED)
def test_another_provider_beside_the_profiles_address_is_named(
    tmp_path: Path, files: dict[str, str], reader: str, slot: str
) -> None:
    home = Home(tmp_path)
    home.write(files)
    (found,) = findings(examined(home.look("cline", reader)))
    assert (found.cause, found.certainty) == ("base_url_not_honoured", "sure")
    assert found.where is not None
    assert (found.where.slot, found.fix and found.fix.argv) == (slot, ("apply", "--tool", "cline"))


MEANT: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a variable for other programs": (cli("ollama", baseUrl="http://h", model="m"), {"OPENAI_BASE_URL": GATEWAY}),
    "a file that people take for its own": (
        {**cli("ollama", model="m"), ".config/Code/User/settings.json": json.dumps({"cline.openAiBaseUrl": GATEWAY})},
        {},
    ),
    "the fields of the editor's program": ({**cli("anthropic", apiKey=KEY), **editor("openai", GATEWAY)}, {}),
    "no key, an address with a query": (cli("anthropic", apiKey="${KEY}", baseUrl="http://gw.example/v1?a=b"), {}),
}


@pytest.mark.parametrize(("files", "variables"), MEANT.values(), ids=MEANT)
def test_what_belongs_to_others_is_no_reason_to_doubt_a_choice(
    tmp_path: Path, files: dict[str, str], variables: dict[str, str]
) -> None:
    home = Home(tmp_path, variables)
    home.write(files)
    assert findings(examined(home.look("cline", "cli"))) == ()


def test_what_is_passed_over_is_shown_as_set_and_not_used(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write(editor("ollama", "http://127.0.0.1:9/v1"))
    look = examined(home.look("cline", "vscode"))
    used = {one.seen.layer.name: (set(one.sets), set(one.wins)) for one in look.standings()}
    assert used["globalState.json"] == ({"provider", "base_url", "model"}, {"provider"})
    assert used["secrets.json"] == ({"key"}, set())
    assert (look.effective.url, look.effective.credentials) == ("", ())


@pytest.mark.parametrize(("provider", "is_said"), [("ollama", False), ("lmstudio", True)])
def test_a_large_request_is_no_way_to_see_more_where_nobody_is_asked(
    tmp_path: Path, provider: str, *, is_said: bool
) -> None:
    home = Home(tmp_path)
    home.write(cli(provider, baseUrl="http://localhost:1234/v1", model="m"))
    look = examined(home.look("cline", "cli"))
    lines = candidates(look, Diagnosis(look.effective, "inconclusive"), Outcome("refused", 1.0, "no"), Probe())
    assert any("--deep" in str(line) for line in lines) == is_said


OTHERS: dict[str, tuple[str, dict[str, str], dict[str, str], bool]] = {
    "a provider that Codex brings along": (
        "codex",
        {".codex/config.toml": 'model = "m"\nmodel_provider = "ollama"\n'},
        {},
        True,
    ),
    "its own, by name": ("codex", {".codex/config.toml": 'model_provider = "openai"\n'}, {}, False),
    "a cloud of Claude Code's": ("claude-code", {}, {"CLAUDE_CODE_USE_BEDROCK": "1"}, True),
    "Cline's own, as its first start writes it": ("cline", cli("cline"), {}, False),
}


@pytest.mark.parametrize(("tool", "files", "variables", "is_said"), OTHERS.values(), ids=OTHERS)
def test_who_never_had_a_gateway_is_told_so_unless_another_was_chosen(
    tmp_path: Path, tool: str, files: Mapping[str, str], variables: dict[str, str], *, is_said: bool
) -> None:
    row = case(events(*CHUNKS), env=variables)
    row["environment"]["files"] = [{"path": f"{{HOME}}/{name}", "text": text} for name, text in files.items()]
    with realised(tmp_path, row) as stage:
        (stage.config / "profile.toml").unlink()
        code, out, _ = run(stage, "doctor", tool, "--json")
        asked = stage.listeners.asked
    told = json.loads(out)["data"]["tools"][0]
    assert (code, told["state"], len(asked)) == (3, "inconclusive", 0)
    assert (WORDS in told["unknown"][0], told["command"]) == (is_said, [] if is_said else ["init"])
