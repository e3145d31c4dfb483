"""The key goes to the user's own gateway and nowhere else, and into nothing that doctor says."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import sampled
from tests.doctor.cases import diagnosed, realised, run
from tests.doctor.home import DEMO, Home, demo
from tests.doctor.test_well import CHAT, JSON, KEY, MESSAGES, RESPONSES, Data, case, chat, message, ok
from tests.keys import invented
from toolsync.address import Dialect
from toolsync.commands.doctor import diagnosis
from toolsync.commands.doctor.probing import probes, request_of
from toolsync.doctor.checks import findings
from toolsync.doctor.look import Look
from toolsync.doctor.steering import by_project, kept
from toolsync.doctor.unasked import why
from toolsync.masking import Secret
from toolsync.probe.candidates import candidates
from toolsync.sentence import tell

OTHER = invented("doctor-stays-other")
ELSEWHERE = {"type": "http", "routes": [], "default": {"status": 200, "headers": JSON, "json": {"data": []}}}


def _redirecting(status: int, kind: str) -> Data:
    answer = {"status": status, "headers": {"Location": "http://{elsewhere}/v1/models"}, "text": ""}
    row = case(answer, kind, models=answer, others={"elsewhere": ELSEWHERE}, stream=False)
    del row["server_behaviour"]["listeners"]["main"]["auth"]
    return row


@pytest.mark.parametrize("kind", [CHAT, MESSAGES, RESPONSES])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(tmp_path: Path, status: int, kind: str) -> None:
    with realised(tmp_path, _redirecting(status, kind)) as stage:
        said = diagnosed(stage)
    assert said.causes[0] in ("url_redirect", "captive_portal")
    target = f"http://{stage.listeners.names['elsewhere']}/v1"
    assert any(f"it leads to {target}/models" in line for line in said.findings[0]["evidence"])
    assert f"base_url={target if kind != MESSAGES else target.removesuffix('/v1')}`" in said.findings[0]["remedy"]
    assert [one for one in said.asked if one.listener == "elsewhere"] == []


def test_a_redirect_after_a_list_is_not_followed(tmp_path: Path) -> None:
    answer = {"status": 307, "headers": {"Location": "http://{elsewhere}/v1/messages"}, "text": ""}
    with realised(tmp_path, case(answer, MESSAGES, others={"elsewhere": ELSEWHERE}, stream=False)) as stage:
        said = diagnosed(stage)
    assert said.causes == ["url_redirect"]
    assert [one for one in said.asked if one.listener == "elsewhere"] == []


def _projects(header: str) -> Data:
    """Claude Code set to the user's gateway, and a project that sends it elsewhere."""
    row = case(ok(message()), MESSAGES, others={"elsewhere": ELSEWHERE}, wanted_base_url="http://{main}")
    row["config"]["base_url"] = "http://{elsewhere}"
    stated = {"ANTHROPIC_BASE_URL": "http://{main}", "ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_CUSTOM_HEADERS": header}
    row["environment"]["files"] = [
        {"path": "{HOME}/.claude/settings.json", "text": json.dumps({"env": stated})},
        {
            "path": "{PROJECT}/.claude/settings.json",
            "text": json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://{elsewhere}"}}),
        },
    ]
    return row


_SHAPELESS = "no/key's+shape"


@pytest.mark.parametrize("header", ["X-Team: red", f"X-Relay-Token: {OTHER}", f"X-Gate: {_SHAPELESS}"])
def test_no_key_goes_to_an_address_of_a_projects_file(tmp_path: Path, header: str) -> None:
    with realised(tmp_path, _projects(header)) as stage:
        said = diagnosed(stage)
    assert said.causes[0] == "config_shadowed"
    reached = [one for one in said.asked if one.listener == "elsewhere"]
    assert reached
    assert [one.keys for one in reached] == [{}] * len(reached)
    sent = " ".join(value for one in reached for value in one.headers.values())
    assert [secret for secret in (KEY, OTHER, _SHAPELESS) if secret in sent] == []


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "https_proxy"])
def test_no_key_goes_to_a_proxy_of_a_projects_file(tmp_path: Path, variable: str) -> None:
    row = case(ok(message()), MESSAGES, others={"elsewhere": ELSEWHERE})
    own = {"ANTHROPIC_BASE_URL": "http://{main}", "ANTHROPIC_AUTH_TOKEN": KEY}
    row["environment"]["files"] = [
        {"path": "{HOME}/.claude/settings.json", "text": json.dumps({"env": own})},
        {
            "path": "{PROJECT}/.claude/settings.json",
            "text": json.dumps({"env": {variable: "http://{elsewhere}"}}),
        },
    ]
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    assert {one.method for one in said.asked if one.listener == "elsewhere"} == {"GET"}
    assert [one.keys for one in said.asked if one.listener == "elsewhere" and one.keys] == []
    told = json.loads(said.out)["data"]["tools"][0]
    assert (told["state"], told["findings"]) == ("inconclusive", [])
    assert any(f"(env.{variable})" in line for line in told["unknown"])
    assert f"Delete `env.{variable}`" in told["fix"]


def test_no_key_goes_out_with_a_header_of_a_projects_file_that_says_whom_it_is_for(tmp_path: Path) -> None:
    row = case(ok(message()), MESSAGES)
    own = {"ANTHROPIC_BASE_URL": "http://{main}", "ANTHROPIC_AUTH_TOKEN": KEY}
    theirs = {"ANTHROPIC_CUSTOM_HEADERS": "Host: elsewhere.example"}
    row["environment"]["files"] = [
        {"path": "{HOME}/.claude/settings.json", "text": json.dumps({"env": own})},
        {"path": "{PROJECT}/.claude/settings.json", "text": json.dumps({"env": theirs})},
    ]
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    assert [(one.method, one.keys) for one in said.asked] == [("GET", {})]
    assert "elsewhere" not in said.asked[0].headers["host"]
    told = json.loads(said.out)["data"]["tools"][0]
    assert (told["state"], told["findings"]) == ("inconclusive", [])
    assert any("(env.ANTHROPIC_CUSTOM_HEADERS)" in line for line in told["unknown"])


_TWO = """active = "work"
[profiles.work]
base_url = "https://gw.example/api"
model = "m"
key = "keyring:work"
[profiles.other]
base_url = "https://other.example"
model = "m"
key = "keyring:other"
"""


@pytest.mark.parametrize(
    ("files", "is_sent"),
    [
        ({".claude/settings.json": "https://other.example"}, True),
        ({"project/.claude/settings.json": "https://other.example"}, False),
        ({"project/.claude/settings.json": "https://gw.example/api"}, True),
    ],
    ids=["the user's, of another profile", "a project's, of another profile", "a project's, of the active one"],
)
def test_a_projects_file_sends_no_key_to_the_gateway_of_another_profile(
    tmp_path: Path, files: Mapping[str, str], *, is_sent: bool
) -> None:
    home = Home(tmp_path, profile=_TWO)
    own = {"ANTHROPIC_AUTH_TOKEN": KEY}
    stated = {name: {"ANTHROPIC_BASE_URL": url} for name, url in files.items()}
    stated[".claude/settings.json"] = own | stated.get(".claude/settings.json", {})
    home.write({name: json.dumps({"env": env}) for name, env in stated.items()})
    asked = request_of(home.look("claude-code"))
    assert (bool(asked.credentials), asked.is_trusted) == (is_sent, is_sent)


def _claude(tmp_path: Path, theirs: Mapping[str, str], own: Mapping[str, str] | None = None) -> Look:
    """Claude Code set to the profile, and what a project's file puts over it."""
    home = Home(tmp_path, profile=_TWO, key=KEY)
    stated = {"ANTHROPIC_BASE_URL": "https://gw.example/api", "ANTHROPIC_AUTH_TOKEN": KEY, **(own or {})}
    files = {".claude/settings.json": stated, "project/.claude/settings.json": theirs}
    home.write({name: json.dumps({"env": env}) for name, env in files.items()})
    return home.look("claude-code")


ADDRESSES = {
    "the profile's": ("https://gw.example/api", True),
    "spelled otherwise": ("https://GW.example:443/api/", True),
    "above it": ("https://gw.example", True),
    "below it": ("https://gw.example/api/v1", True),
    "another's part of a host that many share": ("https://gw.example/apis", False),
    "the same by a way round": ("https://gw.example/api/../other", False),
    "the same, encoded": ("https://gw.example/api/%2e%2e/other", False),
    "the same host without encryption": ("http://gw.example/api", False),
    "another port": ("https://gw.example:8443/api", False),
}


@pytest.mark.parametrize(("url", "is_sent"), ADDRESSES.values(), ids=ADDRESSES)
def test_a_projects_file_sends_no_key_to_another_part_of_a_host(tmp_path: Path, url: str, *, is_sent: bool) -> None:
    look = _claude(tmp_path, {"ANTHROPIC_BASE_URL": url})
    assert bool(request_of(look).credentials) == is_sent
    assert (kept(look, None) or ("",))[0] == ("" if is_sent else "key_kept_from_address")


HEADERS = {
    "Host: elsewhere.example": False,
    "X_Forwarded_Host: elsewhere.example": False,
    "X-Forwarded-Server: elsewhere": False,
    "x-portkey-custom-host: elsewhere": False,
    "Helicone-Target-Url: elsewhere": False,
    "X-Api-Base: elsewhere": False,
    'x-portkey-config: {"a": "https://elsewhere.example"}': False,
    "X-Any: https%3A%2F%2Felsewhere.example": False,
    "X-Token: https://elsewhere.example": False,
    "Proxy-Connection: keep-alive": False,
    "Transfer-Encoding: chunked": False,
    "X-Team: red\nHost: elsewhere.example": False,
    "X-Team: red": True,
    "X-Security-Team: red": True,
    "X-Knowledge-Base: red": True,
    "anthropic-beta: context-1m-2025-08-07": True,
    "HTTP-Referer: https://team.example": True,
    "Helicone-Property-App: web": True,
    "cf-aig-metadata: {}": True,
}


@pytest.mark.parametrize(("header", "is_sent"), HEADERS.items(), ids=HEADERS)
def test_no_key_goes_out_with_a_header_of_a_projects_file_by_which_it_is_passed_on(
    tmp_path: Path, header: str, *, is_sent: bool
) -> None:
    look = _claude(tmp_path, {"ANTHROPIC_CUSTOM_HEADERS": header})
    assert bool(request_of(look).credentials) == is_sent
    assert (by_project(look) or ("",))[0] == ("" if is_sent else "key_kept_from_route")


def test_the_users_own_header_of_that_kind_is_the_users_affair(tmp_path: Path) -> None:
    look = _claude(tmp_path, {}, {"ANTHROPIC_CUSTOM_HEADERS": "Host: behind.example"})
    assert request_of(look).headers == {"host": "behind.example"}


_OTHER_LAYERS = """[[layer]]
name = "user"
overlay = "settings.json"
[[layer]]
name = "project"
file = "<project>/demo.json"
format = "jsonc"
"""
LENT = {
    "nothing": ({"model": "m2"}, ""),
    "what the user's own file has as the key": ({"key": "{env:OWN}"}, ""),
    "a secret as the key": ({"key": "{env:FORGE_TOKEN}"}, "key_kept_of_project"),
    "the profile's key": ({"key": "{env:GW}"}, ""),
    "a secret as a header": ({"headers": {"X-A": "{env:FORGE_TOKEN}"}}, "key_kept_with_secret"),
    "a secret without a secret's shape": ({"headers": {"X-A": "{env:SHAPELESS_PASSWORD}"}}, "key_kept_with_secret"),
    "a secret by the header's name": ({"headers": {"X-Token": "{env:PLAIN}"}}, "key_kept_with_secret"),
    "a secret as the model": ({"model": "{env:FORGE_TOKEN}"}, "key_kept_with_secret"),
    "a team's name as a header": ({"headers": {"X-A": "{env:PLAIN}"}}, ""),
    "a model's name": ({"model": "{env:PLAIN}"}, ""),
    "another host over the user's": ({"headers": {"Host": "elsewhere"}}, "key_kept_from_route"),
    "another host beside the user's": ({"headers": {"X-Original-Host": "elsewhere"}}, "key_kept_from_route"),
}


@pytest.mark.parametrize(("theirs", "reason"), LENT.values(), ids=LENT)
def test_a_projects_file_has_no_secret_of_the_users_sent_along(
    tmp_path: Path, theirs: Mapping[str, Any], reason: str
) -> None:
    environ = {
        "FORGE_TOKEN": OTHER,
        "SHAPELESS_PASSWORD": _SHAPELESS,
        "PLAIN": "red",
        "GW": KEY,
        "OWN": invented("own"),
    }
    home = Home(tmp_path, environ, key=KEY)
    own = {
        "url": "https://gw.example/api",
        "model": "m",
        "key": "{env:OWN}",
        "headers": {"Host": "mine", "Forwarded": "mine"},
    }
    home.write({".demo/settings.json": json.dumps(own), "project/demo.json": json.dumps(theirs)})
    merged = DEMO.replace("[request]", 'merge = ["headers"]\n[request]')
    look = home.look(demo(merged + _OTHER_LAYERS))
    assert (by_project(look) or ("",))[0] == reason
    asked = request_of(look)
    assert (bool(asked.credentials), asked.is_users) == (not reason, not reason)
    assert OTHER not in str([one.reveal() for one in asked.credentials.values()])


UNASKED = {
    "a value from elsewhere in a project's address": (
        {},
        {"url": "http://gw.example/{env:FORGE_TOKEN}"},
        "address_of_elsewhere",
    ),
    "a line break": ({"headers": {"X-A": "b\rHost: c"}}, {}, "header_unfit"),
    "a header's name that is none": ({}, {"headers": {"X A": "b"}}, "header_unfit"),
    "a header that is no ASCII": ({"headers": {"X-A": "Zo\u00eb"}}, {}, "header_unfit"),
}


@pytest.mark.parametrize(("own", "theirs", "reason"), UNASKED.values(), ids=UNASKED)
def test_nobody_is_asked_and_nothing_is_called_well(
    tmp_path: Path, own: Mapping[str, Any], theirs: Mapping[str, Any], reason: str
) -> None:
    home = Home(tmp_path, {"FORGE_TOKEN": OTHER}, key=KEY)
    stated = {"url": "https://gw.example/api", "model": "m", "key": KEY, **own}
    home.write({".demo/settings.json": json.dumps(stated), "project/demo.json": json.dumps(theirs)})
    look = home.look(demo(DEMO + _OTHER_LAYERS))
    asked = probes([(look, ())], is_deep=False)
    assert [*asked] == []
    assert (kept(look, None) or ("",))[0] == reason
    told = diagnosis.diagnosed(look, (), asked, diagnosis.Options(tools=("demo",)))
    assert (told.state, [one.cause for one in told.findings]) == ("inconclusive", [])
    assert [tell(line).startswith("nobody was asked") for line in why(look, told)] == [True]


@pytest.mark.parametrize(
    "url", ["http://[", "http://[::1", "http://h:99999", "http://h:80a", "http://a\x1b[31m.example"]
)
@pytest.mark.parametrize("env", [{}, {"HTTP_PROXY": "http://proxy.example", "NO_PROXY": "localhost"}])
def test_what_is_no_address_is_said_to_be_none(tmp_path: Path, url: str, env: Mapping[str, str]) -> None:
    look = _claude(tmp_path, {"ANTHROPIC_BASE_URL": url, **env})
    assert "url_malformed" in [finding.cause for finding in findings(look)]
    assert request_of(look).credentials == {}


_ENCRYPTED = {"type": "https", "tls": {"cert": "trusted", "ca_trusted": True}}
_OURS = "{PROJECT}/../roots.pem"
VOUCHED = {
    "nobody": ({}, {}, "problem"),
    "the project": ({"NODE_EXTRA_CA_CERTS": _OURS}, {}, "inconclusive"),
    "a project's file that is not there": ({"NODE_EXTRA_CA_CERTS": "/no/such.pem"}, {}, "problem"),
    "the project and the user": ({"NODE_EXTRA_CA_CERTS": _OURS}, {"SSL_CERT_FILE": _OURS}, "healthy"),
    "the user, where the project names another": (
        {"NODE_EXTRA_CA_CERTS": "/no/such.pem"},
        {"NODE_EXTRA_CA_CERTS": _OURS},
        "healthy",
    ),
    "a file that lies where doctor is run": ({}, {"SSL_CERT_FILE": "../roots.pem"}, "inconclusive"),
}


@pytest.mark.parametrize(("theirs", "env", "state"), VOUCHED.values(), ids=VOUCHED)
def test_no_key_goes_to_one_for_whom_only_a_project_vouches(
    tmp_path: Path, theirs: Mapping[str, str], env: Mapping[str, str], state: str
) -> None:
    row = case(ok(message()), MESSAGES, listener=_ENCRYPTED, base_url="https://{main}")
    filled = {name: text.replace("{PROJECT}", str(tmp_path / "project")) for name, text in env.items()}
    row["environment"]["env"] = {"SSL_CERT_FILE": "", **filled}
    own = {"ANTHROPIC_BASE_URL": "https://{main}", "ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_MODEL": "m"}
    row["environment"]["files"] = [
        {"path": "{HOME}/.claude/settings.json", "text": json.dumps({"env": own})},
        {"path": "{PROJECT}/.claude/settings.json", "text": json.dumps({"env": theirs})},
    ]
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    told = json.loads(said.out)["data"]["tools"][0]
    assert told["state"] == state
    assert said.causes == (["tls_untrusted_ca"] if state == "problem" else [])
    assert bool(said.asked) == (state == "healthy")
    if state == "inconclusive":
        assert [line.startswith("nothing was sent") for line in told["unknown"]] == [True]
        assert told["fix"].startswith("Delete `env.NODE_EXTRA_CA_CERTS`" if theirs else "Name the file in `$SSL_")
        assert told["command"] == []


REPEATED = {
    "the user's own address": ({"env": {"ANTHROPIC_BASE_URL": "https://other.example"}}, True, ""),
    "another one": ({"env": {"ANTHROPIC_BASE_URL": "https://other.example/b"}}, False, "key_kept_from_address"),
    "the user's own command": ({"apiKeyHelper": f"echo {KEY}"}, True, ""),
    "another one for the key": ({"apiKeyHelper": f"echo  {KEY}"}, False, "helper_of_project"),
}


@pytest.mark.parametrize(("theirs", "is_sent", "reason"), REPEATED.values(), ids=REPEATED)
def test_a_projects_file_that_says_what_the_users_own_says_has_no_say(
    tmp_path: Path, theirs: Mapping[str, Any], reason: str, *, is_sent: bool
) -> None:
    home = Home(tmp_path, profile=_TWO, key=OTHER)
    own = {"apiKeyHelper": f"echo {KEY}", "env": {"ANTHROPIC_BASE_URL": "https://other.example"}}
    home.write({".claude/settings.json": json.dumps(own), "project/.claude/settings.json": json.dumps(theirs)})
    look = home.look("claude-code")
    assert (bool(request_of(look).credentials), (kept(look, None) or ("",))[0]) == (is_sent, reason)


_LOCAL = "http://localhost:11434"
OPEN: dict[str, tuple[dict[str, str], str, bool]] = {  # the user's variables, the project's file, whether it is asked
    "no key": ({}, "", True),
    "a dummy": ({"ANTHROPIC_AUTH_TOKEN": "ollama"}, "", True),
    "a key": ({"ANTHROPIC_AUTH_TOKEN": KEY}, "", False),
    "a dummy and a key": ({"ANTHROPIC_AUTH_TOKEN": "ollama", "ANTHROPIC_API_KEY": KEY}, "", False),
    "a dummy and a header": ({"ANTHROPIC_AUTH_TOKEN": "ollama", "ANTHROPIC_CUSTOM_HEADERS": "X-Team: red"}, "", False),
    "a name in the address": ({"ANTHROPIC_BASE_URL": "http://me:pass@localhost:11434"}, "", False),
    "a project's address": ({}, "http://elsewhere.example", False),
}


@pytest.mark.parametrize(("own", "theirs", "is_asked"), OPEN.values(), ids=OPEN)
def test_a_server_of_no_profile_is_asked_where_there_is_nothing_to_hold_back(
    tmp_path: Path, own: Mapping[str, str], theirs: str, *, is_asked: bool
) -> None:
    home = Home(tmp_path, profile=None)
    home.write({".claude/settings.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": _LOCAL, **own}})})
    if theirs:
        home.write({"project/.claude/settings.json": json.dumps({"env": {"ANTHROPIC_BASE_URL": theirs}})})
    asked = request_of(home.look("claude-code"))
    sent = {key.reveal() for key in asked.credentials.values()}
    assert (asked.is_trusted, sent - {"ollama"}) == (is_asked, set())
    assert is_asked or not (sent or asked.headers or asked.query)


_GONE = {"status": 404, "headers": JSON, "json": {"error": "no"}}
STRAY = {
    "a list": ("", KEY),
    "a version too many": ("/v1", KEY),
    "a key that is none": ("", "${GW_KEY}"),
}


@pytest.mark.parametrize(("path", "key"), STRAY.values(), ids=STRAY)
def test_no_profile_is_made_of_a_projects_address(tmp_path: Path, path: str, key: str) -> None:
    row = case(_GONE, MESSAGES, others={"elsewhere": ELSEWHERE}, env={"ANTHROPIC_AUTH_TOKEN": key})
    theirs = {"ANTHROPIC_BASE_URL": "http://{elsewhere}" + path}
    row["environment"]["files"] = [
        {"path": "{PROJECT}/.claude/settings.json", "text": json.dumps({"env": theirs})},
    ]
    with realised(tmp_path, row) as stage:
        (stage.config / "profile.toml").unlink()
        said = diagnosed(stage)
    told = json.loads(said.out)["data"]["tools"][0]
    ways = [told, *told["findings"]]
    assert [one["command"] for one in ways if one["command"]] == ([] if key == KEY else [["init"]])
    assert ("Delete `env.ANTHROPIC_BASE_URL`" in "".join(one["fix"] for one in ways)) == (key == KEY)
    assert "--base-url" not in "".join(one["fix"] for one in ways)
    assert [one.keys for one in said.asked if one.keys] == []


_VIBE = """active_model = "a"
[[models]]
name = "m"
provider = "p"
alias = "a"
[[providers]]
name = "p"
api_base = "https://gw.example/api/v1"
api_key_env_var = "NAME"
"""


@pytest.mark.parametrize(
    ("folder", "secret", "is_sent"),
    [("", OTHER, True), ("project/", OTHER, False), ("project/", KEY, True)],
    ids=["the user's choice", "a project's choice", "a project's, and it is the profile's key"],
)
def test_a_projects_file_does_not_choose_which_secret_is_sent(
    tmp_path: Path, folder: str, secret: str, *, is_sent: bool
) -> None:
    home = Home(tmp_path, {"SOME_TOKEN": secret}, key=KEY)
    home.write({f"{folder}.vibe/config.toml": _VIBE.replace("NAME", "SOME_TOKEN")})
    look = home.look("mistral-vibe")
    assert [one.value for one in look.effective.credentials] == [Secret(secret)]
    assert bool(request_of(look).credentials) == is_sent
    steered = by_project(look)
    assert (steered[0] if steered is not None else "") == ("" if is_sent else "key_kept_of_project")


def test_a_login_with_the_vendor_is_sent_by_its_tool_alone(tmp_path: Path) -> None:
    """Claude Code sends it to whatever address it is set to; doctor says so, and does not send it once more."""
    token, row = invented("vendors-login"), case(message(), MESSAGES, key=None)
    row["environment"]["files"] = [
        {"path": "{HOME}/.claude/settings.json", "text": '{"env": {"ANTHROPIC_BASE_URL": "http://{main}"}}'},
        {
            "path": "{HOME}/.claude/.credentials.json",
            "text": json.dumps({"claudeAiOauth": {"accessToken": token, "scopes": ["user:inference"]}}),
        },
    ]
    with realised(tmp_path, row) as stage:
        said = diagnosed(stage)
    assert "foreign_credential" in said.causes
    assert said.asked
    assert not any(token in text for one in said.asked for text in (one.target, str(one.headers), str(one.body)))
    assert token not in said.out + said.err


@pytest.mark.parametrize("cert", ["self_signed", "expired", "other_name", "not_yet_valid", "chain_with_untrusted_root"])
def test_nothing_is_sent_where_the_certificate_is_not_trusted(tmp_path: Path, cert: str) -> None:
    listener = {
        "type": "https",
        "tls": {"cert": cert, "ca_trusted": cert not in ("self_signed", "chain_with_untrusted_root")},
    }
    with realised(tmp_path, case(ok(chat()), listener=listener, base_url="https://{main}/v1")) as stage:
        said = diagnosed(stage)
    assert said.causes[0].startswith("tls_") or said.causes[0] == "clock_skew"
    assert said.asked == ()


_SEGMENTS = st.lists(
    st.sampled_from(["v1", "api", "openai", "v4", "anthropic", "chat", "completions", "a.b"]), max_size=4
)


@given(dialect=st.sampled_from([CHAT, MESSAGES, RESPONSES]), segments=_SEGMENTS)
def test_every_candidate_is_on_the_same_origin(dialect: Dialect, segments: list[str]) -> None:
    base = "/".join(["https://gw.example:8443", *segments])
    origins = {urlsplit(one.base)[:2] for one in candidates(dialect, base)}
    assert origins <= {("https", "gw.example:8443")}


# What is said.


_ODD = f"{invented('doctor-odd')}/with+some=characters&more"
FORMS: Mapping[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "percent-encoded": lambda key: quote(key, safe=""),
    "in base64": lambda key: base64.b64encode(key.encode()).decode(),
    "in base64 of a pair": lambda key: base64.b64encode(f"user:{key}".encode()).decode(),
    "in a header": lambda key: f"Authorization: Bearer {key}",
    "in JSON's escapes": lambda key: json.dumps(key).replace("/", "\\/"),
}
PLACES: Mapping[str, Callable[[str], Data]] = {
    "a message": lambda text: {"status": 401, "headers": JSON, "json": {"error": {"message": f"Incorrect: {text}"}}},
    "a code": lambda text: {"status": 400, "headers": JSON, "json": {"error": {"message": "no", "code": text}}},
    "a text": lambda text: {"status": 500, "headers": {"Content-Type": "text/plain"}, "text": f"failed with {text}"},
    "a page": lambda text: {
        "status": 403,
        "headers": {"Content-Type": "text/html"},
        "text": f"<html><head><title>{text}</title></head><body>{text}</body></html>",
    },
    "an address": lambda text: {
        "status": 302,
        "headers": {"Location": f"http://gw.example/login?key={quote(text)}"},
        "text": "",
    },
    "a content type": lambda text: {"status": 418, "headers": {"Content-Type": f"text/{quote(text)}"}, "text": ""},
}
ECHOES = [(form, place) for form in FORMS for place in PLACES]


@pytest.mark.parametrize(("form", "place"), sampled(ECHOES, 5))
@pytest.mark.parametrize("key", [KEY, _ODD], ids=["plain", "odd"])
def test_a_gateway_that_echoes_the_key_is_not_quoted(tmp_path: Path, key: str, form: str, place: str) -> None:
    answer = PLACES[place](FORMS[form](key))
    row = case(answer, models=answer, key=key, asks=False, stream=False)
    with realised(tmp_path, row) as stage:
        said = [run(stage, "doctor", "demo", "--json"), run(stage, "doctor", "demo", "--lang", "zh")]
    assert said[0][0] in (1, 3)
    shown = "".join(out + err for _, out, err in said)
    assert [name for name, spell in FORMS.items() if spell(key) in shown] == []


@pytest.mark.parametrize("options", [("--json",), (), ("--lang", "zh")])
def test_a_key_within_an_address_is_not_shown(tmp_path: Path, options: tuple[str, ...]) -> None:
    row = case(ok(message()), MESSAGES)
    stated = {"ANTHROPIC_BASE_URL": f"http://{{main}}/{OTHER}", "ANTHROPIC_AUTH_TOKEN": KEY}
    row["environment"]["files"] = [
        {"path": "{HOME}/.claude/settings.json", "text": json.dumps({"env": stated})},
    ]
    with realised(tmp_path, row) as stage:
        code, out, err = run(stage, "doctor", "demo", *options)
    assert code == 1
    assert OTHER not in out + err


def _everything(row: Any) -> Any:
    return row["id"][1:].isdigit() and int(row["id"][1:]) % 3 == 0


@pytest.mark.corpus("doctor", where=_everything)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_people_read_of_the_corpus_holds_no_key(tmp_path: Path, row: dict[str, Any], language: str) -> None:
    with realised(tmp_path, row) as stage:
        code, out, err = run(stage, "doctor", "demo", "--lang", language)
    assert code in (0, 1, 3), err
    keys = {str(row["config"]["key"].get("value") or ""), str(row["config"].get("second_key") or "")}
    assert [key for key in keys if len(key) >= 16 and key.strip() in out + err and "{" not in key] == []
