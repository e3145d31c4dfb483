"""How a tool stands to its profile, as far as it decides what mends the tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolsync import registry
from toolsync.commands.environment.reach import by_variable
from toolsync.commands.environment.variables import variable_of
from toolsync.commands.keys.holders import Holders
from toolsync.doctor.astray import asked_of
from toolsync.doctor.checks import saying
from toolsync.doctor.command import Words
from toolsync.doctor.look import Look
from toolsync.doctor.lost import gone, lost_profile
from toolsync.doctor.model import Credential, Finding, Where
from toolsync.doctor.printing import printing
from toolsync.doctor.remedy import OF_ADDRESS, is_about_key
from toolsync.doctor.remedy.standing import Rehearsal, Standing
from toolsync.doctor.removal import removal
from toolsync.doctor.unasked import first_profile
from toolsync.document import KeyPath, parse_path
from toolsync.errors import ToolsyncError
from toolsync.masking import Secret
from toolsync.overlay import facts_named
from toolsync.profile import Profile
from toolsync.trace import path_of
from toolsync.trace.credential import CREDENTIALS, takes_variables


def standing(look: Look, finding: Finding, rehearsal: Callable[[], Rehearsal] = Rehearsal) -> Standing:
    """How the tool stands to its profile, where the finding is what is to be mended.

    Args:
        look: the program.
        finding: what is wrong with it.
        rehearsal: plans an `apply` for the tool; by default it goes through.
    """
    profile, address = look.world.profile, str(finding.values.get("address", ""))
    has_profile = bool(look.world.profiles) or look.world.fault is not None
    return Standing(
        is_set=_is_set(look, finding.cause),
        takes=frozenset(name for row in look.tool.files for name in facts_named(row.document.data)),
        sends=frozenset(name.lower() for name in look.tool.request.headers.values()),
        writes=_writes(look, finding.where),
        is_projects=look.is_projects(finding.where),
        tools=_tools(look, profile) if profile is not None else (),
        variable=_variable(look, profile) if profile is not None else "",
        named=tuple(name for question in sorted(CREDENTIALS) for name in look.named(question)),
        program=next(iter(look.tool.commands), ""),
        environ=look.environ,
        set_at=_set_at(look, profile) if profile is not None and profile.key.kind == "env" else "",
        begin=() if has_profile else _begin(look, address),
        gone=gone(look) if lost_profile(look) else "",
        is_asked_for=bool(look.effective.credentials)
        and all(_is_asked_for(look, one) for one in look.effective.credentials),
        key=lambda: look.world.key,
        has_former=lambda: bool(look.world.former_keys),
        taken_out=lambda: removal(look, finding.where) if finding.where is not None else None,
        rehearsal=rehearsal,
    )


def _begin(look: Look, address: str) -> Words:
    """The command that makes a first profile; a project's address is not made the user's own by it."""
    return ("init",) if look.is_steered("base_url") else first_profile(look, address)


def _set_at(look: Look, profile: Profile) -> str:
    """The line that most likely set the variable of the profile's key: one that is set here."""
    line = look.world.set_at(profile.key.name) if look.world.session.places.environ.get(profile.key.name) else None
    if line is None or line.kind != "shell":
        return ""
    return f"{look.world.session.shown(line.file)}:{line.line}"


def _is_set(look: Look, cause: str) -> bool:
    """Whether the tool has what the profile wants, so that applying it again would change nothing."""
    if is_about_key(cause) and look.effective.credentials:
        return _is_at_home(look) and all(_is_profiles(look, one) for one in look.effective.credentials)
    if cause == "url_malformed":  # the spelling itself is what is wrong
        return look.effective.base_url == look.wanted.get("base_url", look.effective.base_url)
    questions = ("base_url",) if cause in OF_ADDRESS else ("base_url", "model")
    return all(
        saying.same(question, getattr(look.effective, question), look.wanted[question])
        for question in questions
        if question in look.wanted
    )


def _is_asked_for(look: Look, one: Credential) -> bool:
    """Whether the tool asks for the credential each time; of us, for the profile's own key."""
    command, own = printing(look, one), look.world.profile
    if command is None or not command.is_own:
        return one.kind == "command"
    named = asked_of(look, command)
    return named is not None and own is not None and named.key == own.key


def _is_profiles(look: Look, one: Credential) -> bool:
    """Whether it is the profile's key, or a command for it, as far as both are known."""
    own = look.world.key
    return one.value == own or (one.kind == "command" and (one.value is None or not isinstance(own, Secret)))


def _is_at_home(look: Look) -> bool:
    """Whether the address that is asked is the profile's, for which its key is."""
    want = look.wanted.get("base_url")
    return not want or saying.same("base_url", look.effective.base_url, want)


def _writes(look: Look, where: Where | None) -> bool:
    """Whether toolsync sets, or takes out, what stands there; a default of the tool's own stands nowhere."""
    if where is None or not where.layer or where.layer == "environment":
        return where is None
    one = next((one for one in look.layers if one.layer.name == where.layer), None)
    mount = parse_path(one.layer.at) if one is not None and one.layer.at else ()
    overlay = one.layer.overlay if one is not None else ""
    paths = [*(edit.path for edit in look.edits.get(overlay, ())), *_of_key(look, overlay)]
    slot = parse_path(where.slot)
    return any((*mount, *path) == slot[: len(mount) + len(path)] for path in paths) or _is_given_up(look, slot)


def _is_given_up(look: Look, place: KeyPath) -> bool:
    """Whether what stands there counts by a choice only that `apply` changes: another provider."""
    changed = [
        f"<{question}>"
        for question, wanted in look.reader.expect.items()
        if question in look.found and look.found[question].value != wanted
    ]
    slots = [slot for asked in look.reader.questions.values() for slot in asked if slot.kind == "path"]
    return any(path_of(slot, look.raw) == place for slot in slots if any(name in slot.text for name in changed))


def _of_key(look: Look, overlay: str) -> Iterator[KeyPath]:
    """Where the overlay puts the key, in whichever way: which of them is taken is decided where it is applied."""
    for row in look.tool.files:
        for path, _ in row.document.leaves() if overlay and row.overlay == overlay else ():
            value = row.document.get(path)
            if isinstance(value, str) and value.startswith("<key_"):
                yield path


def _tools(look: Look, profile: Profile) -> tuple[str, ...]:
    """The tools that are set to the profile."""
    known, names = registry.tools(look.world.session.config.parent), {one.name for one in look.world.profiles}
    return tuple(sorted(Holders(look.world.memory, known, names).applied().get(profile.name, ())))


def _variable(look: Look, profile: Profile) -> str:
    """The variable from which the program takes the key, as toolsync sets it; "" where it looks at none."""
    given = look.world.facts(look.tool.name)
    try:
        is_so = bool(given) and by_variable(profile, look.tool) and takes_variables(look.tool, look.reader)
    except ToolsyncError:
        return ""
    return variable_of(look.tool, given) if is_so else ""
