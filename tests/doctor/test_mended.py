"""The command that doctor prints mends the case, whether a person types it or `--fix` runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.cases import Stage, diagnosed, realised, run
from tests.doctor.home import PROFILE as PROFILE_TEXT
from tests.doctor.home import Home
from tests.doctor.test_well import CHAT, JSON, KEY, MESSAGES, Data, case, chat, listed, message, ok
from tests.keys import invented
from toolsync.commands.doctor.diagnosis import Options, doctor
from toolsync.commands.doctor.mending import Mending
from toolsync.commands.doctor.standing import standing
from toolsync.doctor.model import Effective, Finding, Fix, Where
from toolsync.doctor.remedy import fix
from toolsync.doctor.remedy.standing import Rehearsal, Standing
from toolsync.doctor.unasked import first_profile
from toolsync.errors import KeyMissingError, ProfileError, SecretError
from toolsync.keyref import KeyRef
from toolsync.masking import Secret
from toolsync.probe.network import Network
from toolsync.profile.reader import read
from toolsync.proxies import Proxies
from toolsync.secret.vault import Entry, MemoryVault
from toolsync.sentence import Text, say, tell

CLAUDE = ".claude/settings.json"
TOP_UP = "Top the account up on the gateway's page, or use another key. "
OTHER = invented("doctor-mended-other")
NO_SUCH = {"status": 404, "headers": JSON, "json": {"error": {"message": "The model `demo-modle` does not exist"}}}


def _moved(base: str, kind: str = CHAT, to: str = "/v1") -> Data:
    """A gateway at another path than the one that profile and tool have."""
    row = case(ok(message() if kind == MESSAGES else chat()), kind, base_url=base)
    for route in row["server_behaviour"]["listeners"]["main"]["routes"]:
        route["path"] = route["path"].replace("/v1", to)
    return row


def _wrong_model() -> Data:
    row = case(ok(chat()), models=listed("demo-model"), model="demo-modle")
    routes = row["server_behaviour"]["listeners"]["main"]["routes"]
    routes.insert(0, {**routes[0], "if": {"model_not_in": ["demo-model"]}, "respond": NO_SUCH})
    return row


def _set_to(**settings: Any) -> Data:
    """A tool whose file says something else than the profile."""
    row = case(ok(chat()), others={"old": {"type": "closed"}})
    text = json.dumps(
        {"baseUrl": "http://{main}/v1", "apiKey": KEY, "model": "demo-model", "stream": False, **settings}
    )
    row["environment"]["files"] = [{"path": "{HOME}/.demo-tool/settings.json", "text": text}]
    return row


ROWS: dict[str, tuple[str, Data]] = {
    "no version": ("path_missing_v1", _moved("http://{main}")),
    "a version twice": ("path_duplicate_v1", _moved("http://{main}/v1/v1")),
    "an endpoint": ("path_full_endpoint", _moved("http://{main}/v1/chat/completions")),
    "a prefix is missing": ("path_missing_prefix", _moved("http://{main}/v1", to="/api/v1")),
    "a prefix is missing, of Anthropic's kind": (
        "path_missing_prefix",
        _moved("http://{main}", MESSAGES, to="/anthropic/v1"),
    ),
    "a prefix too many": ("path_extra_segment", _moved("http://{main}/openai/v1")),
    "https of a plain port": ("scheme_mismatch", _moved("https://{main}/v1")),
    "a misspelled model": ("model_not_found", _wrong_model()),
    "a reference as key": ("key_literal_placeholder", _set_to(apiKey="${RELAY_API_KEY}")),
    "white space around the key": ("key_whitespace", _set_to(apiKey=f"{KEY}\n")),
    "another key": ("key_invalid", _set_to(apiKey=OTHER)),
    "white space behind the address": ("url_malformed", _set_to(baseUrl="http://{main}/v1 ")),
    "an address that is none": ("url_malformed", _set_to(baseUrl="{main}/v1")),
    "no model": ("config_incomplete", _set_to(model="${MODEL}")),
}


@pytest.mark.parametrize(("cause", "row"), ROWS.values(), ids=ROWS)
def test_what_is_printed_mends_it(tmp_path: Path, cause: str, row: Data) -> None:
    with realised(tmp_path, row) as stage:
        before = diagnosed(stage)
        assert before.causes[0] == cause
        for command in str(before.findings[0]["fix"]).split(" && "):
            _typed(stage, command)
        after = diagnosed(stage)
    assert (after.code, after.causes) == (0, [])


def test_where_nobody_listens_the_file_with_the_address_and_the_whole_chain_are_told(tmp_path: Path) -> None:
    row = case(ok(chat()), others={"old": {"type": "closed"}}, base_url="http://{old}/v1")
    with realised(tmp_path, row) as stage:
        found = diagnosed(stage).findings[0]
    assert (found["cause"], found["where"]["slot"]) == ("connection_refused", "baseUrl")
    assert found["remedy"].endswith("`toolsync profile edit --set base_url=ADDRESS`, then `toolsync apply`.")


def test_an_old_address_where_nobody_listens_is_set_anew(tmp_path: Path) -> None:
    with realised(tmp_path, _set_to(baseUrl="http://{old}/v1")) as stage:
        found = diagnosed(stage).findings[0]
    assert found["cause"] == "connection_refused"
    assert found["fix"].startswith("toolsync apply --tool demo")


def _typed(stage: Stage, command: str) -> None:
    program, *words = shlex.split(command)
    assert program == "toolsync"
    consent = ["--yes", "--allow-plaintext", "--lose-old-values"] if words[0] == "apply" else []
    code, out, err = run(stage, *words, *consent)
    assert code == 0, out + err


def test_fix_runs_it_and_looks_again(tmp_path: Path) -> None:
    with realised(tmp_path, _moved("http://{main}/v1", to="/api/v1")) as stage:
        (stage.home / ".demo-tool" / "settings.json").write_text('{"stream": false}')
        consent = run(stage, "apply", "--tool", "demo", "--yes", "--force", "--allow-plaintext")
        code, out, err = run(stage, "doctor", "demo", "--fix", "--yes", "--json")
    said = json.loads(out)["data"]
    assert consent[0] == 1, consent  # applied, though the gateway does not answer there
    assert [one["command"][0] for one in said["fixed"]] == ["profile", "apply"], err
    assert (code, said["tools"][0]["findings"]) == (0, [])


def test_fix_asks_and_nobody_is_there(tmp_path: Path) -> None:
    with realised(tmp_path, _moved("http://{main}")) as stage:
        before = (stage.config / "profile.toml").read_bytes()
        said = [run(stage, "doctor", "demo", "--fix", *more) for more in ((), ("--json",))]
        after = (stage.config / "profile.toml").read_bytes()
    assert [code for code, _, _ in said] == [2, 2]
    assert before == after


# What would be printed.

PROFILE = read(
    'active = "work"\n[profiles.work]\nbase_url = "https://gw.example"\nmodel = "m"\nkey = "keyring:k"\n'
).get()


def effective(base: str = "https://gw.example/v1") -> Effective:
    return Effective(
        *("demo", "", "Demo", "openai-chat", base, f"{base}/chat/completions", "m"),
        *((), {}, None, False, "", Network()),
    )


PRINTED = {
    "path_missing_v1, set": (
        Finding("path_missing_v1", values={"address": "https://gw.example/v1"}),
        True,
        "toolsync profile edit work --set base_url=https://gw.example/v1 && toolsync apply --tool demo",
    ),
    "an API that is kept apart": (
        Finding("path_missing_prefix", values={"address": "https://gw.example/anthropic", "apart": MESSAGES}),
        True,
        "toolsync profile edit work --set urls.openai=https://gw.example/anthropic && toolsync apply --tool demo",
    ),
    "path_missing_v1, not set": (Finding("path_missing_v1"), False, "toolsync apply --tool demo"),
    "path_missing_v1, and nobody knows where": (Finding("path_missing_v1"), True, None),
    "key_invalid": (Finding("key_invalid"), True, "toolsync key rotate work && toolsync apply --tool demo"),
    "model_not_found, near": (
        Finding("model_not_found", values={"near": "a b"}),
        True,
        "toolsync profile edit work --set 'model=a b' && toolsync apply --tool demo",
    ),
    "model_not_found": (Finding("model_not_found"), True, "toolsync models --profile work"),
    "localhost_ipv6": (
        Finding("localhost_ipv6"),
        True,
        "toolsync profile edit work --set base_url=http://127.0.0.1:1/v1 && toolsync apply --tool demo",
    ),
    "tool_timeout_too_short": (
        Finding("tool_timeout_too_short"),
        True,
        "toolsync profile edit work --set request.timeout_seconds=120 && toolsync apply --tool demo",
    ),
    "url_redirect, which people judge": (Finding("url_redirect"), True, None),
    "waf_block": (Finding("waf_block"), True, None),
}


@pytest.mark.parametrize(("finding", "is_set", "expected"), PRINTED.values(), ids=PRINTED)
def test_what_is_printed(finding: Finding, is_set: bool, expected: str | None) -> None:
    base = "http://localhost:1/v1" if finding.cause == "localhost_ipv6" else "https://gw.example/v1"
    found = fix(effective(base), finding, PROFILE, Standing(is_set=is_set, key=lambda: Secret(KEY)))
    assert (str(found.text) if found else None) == expected
    assert found is None or found.argv in (tuple(shlex.split(str(found.text).split(" && ")[0])[1:]), ())


MISSING = KeyMissingError("there is none", hint="Look for it.")
BROKEN = SecretError("it is broken", hint="Mend it.")
OWN = Secret(KEY)
SET, APPLY = "toolsync key set work && toolsync apply --tool demo", "toolsync apply --tool demo"


def _passphrased(inner: str) -> str:
    return f"age:{Path(__file__)}{inner}"


BY_SOURCE: dict[str, tuple[str, str, Secret | SecretError, str, str]] = {
    "keyring, none": ("keyring:k", "key_missing", MISSING, "", SET),
    "keyring, a key": ("keyring:k", "key_missing", OWN, "", APPLY),
    "keyring, refused": ("keyring:k", "key_expired", OWN, "", "toolsync key rotate work && toolsync apply --tool demo"),
    "keyring, and drift": ("keyring:k", "config_drift", MISSING, "", SET),
    "keyring, shut": ("keyring:k", "config_drift", BROKEN, "", "The key first. Mend it."),
    "variable, unset": ("env:GWK", "key_missing", MISSING, "", "Set GWK to the key in the shell from which"),
    "variable, refused": ("env:GWK", "key_invalid", OWN, "", "Set GWK to a key that the gateway takes"),
    "variable, and drift": ("env:GWK", "config_drift", MISSING, "", "Set GWK to the key in the shell from which"),
    "command, failing": ("command:x", "key_helper_failed", BROKEN, "", "Mend the command that the profile"),
    "command, and drift": ("command:x", "config_drift", BROKEN, "", "Mend the command that the profile"),
    "command, refused": ("command:x", "key_invalid", OWN, "", "Replace the key where the profile's own command"),
    "credential, refused": ("systemd:x", "key_invalid", OWN, "", "Replace the credential x where the service's"),
    "an empty account": ("env:GWK", "quota_exhausted", OWN, "", f"{TOP_UP}Set GWK to a key that the gateway takes"),
    "an empty account, keyring": ("keyring:k", "quota_exhausted", OWN, "", f"{TOP_UP}`toolsync key rotate work "),
    "age, no file": ("age:/nonexistent/k.age", "key_missing", MISSING, "", SET),
    "age, refused": ("age:/nonexistent/k.age", "key_invalid", OWN, "", SET),
    "age, no passphrase": (_passphrased("#env:AGEPW"), "key_missing", MISSING, "", "Set AGEPW to the passphrase"),
    "age, nobody types": (_passphrased(""), "key_helper_failed", BROKEN, "", "Let the profile say where the pass"),
    "age, its command": (_passphrased("#command:x"), "key_missing", BROKEN, "", "Mend the command that the profile"),
    "age, another phrase": (_passphrased("#env:AGEPW"), "config_drift", BROKEN, "", "The key first. Mend it."),
    "a variable that toolsync named": (
        "keyring:k",
        "key_env_empty",
        OWN,
        "OURS",
        "Start it as `toolsync exec -- demo`",
    ),
    "a variable, and no key": ("keyring:k", "key_env_empty", MISSING, "OURS", SET),
    "a variable of the tool's own": ("keyring:k", "key_env_empty", OWN, "THEIRS", ""),
}


@pytest.mark.skipif(os.name != "posix", reason="the paths in the rows are those of POSIX")
@pytest.mark.parametrize(("source", "cause", "key", "variable", "expected"), BY_SOURCE.values(), ids=BY_SOURCE)
def test_a_key_is_mended_where_the_profile_takes_it_from(
    source: str, cause: str, key: Secret | SecretError, variable: str, expected: str
) -> None:
    profile = replace(PROFILE, key=KeyRef.parse(source))
    standing = Standing(is_set=cause != "config_drift", key=lambda: key, variable="OURS", program="demo")
    found = fix(effective(), Finding(cause, values={"variable": variable}), profile, standing)
    said = str(found.text) if found else ""
    assert said.startswith(expected)
    assert bool(said) == bool(expected)
    if not source.startswith(("keyring", "age")):
        assert "key set work" not in said  # which refuses


def test_the_line_that_sets_the_variable_of_the_key_is_named(tmp_path: Path) -> None:
    own = PROFILE_TEXT.replace("keyring:work", "env:GWK")
    for environ, expected in (({"GWK": KEY}, "~/.bashrc:2"), ({}, "")):
        home = Home(tmp_path, environ, profile=own)
        home.write({".bashrc": "# mine\nexport GWK=x\n", CLAUDE: "{}"})
        stands = standing(home.look("claude-code"), Finding("key_invalid"))
        assert stands.set_at == expected
    profile = replace(PROFILE, key=KeyRef.parse("env:GWK"))
    found = fix(
        effective(), Finding("key_invalid"), profile, Standing(is_set=True, set_at="~/.bashrc:2", key=lambda: OWN)
    )
    assert found is not None
    assert str(found.text).startswith("Set GWK to a key that the gateway takes at ~/.bashrc:2, and open a new terminal")


def test_what_is_edited_for_all_is_applied_to_all_that_have_it() -> None:
    standing = Standing(is_set=True, tools=("codex", "demo"))
    model, url = Finding("model_not_found", values={"near": "n"}), Finding("url_malformed", values={"address": "u"})
    own = replace(PROFILE, tool={"demo": {"model": "m"}})
    slot = replace(PROFILE, model="other", models={"small": "m"})
    asked = ((model, PROFILE), (url, PROFILE), (model, own), (model, slot))
    found = [fix(effective(), finding, profile, standing) for finding, profile in asked]
    every = "toolsync apply --tool codex --tool demo"
    assert [str(one.text) for one in found if one] == [
        f"toolsync profile edit work --set model=n && {every}",
        f"toolsync profile edit work --set base_url=u && {every}",
        "toolsync profile edit work --set tool.demo.model=n && toolsync apply --tool demo",
        f"toolsync profile edit work --set models.small=n && {every}",
    ]


NEEDS = {"--allow-plaintext": "it is a copy", "--lose-old-values": "it is lost"}
APPLIED = {
    "as it is": (Rehearsal(), APPLY, ()),
    "with what it needs": (Rehearsal(NEEDS), f"{APPLY} --allow-plaintext --lose-old-values", tuple(NEEDS.values())),
    "behind what stops it": (
        Rehearsal({}, "it is held", "Take it out."),
        f"Take it out. Then run `{APPLY}`.",
        ("it is held",),
    ),
    "in vain": (Rehearsal(is_vain=True), "unset KEY", ()),
    "in vain, of ours": (Rehearsal(is_vain=True), "Demo has all that the profile says, so that", ()),
}


@pytest.mark.parametrize(("rehearsal", "expected", "why"), APPLIED.values(), ids=APPLIED)
def test_apply_is_printed_as_it_goes_through(rehearsal: Rehearsal, expected: str, why: tuple[str, ...]) -> None:
    writes = not expected.startswith("unset")
    standing = Standing(True, writes=writes, rehearsal=lambda: rehearsal, taken_out=lambda: Fix("unset KEY"))
    found = fix(effective(), Finding("config_drift"), PROFILE, standing)
    assert found is not None
    assert (str(found.text)[: len(expected)], found.why) == (expected, why)
    assert " ".join(("toolsync", *found.argv)) == (str(found.text) if expected.startswith("toolsync") else "toolsync")


def test_apply_in_a_sentence_has_what_it_needs_too() -> None:
    standing = Standing(is_set=True, key=lambda: BROKEN, rehearsal=lambda: Rehearsal(NEEDS))
    shut = fix(effective(), Finding("key_invalid"), replace(PROFILE, key=KeyRef.parse("env:GWK")), standing)
    where = Where("dotenv", "KEY", "/h/.env", 1)
    other = fix(effective(), Finding("key_whitespace", where=where), PROFILE, replace(standing, writes=False))
    for found in (shut, other):
        assert f"`{APPLY} --allow-plaintext --lose-old-values`" in str(found.text if found else "")


@pytest.mark.parametrize("way", [Fix("unset USE_OTHER"), None], ids=["a variable", "a login"])
def test_what_toolsync_does_not_set_is_taken_out_at_its_place(way: Fix | None) -> None:
    where = Where("local", "env.USE_OTHER", "/h/s.json", 3)
    finding = Finding("base_url_not_honoured", where=where, values={"place": "~/s.json:3"})
    standing = Standing(is_set=True, writes=False, key=lambda: MISSING, taken_out=lambda: way)
    found = fix(effective(), finding, PROFILE, standing)
    assert found is not None
    assert str(found.text).startswith("unset USE_OTHER" if way else "Take the setting out at ~/s.json:3: toolsync")
    assert found.argv == ()


DEAD = "http://127.0.0.1:9"
OF_A_PROXY = {
    "alone": ({}, "unset HTTP_PROXY", "run `unset HTTP_PROXY` where"),
    "in both spellings": ({"http_proxy": DEAD}, "unset HTTP_PROXY", "run `unset HTTP_PROXY http_proxy` where"),
    "and for all": ({"ALL_PROXY": DEAD}, "unset HTTP_PROXY", "run `unset HTTP_PROXY ALL_PROXY` where"),
    "beside another": ({"http_proxy": "http://alive:1", "https_proxy": DEAD}, "unset HTTP_PROXY", "_PROXY` where"),
    "in a file": ({"http_proxy": DEAD}, say("unset_windows", variable="HTTP_PROXY"), "http_proxy says the same, and"),
}


@pytest.mark.parametrize(("others", "way", "expected"), OF_A_PROXY.values(), ids=OF_A_PROXY)
def test_every_variable_that_names_the_dead_proxy_is_taken_out(
    others: dict[str, str], way: Text, expected: str
) -> None:
    finding = Finding("proxy_unreachable", where=Where("environment", "$HTTP_PROXY"), values={"proxy": DEAD})
    standing = Standing(is_set=True, environ={"HTTP_PROXY": DEAD, **others}, taken_out=lambda: Fix(way))
    found = fix(replace(effective(), url="http://gw.example/v1"), finding, PROFILE, standing)
    assert found is not None
    assert expected in str(found.text)


def test_a_proxy_of_the_settings_that_the_shell_names_too_goes_from_both() -> None:
    place = Where("user", "env.http_proxy", "/h/s.json", 3)
    finding = Finding("proxy_unreachable", where=place, values={"proxy": DEAD})
    way = Fix(say("delete_setting", setting="env.http_proxy", place="~/s.json:3"))
    standing = Standing(is_set=True, environ={"http_proxy": DEAD, "HTTP_PROXY": DEAD}, taken_out=lambda: way)
    found = fix(replace(effective(), url="http://gw.example/v1"), finding, PROFILE, standing)
    assert "~/s.json:3. HTTP_PROXY says the same, and must go with it." in str(found.text if found else "")


OF_A_KEY = {
    "a file of its own beside ours": (
        Where("dotenv", "KEY", "/h/.env", 1),
        False,
        True,
        "Put it right at ~/.env:1, which",
    ),
    "ours": (Where("user", "key", "/h/s.json", 1), True, False, "toolsync apply --tool demo"),
    "the shell": (Where("environment", "$KEY"), False, False, "toolsync apply --tool demo"),
}


@pytest.mark.parametrize(("where", "writes", "is_set", "expected"), OF_A_KEY.values(), ids=OF_A_KEY)
def test_a_key_is_put_right_where_toolsync_does_not_write_it(
    where: Where, writes: bool, is_set: bool, expected: str
) -> None:
    finding = Finding("key_whitespace", where=where, values={"place": "~/.env:1"})
    found = fix(effective(), finding, PROFILE, Standing(is_set=is_set, writes=writes, key=lambda: Secret(KEY)))
    assert str(found.text if found else "").startswith(expected)


def test_a_key_that_nobody_knows_to_be_wrong_is_not_replaced() -> None:
    sure, unsure = (
        fix(effective(), Finding("key_invalid", certainty), PROFILE, Standing(is_set=True, key=lambda: Secret(KEY)))
        for certainty in ("likely", "open")
    )
    assert (sure is not None, unsure) == (True, None)


SET_AT = Where("environment", "$HTTP_PROXY", "/h/.bashrc", 3)
EXEMPTED: dict[str, tuple[dict[str, str], Where | None, str]] = {
    "this shell alone has it": ({}, None, "Run `export NO_PROXY=127.0.0.1,localhost,::1` where Demo is started"),
    "where the proxy is set": ({}, SET_AT, "Set NO_PROXY to `127.0.0.1,localhost,::1` beside the proxy, at HERE"),
    "what was there stays": (
        {"no_proxy": "a.example"},
        None,
        "Run `export no_proxy=a.example,127.0.0.1,localhost,::1`",
    ),
}


@pytest.mark.parametrize(("environ", "where", "expected"), EXEMPTED.values(), ids=EXEMPTED)
def test_a_proxy_that_catches_all_is_told_where_it_is_set(
    environ: dict[str, str], where: Where | None, expected: str
) -> None:
    finding = Finding("proxy_captures_loopback", values={"place": "HERE"}, where=where)
    found = fix(effective("http://127.0.0.1:8080/v1"), finding, PROFILE, Standing(is_set=True, environ=environ))
    assert str(found.text if found else "").startswith(expected)


UPPER_FIRST = Proxies(straight=("NO_PROXY", "no_proxy"), forms=("brackets",))
EXEMPTED_BY: dict[str, tuple[Proxies, dict[str, str], str]] = {
    "the one that it reads first": (UPPER_FIRST, {"no_proxy": "a", "NO_PROXY": "b"}, "NO_PROXY='b,127.0.0.1,"),
    "the one that hides the other": (Proxies(empty_hides=True), {"no_proxy": ""}, "no_proxy=127.0.0.1,localhost,::1"),
    "an address as it reads it": (UPPER_FIRST, {}, "NO_PROXY='127.0.0.1,localhost,[::1]'"),
    "commas, which all read": (Proxies(), {"NO_PROXY": "a b"}, "NO_PROXY=a,b,127.0.0.1,localhost,::1"),
}


@pytest.mark.parametrize(("rules", "environ", "expected"), EXEMPTED_BY.values(), ids=EXEMPTED_BY)
def test_the_variable_that_spares_a_host_is_the_one_that_the_program_reads(
    rules: Proxies, environ: dict[str, str], expected: str
) -> None:
    asked = replace(effective("http://127.0.0.1:8080/v1"), network=Network(proxy="http://p:1", rules=rules))
    found = fix(asked, Finding("proxy_captures_loopback"), PROFILE, Standing(is_set=True, environ=environ))
    assert str(found.text if found else "").startswith(f"Run `export {expected}")


def test_a_variable_for_the_proxy_mends_it_as_it_is_printed(tmp_path: Path) -> None:
    respond = {"status": 502, "headers": {"Content-Type": "text/plain"}, "text": "Bad Gateway"}
    row = case(ok(chat()), others={"corporate": {"type": "proxy", "mode": "respond", "respond": respond}})
    row["environment"]["env"] = {"HTTP_PROXY": "http://{corporate}"}
    with realised(tmp_path, row) as stage:
        before = diagnosed(stage).findings[0]
        line = re.search("`export (NO_PROXY)=([^`]+)`", before["fix"])
        assert (before["cause"], line is not None) == ("proxy_captures_loopback", True)
        stage.environ.update({line[1]: line[2]} if line else {})
        after = diagnosed(stage)
    assert (after.code, after.causes) == (0, [])


LIMITS = {
    "with a place": ({"place": "~/.codex/config.toml:3 (x)"}, "Raise the limit at ~/.codex/config.toml:3 (x) to 120"),
    "without one": ({}, "The tool has no setting for it"),
}


@pytest.mark.parametrize(("values", "expected"), LIMITS.values(), ids=LIMITS)
def test_a_limit_that_toolsync_does_not_set_is_no_matter_of_the_profile(values: dict[str, str], expected: str) -> None:
    finding = Finding("tool_timeout_too_short", values=values)
    standing = Standing(is_set=True, takes=frozenset())
    found = fix(effective("https://gw.example/v1"), finding, PROFILE, standing)
    assert found is not None
    assert str(found.text).startswith(expected)
    assert found.argv == ()


@pytest.mark.parametrize(("text", "expected"), [("active = [", "profile.toml:1:"), (None, "")], ids=["broken", "none"])
def test_a_profile_that_cannot_be_read_is_said(tmp_path: Path, text: str | None, expected: str) -> None:
    with realised(tmp_path, case(ok(chat()))) as stage:
        profile = stage.config / "profile.toml"
        profile.unlink()
        if text is not None:
            profile.write_text(text)
        _, out, err = run(stage, "doctor", "demo", "--json")
    told = json.loads(out)["messages"]
    assert [message["level"] for message in told] == ["warning"] * bool(expected), err
    assert expected in json.dumps(told)


def test_without_the_profile_nothing_is_called_well_and_the_profile_is_what_is_to_be_mended(tmp_path: Path) -> None:
    with realised(tmp_path, _set_to(baseUrl="http://{main}/v1/v1")) as stage:
        (stage.config / "profile.toml").write_text("active = [")
        (finding,) = diagnosed(stage).findings
        assert (finding["cause"], finding["command"]) == ("path_duplicate_v1", [])
        assert finding["fix"].startswith("Mend the profile by hand first")
        stage.write(stage.home / ".demo-tool" / "settings.json", json.dumps({"baseUrl": "http://127.0.0.1:9/v1"}))
        code, out, _ = run(stage, "doctor", "demo", "--offline")
        assert (code, "✓ Demo Tool" in out) == (1, True)


def test_where_nothing_is_found_for_want_of_the_profile_its_fault_is_the_answer(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write({".config/toolsync/profile.toml": "active = ["})
    with pytest.raises(ProfileError, match=r"profile\.toml:1:"):
        doctor(home.session(), Options())


WITHOUT_PROFILE: dict[str, tuple[dict[str, str], str, str]] = {
    "an address": (
        {"baseUrl": "http://{main}/v1/v1"},
        "path_duplicate_v1",
        r"Write `http://[\d.:]+/v1` at ~/\.demo-tool/settings\.json:1 \(baseUrl\), and start the tool anew; ",
    ),
    "a key": (
        {"apiKey": f"Bearer {KEY}"},
        "key_not_a_key",
        r"Put the key right at ~/\.demo-tool/settings\.json:1 \(apiKey\), and start the tool anew; ",
    ),
    "what only a profile does": ({"baseUrl": "https://{main}/v1"}, "scheme_mismatch", r".* There is no profile yet, "),
}


@pytest.mark.parametrize(("values", "cause", "expected"), WITHOUT_PROFILE.values(), ids=WITHOUT_PROFILE)
def test_without_a_profile_the_way_out_needs_none_or_makes_one(
    tmp_path: Path, values: dict[str, str], cause: str, expected: str
) -> None:
    with realised(tmp_path, _set_to(**values)) as stage:
        (stage.config / "profile.toml").unlink()
        finding = diagnosed(stage).findings[0]
        assert finding["cause"] == cause
        assert re.match(expected, finding["fix"])
        printed = re.search(r"`toolsync (init .+?)`", finding["fix"])
        assert printed is not None
        assert finding["command"] == shlex.split(printed[1])
        code, _, err = run(stage, *finding["command"])
        assert code == 0, err


def test_without_a_profile_nothing_is_applied() -> None:
    finding = Finding("key_helper_failed", fix=Fix(APPLY, ("apply", "--tool", "demo")), values={"place": "HERE"})
    for begin, expected in ((("init", "--base-url", "u"), ("init", "--base-url", "u")), ((), ())):
        found = fix(effective(), finding, None, Standing(is_set=True, begin=begin))
        assert (found.argv if found else ()) == expected


def test_a_first_profile_takes_the_key_from_the_variable_that_the_settings_name(tmp_path: Path) -> None:
    own = {"ANTHROPIC_BASE_URL": "https://gw.example", "ANTHROPIC_AUTH_TOKEN": KEY}
    home = Home(tmp_path, {"MY_KEY": KEY, **own}, profile=None)
    table = '[model_providers.q]\nbase_url = "https://gw.example/v1"\nenv_key = "MY_KEY"\n'
    home.write({".codex/config.toml": f'model = "m"\nmodel_provider = "q"\n{table}'})
    told = {tool: shlex.join(first_profile(home.look(tool))) for tool in ("codex", "claude-code")}
    assert told == {
        "codex": "init --base-url https://gw.example/v1 --model m --key-from env:MY_KEY",
        "claude-code": "init --base-url https://gw.example",  # `apply` empties that variable, `init` asks
    }


@pytest.mark.parametrize("address", ["https://two.example", "https://gw.example"])
def test_a_good_key_at_another_address_than_the_profiles_is_not_replaced(tmp_path: Path, address: str) -> None:
    second = '[profiles.two]\nbase_url = "https://two.example"\nmodel = "m"\nkey = "keyring:two"\n'
    home = Home(tmp_path, profile=PROFILE_TEXT + second)
    stated = {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_AUTH_TOKEN": home.key}
    home.write({CLAUDE: json.dumps({"env": stated})})
    look = home.look("claude-code")
    refused = Finding("key_invalid", "sure")
    mended = fix(look.effective, refused, look.world.profile, standing(look, refused))
    assert mended is not None
    assert mended.argv == ("apply", "--tool", "claude-code")


@pytest.mark.parametrize("cause", ["key_invalid", "key_missing"])
@pytest.mark.parametrize(("policy", "is_by_hand"), [("never", True), ("allow", False)])
def test_a_key_is_not_taken_out_of_the_only_place_that_a_program_has_for_one(
    tmp_path: Path, cause: str, policy: str, is_by_hand: bool
) -> None:
    profile = f'{PROFILE_TEXT}plaintext = "{policy}"\n'
    home = Home(tmp_path, profile=profile)
    home.write({".config/toolsync/profile.toml": profile})
    keys = {"openAiApiKey": OTHER} if cause == "key_invalid" else {}
    home.write({".cline/data/globalState.json": "{}", ".cline/data/secrets.json": json.dumps(keys)})
    mended = Mending(home.look("cline", "vscode")).of(Finding(cause, "sure"))
    assert mended is not None
    assert bool(mended.argv) is not is_by_hand
    assert ("profile edit work --set plaintext=ask" in tell(mended.text)) is is_by_hand


def test_where_apply_changes_nothing_the_variable_is_named_that_the_key_comes_from() -> None:
    standing = Standing(
        is_set=True,
        variable="RELAY_KEY",
        key=lambda: Secret(KEY),
        rehearsal=lambda: Rehearsal(is_vain=True),
    )
    found = fix(effective(), Finding("key_missing", "likely"), PROFILE, standing)
    assert found is not None
    assert "RELAY_KEY" in tell(found.text)


def test_a_first_profile_takes_no_key_from_a_variable_that_an_entry_of_the_keyring_stands_for(tmp_path: Path) -> None:
    vault = MemoryVault()
    vault.set(Entry.of("ai.mistral.vibe", "G_KEY"), Secret(KEY))
    home = Home(tmp_path, profile=None, vault=vault)
    home.write({".vibe/config.toml": VIBE})
    look = home.look("mistral-vibe")
    assert [one.where.layer for one in look.effective.credentials] == ["keyring"]
    assert "--key-from" not in first_profile(look)


VIBE = (
    'active_model = "m"\n[[providers]]\nname = "g"\napi_base = "http://gw/v1"\napi_key_env_var = "G_KEY"\n'
    '[[models]]\nname = "m"\nprovider = "g"\nalias = "m"\n'
)
