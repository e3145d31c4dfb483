"""Profiles that begin in a shared file: what needs consent, whose word counts, what is refused."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from tests.https_site import Site, running
from tests.keys import invented
from toolsync import key_print
from toolsync.commands.profiles import trusting, verbs
from toolsync.commands.profiles.show import show
from toolsync.commands.staying import _settings
from toolsync.errors import FileError, ProfileError, ToolsyncError, UsageError
from toolsync.paths import Places
from toolsync.profile import shared
from toolsync.profile.reader import read
from toolsync.session import Session

TEAM = """\
[profiles.work]
base_url = "https://gateway.example/api"
model = "team-model"
key = "command:printf team-key"

[profiles.work.request]
max_tokens = 4096
timeout_seconds = 30
headers = { X-Team = "tools" }
"""
OWN = 'active = "team"\n\n[profiles.team]\nfrom = "~/team/toolsync.toml#work"\nmodel = "my-model"  # mine\n'


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A machine whose profile begins in a repository's file."""
    places = Places(tmp_path, {"PATH": os.environ["PATH"]}, tmp_path, Path(tmp_path.anchor), "linux")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "profile.toml").write_text(OWN, encoding="utf-8")
    (tmp_path / "team" / ".git").mkdir(parents=True)
    (tmp_path / "team" / "toolsync.toml").write_text(TEAM, encoding="utf-8")
    return Session(places, tmp_path / "config" / "profile.toml", tmp_path / "state", _no_vault)


def _no_vault() -> NoReturn:
    raise AssertionError("no verb on profiles needs a key")


def _trust(session: Session, sha256: str | None = None) -> None:
    trusting.execute(session, trusting.plan(session, None, sha256))


def _share(session: Session, text: str) -> None:
    (session.places.home / "team" / "toolsync.toml").write_text(text, encoding="utf-8")


def _own(session: Session, text: str) -> None:
    session.config.write_text(text, encoding="utf-8")


# Consent


def test_nothing_of_a_shared_profile_is_used_without_consent(session: Session) -> None:
    with pytest.raises(ProfileError) as caught:
        session.profiles().get()
    assert caught.value.message == (
        "~/config/profile.toml:4: profiles.team.from: ~/team/toolsync.toml says what needs your consent: "
        "base_url (line 2), key (line 4), request.headers.X-Team (line 9)"
    )
    assert caught.value.hint == "`toolsync profile trust team` shows it, and asks."
    assert session.profiles().names == ("team",)


def test_consent_shows_what_it_allows_and_writes_one_line(session: Session) -> None:
    planned = trusting.plan(session, "team", None)
    assert trusting.data(planned)["allows"] == [
        {"field": "base_url", "value": "https://gateway.example", "line": 2},
        {"field": "key", "value": "command:printf team-key", "line": 4},
        {"field": "request.headers.X-Team", "value": "tools", "line": 9},
    ]
    assert session.config.read_text(encoding="utf-8") == OWN
    trusting.execute(session, planned)
    trusted = session.config.read_text(encoding="utf-8").removeprefix(OWN)
    assert trusted == f'trusted = "{shared.digest(planned.wanted)}"\n'
    assert session.profiles().get().base_url == "https://gateway.example/api"
    assert trusting.plan(session, "team", None).is_nothing


CHANGES = {
    "another model": ('"team-model"', '"other"', True),
    "another limit": ("4096", "1", True),
    "a path at the same origin": ("example/api", "example/other", True),
    "a comment above all": ("[profiles.work]\n", "# moved\n[profiles.work]\n", True),
    "another profile": (TEAM, f'{TEAM}[profiles.b]\nbase_url = "http://b"\nmodel = "m"\nkey = "env:B"\n', True),
    "another gateway": ("key =", 'gateway = "openai"\nkey =', False),
    "a variable in an address": ("example/api", "example/$GITHUB_TOKEN", False),
    "a variable as LiteLLM writes it": ("key =", 'title = "os.environ/GITHUB_TOKEN"\nkey =', False),
    "a variable as Windows does": ("key =", 'title = "%GITHUB_TOKEN%"\nkey =', False),
    "what a template fills in": ("key =", 'title = "{{ env.GITHUB_TOKEN }}"\nkey =', False),
    "another origin": ("gateway.example", "gateway.example.org", False),
    "plain http": ("https://gateway", "http://gateway", False),
    "another command": ("team-key", "other-key", False),
    "another key": ("command:printf team-key", "env:GITHUB_TOKEN", False),
    "another header": ('"tools"', '"env:GITHUB_TOKEN"', False),
    "a new header": ('"tools"', '"tools", X-More = "1"', False),
    "an address of one protocol": (TEAM, f'{TEAM}[profiles.work.urls]\nopenai = "https://o.example/v1"\n', False),
    "a proxy": (TEAM, f'{TEAM}[profiles.work.network]\nproxy = "http://p.example:1"\n', False),
    "certificates": (TEAM, f'{TEAM}[profiles.work.network]\nca_bundle = "/ca.pem"\n', False),
    "a copy of the key": ("key =", 'plaintext = "allow"\nkey =', False),
    "no copy of the key": ("key =", 'plaintext = "never"\nkey =', True),
    "files to write": (TEAM, f'{TEAM}[profiles.work.tool.config-toml]\npaths = ["~/.bashrc"]\n', False),
    "how a tool has the key": (TEAM, f'{TEAM}[profiles.work.tool.codex]\nkey_way = "env"\n', False),
    "a tool's address": (TEAM, f'{TEAM}[profiles.work.tool.codex.urls]\nopenai = "https://o.example"\n', False),
    "a tool's header": (TEAM, f'{TEAM}[profiles.work.tool.codex.request]\nheaders = {{ X-A = "1" }}\n', False),
    "a tool's model": (TEAM, f'{TEAM}[profiles.work.tool.codex]\nmodel = "m"\nrequest.stream = true\n', True),
    "a file in a model's name": (TEAM, f'{TEAM}[profiles.work.models]\nsmall = "{{file:~/.ssh/id_rsa}}"\n', False),
    "a variable in a title": ("key =", 'title = "Team ${GITHUB_TOKEN}"\nkey =', False),
    "a price in a title": ("key =", 'title = "Team, 5 $ {a} month"\nkey =', True),
    "one thing less": ('headers = { X-Team = "tools" }\n', "", False),
}


@pytest.mark.parametrize(("before", "after", "is_free"), CHANGES.values(), ids=CHANGES)
def test_consent_ends_with_a_change_of_what_it_is_about(
    session: Session, before: str, after: str, is_free: bool
) -> None:
    _trust(session)
    assert TEAM.count(before) == 1
    _share(session, TEAM.replace(before, after))
    profiles = session.profiles()
    assert ("team" not in profiles.missing) == is_free
    if not is_free:
        assert "says otherwise than you agreed to" in profiles.missing["team"].message
        _trust(session)
        assert not session.profiles().missing


CHANGED = {
    "another origin": ("gateway.example", "gateway.example.org", "base_url (line 2)"),
    "a new header": ('"tools"', '"tools", X-More = "1"', "request.headers.X-More (line 9, which is new)"),
    "one thing less": ('headers = { X-Team = "tools" }\n', "", "request.headers.X-Team (gone)"),
}


@pytest.mark.parametrize(("before", "after", "told"), CHANGED.values(), ids=CHANGED)
def test_a_refusal_names_what_is_another_thing_than_was_agreed_to(
    session: Session, before: str, after: str, told: str
) -> None:
    _trust(session)
    _share(session, TEAM.replace(before, after))
    message = session.profiles().missing["team"].message
    assert message.endswith(f"~/team/toolsync.toml says otherwise than you agreed to: {told}")


@pytest.mark.parametrize("damage", ["gone", "another's word", "no JSON"])
def test_where_it_is_not_kept_what_was_agreed_to_all_of_it_is_named(session: Session, damage: str) -> None:
    _trust(session)
    (kept,) = (session.config.parent / "shared").glob("*.json")
    if damage == "gone":
        kept.unlink()
    else:
        kept.write_text("[]" if damage == "another's word" else "{", encoding="utf-8")
    _share(session, TEAM.replace("team-key", "other-key"))
    told = "base_url (line 2), key (line 4), request.headers.X-Team (line 9)"
    assert session.profiles().missing["team"].message.endswith(f"than you agreed to: {told}")


def test_the_key_of_a_shared_profile_is_printed_only_with_consent(
    session: Session, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(session.places.home))
    request = key_print.Request(None, str(session.config))
    assert key_print.run(request) == 2
    assert "says what needs your consent" in capfd.readouterr().err
    _trust(session)
    assert key_print.run(request) == 0
    assert capfd.readouterr().out == "team-key\n"
    _share(session, TEAM.replace("team-key", "other-key"))
    assert key_print.run(request) == 2
    out, err = capfd.readouterr()
    assert (out, "says otherwise than you agreed to" in err) == ("", True)


def test_a_profile_of_which_all_that_matters_is_one_s_own_needs_no_consent(session: Session) -> None:
    _share(session, '[profiles.work]\nmodel = "team-model"\nrequest.max_tokens = 4096\n')
    _own(session, f'{OWN}base_url = "https://h.example"\nkey = "env:K"\n')
    profile = session.profiles().get()
    assert (profile.model, profile.base_url, profile.request["max_tokens"]) == ("my-model", "https://h.example", 4096)
    planned = trusting.plan(session, None, None)
    assert planned.is_nothing
    assert planned.wanted == {}


# Whose word counts


def test_one_s_own_value_wins_over_the_shared_one_value_by_value(session: Session) -> None:
    mine = '[profiles.team.request]\nmax_tokens = 1\nheaders = { X-Mine = "2" }\n'
    _own(session, f'{OWN}key = "env:MINE"\n{mine}')
    _trust(session)
    profile = session.profiles().get()
    assert (profile.model, str(profile.key)) == ("my-model", "env:MINE")
    assert profile.request == {
        "max_tokens": 1,
        "timeout_seconds": 30,
        "headers": {"X-Team": "tools", "X-Mine": "2"},
    }
    allowed = [one["field"] for one in trusting.data(trusting.plan(session, None, None))["allows"]]
    assert allowed == ["base_url", "request.headers.X-Team"]


def test_a_header_of_one_s_own_wins_in_whatever_case(session: Session) -> None:
    _own(session, f'{OWN}request.headers = {{ x-team = "mine" }}\n')
    _trust(session)
    assert session.profiles().get().request["headers"] == {"x-team": "mine"}
    allowed = [one["field"] for one in trusting.data(trusting.plan(session, None, None))["allows"]]
    assert allowed == ["base_url", "key"]


def test_show_names_the_file_and_line_of_each_fact(session: Session) -> None:
    _trust(session)
    data = show(session, None, None).data
    origins = {fact["name"]: fact["origin"] for fact in data["facts"]}
    assert data["key_origin"] == "profiles.team.key (~/team/toolsync.toml:4)"
    assert origins["openai_url"] == "profiles.team.base_url (~/team/toolsync.toml:2)"
    assert origins["max_tokens"] == "profiles.team.request.max_tokens (~/team/toolsync.toml:7)"
    assert origins["model"] == "profiles.team.model"


def test_another_profile_works_while_a_shared_one_cannot_be_had(session: Session) -> None:
    _own(session, f'{OWN}\n[profiles.home]\nbase_url = "http://h"\nmodel = "m"\nkey = "env:K"\n')
    (session.places.home / "team" / "toolsync.toml").unlink()
    profiles = session.profiles()
    assert (profiles.get("home").model, profiles.names) == ("m", ("team", "home"))
    verbs.use(session, "home")
    verbs.rename(session, "team", "group")
    verbs.edit(session, "group", ["model=other"])
    verbs.remove(session, "group")
    assert session.profiles().names == ("home",)


def test_a_new_name_changes_nothing_of_where_a_profile_begins(session: Session) -> None:
    _own(session, OWN.replace("toolsync.toml#work", "toolsync.toml"))
    _share(session, TEAM.replace("profiles.work", "profiles.team"))
    _trust(session)
    before = session.profiles().get("team")
    verbs.rename(session, "team", "group")
    assert replace(session.profiles().get("group"), name="team") == before


# What is refused

KEY = invented("shared")
BAD: dict[str, tuple[str | bytes, str]] = {
    "a key": (f'[profiles.work]\nkey = "{KEY}"\n', "~/team/toolsync.toml:2: profiles.work.key: the value "),
    "a key elsewhere": (f'# x\n[profiles.b]\ntitle = "{KEY}"\n', "~/team/toolsync.toml:3: profiles.b.title: the value"),
    "a secret header": (
        '[profiles.work]\nrequest.headers = { X-Api-Key = "x" }\n',
        "~/team/toolsync.toml:2: profiles.work.request.headers.X-Api-Key: the value is secret by its name",
    ),
    "the next file": (
        '[profiles.work]\nfrom = "~/next.toml"\n',
        "~/team/toolsync.toml:2: profiles.work.from: only your own profile.toml may say this",
    ),
    "consent to itself": (
        f'[profiles.work]\nfrom = "~/x"\ntrusted = "{"0" * 64}"\n',
        "~/team/toolsync.toml:2: profiles.work.from: only your own profile.toml may say this",
    ),
    "no such profile": ('[profiles.other]\nmodel = "m"\n', "~/team/toolsync.toml: there is no profile 'work'"),
    "nothing": ("", "~/team/toolsync.toml: there is no profile 'work'"),
    "no TOML": ("[profiles.work\n", "~/team/toolsync.toml:1:15: "),
    "a field that there is not": ("[profiles.work]\nmodle = 1\n", "~/team/toolsync.toml:2: profiles.work.modle: there"),
    "no UTF-8": (b'[profiles.work]\nmodel = "\xff"\n', "~/team/toolsync.toml:2:"),
    "a NUL": (b"\0", "~/team/toolsync.toml:1:1: "),
    "an escape character": ('[profiles.work]\nmodel = "\\u001b[2J"\n', "~/team/toolsync.toml:2: profiles.work.model: "),
    "too much": ("#" * (shared.LIMIT_BYTES + 1), "~/team/toolsync.toml has more than 32,768 bytes"),
    "lists in lists": ("a = " + "[" * 30_000, "~/team/toolsync.toml"),
    "tables in tables": ("a = " + "{b=" * 10_000, "~/team/toolsync.toml"),
    "keys in keys": ("a." * 15_000 + "b = 1", "~/team/toolsync.toml"),
    "many mistakes": (
        "".join(f"a{n} = 1\n" for n in range(3000)),
        "~/team/toolsync.toml:1: a0: there is no such field",
    ),
    "lacking a key": (
        '[profiles.work]\nbase_url = "https://gateway.example"\n',
        "with what is shared, profiles.team: 'key' is missing",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD)
def test_what_a_shared_file_may_not_say(session: Session, content: str | bytes, message: str) -> None:
    raw = content.encode() if isinstance(content, str) else content
    (session.places.home / "team" / "toolsync.toml").write_bytes(raw)
    if "is missing" in message:
        _trust(session)
    with pytest.raises(ProfileError) as caught:
        session.profiles().get()
    assert f"~/config/profile.toml:4: profiles.team.from: {message}" in caught.value.message
    assert caught.value.hint
    assert KEY not in f"{caught.value.message}{caught.value.hint}"


PLACES = {
    "plain http": ("http://h.example/t.toml", "is neither a path"),
    "a relative path": ("../team/toolsync.toml", "is neither a path"),
    "a password": ("https://u:p@h.example/t.toml", "is neither a path"),
    "a query": ("https://h.example/t.toml?token=x", "is neither a path"),
    "no file": ("https://h.example", "is neither a path"),
    "a name that is none": ("~/t.toml#a b", "is neither a path"),
    "a control character": ("~/t\\u0007.toml", "is neither a path"),
    "no hash": ("https://h.example/t.toml", "an address is taken only with `sha256`"),
}


@pytest.mark.parametrize(("place", "message"), PLACES.values(), ids=PLACES)
def test_where_no_profile_is_taken_from(place: str, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        read(f'[profiles.team]\nfrom = "{place}"\n')
    assert caught.value.message.startswith("profile.toml:2: profiles.team.from: ")
    assert message in caught.value.message


LONELY = {
    "a hash without an address": ('from = "~/t.toml"\nsha256 =', "sha256: it is for a `from` that is an address"),
    "consent to nothing": (
        'base_url = "http://h"\nmodel = "m"\nkey = "env:K"\ntrusted =',
        "trusted: there is no `from`",
    ),
}


@pytest.mark.parametrize(("text", "message"), LONELY.values(), ids=LONELY)
def test_what_only_a_shared_profile_has_stands_in_no_other(text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        read(f'[profiles.team]\n{text} "{"0" * 64}"\n')


def test_a_file_that_is_missing_is_said_to_be(session: Session) -> None:
    (session.places.home / "team" / "toolsync.toml").unlink()
    with pytest.raises(
        ProfileError, match=r"profile\.toml:4: profiles\.team\.from: ~/team/toolsync\.toml is not there$"
    ):
        session.profiles().get()


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
def test_no_link_leads_out_of_the_repository_and_no_pipe_is_read(session: Session) -> None:
    file, outside = session.places.home / "team" / "toolsync.toml", session.places.home / "outside.toml"
    file.rename(outside)
    file.symlink_to(outside)
    with pytest.raises(ProfileError, match="leads out of "):
        session.profiles().get()
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ProfileError, match="is a device, pipe or socket"):
        session.profiles().get()


def test_a_profile_of_one_s_own_has_nothing_to_agree_to(session: Session) -> None:
    _own(session, '[profiles.a]\nbase_url = "http://h"\nmodel = "m"\nkey = "env:K"\n')
    with pytest.raises(UsageError, match="is all your own"):
        trusting.plan(session, "a", None)


def test_of_many_mistakes_the_first_ten_are_named(session: Session) -> None:
    _share(session, "".join(f"a{n} = 1\n" for n in range(30)))
    with pytest.raises(ProfileError) as caught:
        session.profiles().get()
    lines = caught.value.message.splitlines()
    assert (len(lines), lines[-1]) == (11, "~/team/toolsync.toml: and 20 more")


def test_a_hash_is_no_word_on_a_file(session: Session) -> None:
    with pytest.raises(UsageError, match="is for a profile from an address"):
        trusting.plan(session, "team", "0" * 64)


# From an address


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running(tmp_path, TEAM.encode()) as found:
        yield found


@pytest.fixture
def addressed(session: Session, site: Site) -> Session:
    """The machine with a profile from that server, under the hash of what it answers at first."""
    _own(session, _pinned(site, site.body))
    places = replace(session.places, environ={**session.places.environ, "SSL_CERT_FILE": str(site.roots)})
    return replace(session, places=places)


def _pinned(site: Site, body: bytes) -> str:
    return f'active = "team"\n\n[profiles.team]\nfrom = "{site.url}#work"\nsha256 = "{_hash(body)}"\n'


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def test_an_address_is_fetched_once_and_never_asked_again(addressed: Session, site: Site) -> None:
    with pytest.raises(ProfileError, match=r"profile\.toml:4: profiles\.team\.from: what https://\S+ says is not kept"):
        addressed.profiles().get()
    assert site.asked == []
    _trust(addressed)
    assert len(site.asked) == 1
    assert not {name.lower() for name in site.asked[0]} & {"authorization", "x-api-key", "cookie"}
    site.status = 500
    assert addressed.profiles().get().model == "team-model"
    assert trusting.plan(addressed, None, None).is_nothing
    assert len(site.asked) == 1


def test_uninstall_names_what_was_fetched(addressed: Session) -> None:
    _trust(addressed)
    assert ("~/config/shared", "what was fetched for your profiles, and what you agreed to; it holds no key") in {
        (one.name, one.reason) for one in _settings(addressed)
    }


def test_what_has_changed_is_refused_until_its_hash_is_named(addressed: Session, site: Site) -> None:
    _trust(addressed)
    before = addressed.config.read_bytes()
    site.body = TEAM.replace("gateway.example", "other.example").encode()
    _own(addressed, before.decode().replace(_hash(TEAM.encode()), "0" * 64))
    with pytest.raises(ProfileError) as caught:
        trusting.plan(addressed, None, None)
    assert f"has the hash {_hash(site.body)}, and not {'0' * 64}" in caught.value.message
    assert f"`toolsync profile trust team --sha256 {_hash(site.body)}`" in caught.value.hint
    addressed.config.write_bytes(before)
    planned = trusting.plan(addressed, None, _hash(site.body))
    assert '-base_url = "https://gateway.example/api"' in planned.difference
    assert '+base_url = "https://other.example/api"' in planned.difference
    assert addressed.config.read_bytes() == before
    trusting.execute(addressed, planned)
    assert addressed.profiles().get().base_url == "https://other.example/api"


@pytest.mark.parametrize("sha256", ["", "0", "A" * 64, "../../other", f"{'0' * 64}\n"])
def test_what_is_no_hash_is_not_gone_by(addressed: Session, site: Site, sha256: str) -> None:
    with pytest.raises(UsageError, match="is no SHA-256"):
        trusting.plan(addressed, None, sha256)
    assert site.asked == []


def test_what_is_kept_and_no_longer_has_its_hash_is_not_used(addressed: Session) -> None:
    _trust(addressed)
    kept = next((addressed.config.parent / "shared").iterdir())
    kept.write_bytes(kept.read_bytes() + b"#")
    with pytest.raises(ProfileError, match="is not kept here"):
        addressed.profiles().get()
    _trust(addressed)
    assert addressed.profiles().get().model == "team-model"


Answer = tuple[int, dict[str, str], bytes]
ANSWERS: dict[str, tuple[Answer, str]] = {
    "a redirect": ((302, {"Location": "https://evil.example/"}, b""), r"answers with a redirect \(302\)"),
    "nothing there": ((404, {}, b""), "answers with status 404"),
    "an empty file": ((200, {}, b""), "has the hash e3b0c44"),
    "too much": ((200, {}, b"#" * (2 * 2**20)), "has more than 32,768 bytes"),
    "half of it": ((200, {"Content-Length": "100000"}, b"#"), "has the hash "),
}


@pytest.mark.parametrize(("answer", "message"), ANSWERS.values(), ids=ANSWERS)
def test_what_an_address_may_not_answer(addressed: Session, site: Site, answer: Answer, message: str) -> None:
    site.status, site.headers, site.body = answer
    with pytest.raises(ProfileError, match=message) as caught:
        trusting.plan(addressed, None, None)
    assert caught.value.message.startswith(site.url)
    assert caught.value.hint
    assert not (addressed.config.parent / "shared").exists()


def test_a_certificate_that_nobody_vouches_for_ends_it(addressed: Session, site: Site) -> None:
    places = replace(addressed.places, environ={})
    with pytest.raises(ProfileError, match="cannot be fetched: ") as caught:
        trusting.plan(replace(addressed, places=places), None, None)
    assert "`toolsync profile edit team --set network.ca_bundle=FILE`" in caught.value.hint
    assert site.asked == []


def test_a_file_of_certificates_at_home_vouches_for_it(addressed: Session, site: Site) -> None:
    (addressed.places.home / "ca.pem").write_bytes(site.roots.read_bytes())
    _own(addressed, _pinned(site, site.body) + '\n[profiles.team.network]\nca_bundle = "~/ca.pem"\n')
    trusting.plan(replace(addressed, places=replace(addressed.places, environ={})), None, None)
    assert len(site.asked) == 1


def test_an_address_that_cannot_be_reached_is_no_gateway(addressed: Session, site: Site) -> None:
    _own(addressed, _pinned(site, site.body).replace(site.url, "https://127.0.0.1:9/toolsync.toml"))
    with pytest.raises(ProfileError, match="cannot be fetched: nothing listens") as caught:
        trusting.plan(addressed, None, None)
    assert caught.value.hint.startswith("Look whether `from` of profile 'team' in ")


def test_what_is_fetched_is_judged_before_it_is_kept(addressed: Session, site: Site) -> None:
    site.body = f'[profiles.work]\nkey = "{KEY}"\n'.encode()
    _own(addressed, _pinned(site, site.body))
    with pytest.raises(ToolsyncError) as caught:
        trusting.plan(addressed, None, None)
    assert f"{site.url}:2: profiles.work.key: the value " in caught.value.message
    assert KEY not in caught.value.message
    assert not (addressed.config.parent / "shared").exists()


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_no_link_stands_in_for_what_is_kept(addressed: Session, tmp_path: Path) -> None:
    _trust(addressed)
    kept = next((addressed.config.parent / "shared").iterdir())
    kept.rename(tmp_path / "elsewhere")
    kept.symlink_to(tmp_path / "elsewhere")
    with pytest.raises((ProfileError, FileError), match="is a link, folder, device or pipe"):
        addressed.profiles().get()
