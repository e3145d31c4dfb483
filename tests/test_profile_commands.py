"""`init` and the verbs on profiles, on real files and with real editors."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from toolsync import resources
from toolsync.commands.init import Wanted, init, profile_table
from toolsync.commands.profiles import draft as drafts
from toolsync.commands.profiles import verbs
from toolsync.commands.profiles.file import saved
from toolsync.errors import ChangedError, FileError, ProfileError, UsageError
from toolsync.gateways import gateways
from toolsync.paths import Places
from toolsync.profile.reader import read
from toolsync.session import Session

KNOWN = gateways(Path("nowhere"))
WORK = '[profiles.work]\nbase_url = "http://h"\nmodel = "m"  # cheap\nkey = "env:K"\n'

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A machine of its own, with no profile file."""
    places = Places(tmp_path, {"PATH": os.environ["PATH"]}, tmp_path, Path(tmp_path.anchor), "linux")
    return Session(places, tmp_path / "config" / "profile.toml", tmp_path / "state", _no_vault)


def _no_vault() -> NoReturn:
    raise AssertionError("no verb on profiles needs a key")


@pytest.fixture
def worked(session: Session) -> Session:
    """The same, with a profile."""
    session.config.parent.mkdir()
    session.config.write_bytes(WORK.encode())
    return session


# init


def test_init_makes_a_private_file_with_the_schema_beside_it(session: Session) -> None:
    table = profile_table("work", Wanted(KNOWN["taotoken"], model="some-model"))
    edited = init(session, "work", table)
    assert edited.before == ""
    assert session.config.read_bytes().decode() == edited.after
    assert edited.after == (Path(__file__).parent / "golden" / "init.toml").read_bytes().decode()
    beside = session.config.with_name("profile.schema.json")
    assert beside.read_bytes() == (resources.folder("schemas") / "profile.schema.json").read_bytes()
    assert sorted(path.name for path in session.config.parent.iterdir()) == ["profile.schema.json", "profile.toml"]
    if os.name == "posix":
        assert stat.S_IMODE(session.config.stat().st_mode) == 0o600
    assert session.profiles().get().name == "work"


def test_init_again_with_the_same_values_touches_nothing(session: Session) -> None:
    table = profile_table("work", Wanted(KNOWN["deepseek"], model="m"))
    init(session, "work", table)
    before = session.config.stat()
    edited = init(session, "work", table)
    assert edited.before == edited.after
    assert session.config.stat() == before


def test_init_takes_a_pasted_model_without_the_blanks_around_it() -> None:
    plain, pasted = (profile_table("work", Wanted(base_url="http://h", model=model)) for model in ("m", " m "))
    assert pasted == plain
    with pytest.raises(UsageError, match="no model is named"):
        profile_table("work", Wanted(base_url="http://h", model=" "))


def test_init_never_overwrites_a_profile(session: Session) -> None:
    init(session, "work", profile_table("work", Wanted(base_url="http://h", model="m")))
    before = session.config.read_bytes()
    with pytest.raises(ProfileError, match=r"^~/config/profile\.toml: there is a profile 'work' already$") as caught:
        init(session, "work", profile_table("work", Wanted(base_url="http://h", model="other")))
    assert "profile edit work" in caught.value.hint
    assert session.config.read_bytes() == before


def test_init_adds_a_second_profile(session: Session) -> None:
    init(session, "work", profile_table("work", Wanted(base_url="http://h", model="m")))
    edited = init(session, "home", profile_table("home", Wanted(KNOWN["ollama"], model="q")), active=False)
    assert edited.after.startswith(edited.before)
    assert (session.profiles().active, session.profiles().names) == ("work", ("work", "home"))


def test_init_writes_nothing_that_is_not_allowed(session: Session) -> None:
    with pytest.raises(ProfileError):
        init(session, "work", {"base_url": "http://h", "model": "m", "key": "sk-not-shown"})
    with pytest.raises(ProfileError):
        init(session, "[red]\x1b", profile_table("x", Wanted(base_url="http://h", model="m")))
    assert not session.config.parent.exists()


def test_a_name_that_is_none_is_called_one(session: Session) -> None:
    """And not a wrong key, although the key would be kept under that name."""
    with pytest.raises(ProfileError, match=r"^'two words' is no name for a profile$"):
        init(session, "two words", profile_table("two words", Wanted(base_url="http://h", model="m")))


def test_init_does_not_touch_a_file_that_is_no_toml(worked: Session) -> None:
    worked.config.write_text("[broken", encoding="utf-8")
    with pytest.raises(ProfileError, match=r"^~/config/profile\.toml:1:\d+: "):
        init(worked, "new", profile_table("new", Wanted(base_url="http://h", model="m")))
    assert worked.config.read_text(encoding="utf-8") == "[broken"


@pytest.mark.parametrize("name", KNOWN)
def test_every_known_gateway_makes_a_valid_profile(session: Session, name: str) -> None:
    gateway = KNOWN[name]
    base_url = None if gateway.base_url else "https://gateway.example.com"
    init(session, name, profile_table(name, Wanted(gateway, base_url, model="m")))
    profile = session.profiles().get()
    assert (profile.gateway, profile.title) == (name, gateway.title)
    assert dict(profile.urls) == dict(gateway.urls)


def test_another_address_goes_without_the_gateway_s_own_ones() -> None:
    gateway = KNOWN["deepseek"]
    assert gateway.base_url
    same = profile_table("x", Wanted(gateway, f"{gateway.base_url}/", model="m"))
    other = profile_table("x", Wanted(gateway, "https://mirror.example.com", model="m"))
    assert same["urls"] == dict(gateway.urls)
    assert "urls" not in other


WANTING = {
    "nothing": (Wanted(), UsageError, "no gateway is named"),
    "no address": (Wanted(KNOWN["new-api"], model="m"), UsageError, "New API has no address of its own"),
    "no model": (Wanted(KNOWN["openai"]), UsageError, "no model is named"),
    "no address at all": (
        Wanted(base_url="nonsense", model="m"),
        ProfileError,
        "the address does not start with https:// or http://",
    ),
    "key itself": (
        Wanted(base_url="http://h", model="m", key="sk-not-shown"),
        ProfileError,
        "the key is not a reference",
    ),
}


@pytest.mark.parametrize(("wanted", "kind", "message"), WANTING.values(), ids=WANTING)
def test_what_a_new_profile_lacks_is_said_with_the_way_to_give_it(
    wanted: Wanted, kind: type[UsageError | ProfileError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        profile_table("work", wanted)
    assert caught.value.message == message
    assert caught.value.hint
    assert "not-shown" not in caught.value.hint


# verbs


def test_the_verbs_change_the_file_and_say_what_it_was(worked: Session) -> None:
    assert verbs.use(worked, "work").before == WORK
    assert verbs.rename(worked, "work", "job").after == worked.config.read_bytes().decode()
    assert verbs.entries(worked.profiles()) == (verbs.Entry("job", True, None, "http://h", "m", "env:K"),)
    assert worked.profiles().active == "job"
    verbs.remove(worked, "job")
    assert worked.profiles().names == ()


SETTINGS = {
    "text": ("model=gpt-5", ("model",), "gpt-5"),
    "text that looks like a number": ("model=5", ("model",), "5"),
    "text with equals": ("key=command:pass show a=b", ("key",), "command:pass show a=b"),
    "text in quotes stays": ('title="x"', ("title",), '"x"'),
    "number": ("request.timeout_seconds=30.5", ("request", "timeout_seconds"), 30.5),
    "whole number": ("request.max_retries = 3", ("request", "max_retries"), 3),
    "boolean": ("request.stream=false", ("request", "stream"), False),
    "list": ('tool.config-toml.paths=["~/a"]', ("tool", "config-toml", "paths"), ["~/a"]),
    "header": ("request.headers.X-Team=5", ("request", "headers", "X-Team"), "5"),
    "table": ('models={ small = "s" }', ("models",), {"small": "s"}),
}


@pytest.mark.parametrize(("setting", "path", "value"), SETTINGS.values(), ids=SETTINGS)
def test_a_setting_means_what_its_field_holds(
    worked: Session, setting: str, path: tuple[str, ...], value: object
) -> None:
    verbs.use(worked, "work")
    verbs.edit(worked, None, [setting])
    assert worked.profiles().document.get(("profiles", "work", *path)) == value
    assert "# cheap" in worked.config.read_text(encoding="utf-8")


NO_SETTINGS = {
    "no value": (["model"], UsageError, "'model' sets nothing"),
    "no field": (["=x"], UsageError, "a setting names no field"),
    "no path": (["a..b=x"], UsageError, "'a..b' is no field"),
    "unknown": (["modle=x"], ProfileError, "~/config/profile.toml: profiles.work.modle: there is no such field"),
    "not a number": (
        ["request.timeout_seconds=abc"],
        ProfileError,
        "~/config/profile.toml: profiles.work.request.timeout_seconds: 'abc' is not a number",
    ),
}


@pytest.mark.parametrize(("settings", "kind", "message"), NO_SETTINGS.values(), ids=NO_SETTINGS)
def test_a_setting_that_cannot_be_is_refused(
    worked: Session, settings: list[str], kind: type[UsageError | ProfileError], message: str
) -> None:
    with pytest.raises(kind) as caught:
        verbs.edit(worked, "work", settings)
    assert message in caught.value.message
    assert worked.config.read_bytes() == WORK.encode()


def test_without_a_file_every_verb_says_so(session: Session) -> None:
    with pytest.raises(ProfileError, match=r"^there is no profile yet: ~/config/profile\.toml$"):
        verbs.use(session, "work")
    with pytest.raises(ProfileError, match=r"^there is no profile yet: ~/config/profile\.toml$"):
        drafts.draft(session)


@posix
def test_links_and_modes_stay(worked: Session) -> None:
    kept = worked.config.parent.parent / "dotfiles" / "toolsync.toml"
    kept.parent.mkdir()
    worked.config.rename(kept)
    kept.chmod(0o644)
    worked.config.symlink_to(kept)
    verbs.use(worked, "work")
    assert worked.config.is_symlink()
    assert read(kept.read_bytes()).active == "work"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o644


@posix
def test_a_read_only_file_is_left_alone(worked: Session) -> None:
    worked.config.chmod(0o444)
    with pytest.raises(FileError):
        verbs.use(worked, "work")
    assert worked.config.read_bytes() == WORK.encode()


# edit, in an editor


def test_what_the_editor_made_is_taken_over(worked: Session) -> None:
    copy = drafts.draft(worked)
    assert copy.path.parent == worked.config.parent
    if os.name == "posix":
        assert stat.S_IMODE(copy.path.stat().st_mode) == 0o600
    drafts.worked_on(copy, _editing('text.replace("\\"m\\"", "\\"better\\"")'))
    assert not drafts.is_untouched(copy)
    edited = drafts.adopted(copy)
    assert worked.config.read_bytes().decode() == edited.after == WORK.replace('"m"', '"better"')
    assert not copy.path.exists()


def test_a_wrong_text_is_refused_and_kept_until_it_is_right(worked: Session) -> None:
    copy = drafts.draft(worked)
    drafts.worked_on(copy, _editing('text.replace("\\"m\\"", "5")'))
    with pytest.raises(
        ProfileError, match=r"^~/config/profile\.toml:3: profiles\.work\.model: 5 is not text$"
    ) as caught:
        drafts.adopted(copy)
    assert str(copy.path) in caught.value.hint
    assert "model = 5" in copy.path.read_text(encoding="utf-8")
    assert worked.config.read_bytes() == WORK.encode()
    drafts.worked_on(copy, _editing('text.replace("5", "\\"five\\"")'))
    drafts.adopted(copy)
    assert worked.profiles().get("work").model == "five"


def test_a_broken_file_can_be_mended_in_an_editor(worked: Session) -> None:
    worked.config.write_bytes(b"[broken\n")
    copy = drafts.draft(worked)
    drafts.worked_on(copy, _editing(f"{WORK!r}"))
    drafts.adopted(copy)
    assert worked.profiles().names == ("work",)


def test_a_file_that_changed_meanwhile_is_not_overwritten(worked: Session) -> None:
    copy = drafts.draft(worked)
    drafts.worked_on(copy, _editing('text.replace("\\"m\\"", "\\"better\\"")'))
    theirs = WORK + "# theirs\n"
    worked.config.write_bytes(theirs.encode())
    with pytest.raises(ChangedError) as caught:
        drafts.adopted(copy)
    assert str(copy.path) in caught.value.hint
    assert worked.config.read_bytes() == theirs.encode()
    assert "better" in copy.path.read_text(encoding="utf-8")


def test_an_editor_that_fails_changes_nothing(worked: Session) -> None:
    copy = drafts.draft(worked)
    with pytest.raises(UsageError, match="ended with code 3; nothing was changed") as caught:
        drafts.worked_on(copy, (sys.executable, "-c", "raise SystemExit(3)"))
    assert (caught.value.hint, copy.path.exists()) == ("", False)
    copy = drafts.draft(worked)
    with pytest.raises(UsageError, match=r"no-such-editor: cannot be run"):
        drafts.worked_on(copy, ("no-such-editor",))
    assert not copy.path.exists()
    copy = drafts.draft(worked)
    copy.path.write_text("what somebody wrote")
    with pytest.raises(UsageError, match=r"no-such-editor: cannot be run") as caught:
        drafts.worked_on(copy, ("no-such-editor",))
    assert str(copy.path) in caught.value.hint


def test_a_copy_that_the_user_deleted_changes_nothing(worked: Session) -> None:
    copy = drafts.draft(worked)
    drafts.discarded(copy)
    with pytest.raises(FileError, match="is gone"):
        drafts.adopted(copy)
    assert worked.config.read_bytes() == WORK.encode()


def _editing(expression: str) -> tuple[str, ...]:
    """A real program that makes of a file what `expression` makes of its `text`."""
    program = (
        "import sys, pathlib; file = pathlib.Path(sys.argv[1]); text = file.read_bytes().decode(); "
        f"file.write_bytes(({expression}).encode())"
    )
    return (sys.executable, "-c", program)


@posix
def test_the_editor_is_the_user_s(tmp_path: Path) -> None:
    program = tmp_path / "my editor"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    nano = tmp_path / "nano"
    nano.write_text("#!/bin/sh\n", encoding="utf-8")
    nano.chmod(0o755)
    path = {"PATH": str(tmp_path)}
    assert drafts.editor({**path, "VISUAL": "code --wait", "EDITOR": "vi"}) == ("code", "--wait")
    assert drafts.editor({**path, "VISUAL": " ", "EDITOR": "vi"}) == ("vi",)
    assert drafts.editor({**path, "EDITOR": str(program)}) == (str(program),)
    assert drafts.editor({**path, "EDITOR": f'"{program}" -x'}) == (str(program), "-x")
    assert drafts.editor(path) == (str(nano),)
    with pytest.raises(UsageError, match="no editor is known"):
        drafts.editor({"PATH": "/nowhere"})
    with pytest.raises(UsageError, match=r"^\$EDITOR is no command line"):
        drafts.editor({**path, "EDITOR": "vi '"})


def test_a_file_is_not_saved_over_one_that_was_made_meanwhile(session: Session) -> None:
    from toolsync.commands.profiles.file import opened

    file = opened(session)
    session.config.parent.mkdir()
    session.config.write_bytes(WORK.encode())
    with pytest.raises(ChangedError):
        saved(file, "")
    assert replace(file).snapshot.raw is None
    assert session.config.read_bytes() == WORK.encode()
