"""What the profile wants against what the tool will use: where the wanted value stands, and why it does not count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolsync.doctor.checks.elsewhere import in_near_file, in_own_file, in_unread_file, in_unread_variable
from toolsync.doctor.checks.saying import place, same, used, values
from toolsync.doctor.choice import choice
from toolsync.doctor.command import applied, commands
from toolsync.doctor.look import Look
from toolsync.doctor.model import Credential, Finding, Fix, Where
from toolsync.doctor.printing import command_path, command_value
from toolsync.document import data as _data
from toolsync.masking import Secret
from toolsync.sentence import say
from toolsync.trace import Answer, Tree, answers, unhindered
from toolsync.trace.credential import CREDENTIALS

QUESTIONS = ("base_url", "model")
"""What a tool is set to; all other questions serve these."""


def wanted(look: Look) -> Iterator[Finding]:
    """The wanted address, model or key stands somewhere, and something else is used."""
    for question in QUESTIONS:
        found = _misplaced(look, question)
        if found is not None:
            yield replace(found, question=question)
            return  # one reason is enough: what is misplaced is misplaced with its neighbours
    for credential in look.effective.credentials:
        found = _other_key(look, credential)
        if found is not None:
            yield replace(found, question=credential.question)


def _other_key(look: Look, credential: Credential) -> Finding | None:
    """The profile's key waits at the same question, and another one is sent."""
    if credential.question not in CREDENTIALS:
        return None
    if credential.kind == "command":
        return _other_command(look, credential)
    if credential.value is None:
        return None
    hidden = _hidden_variable(look, credential)
    if hidden is not None:
        return hidden
    below = [one for one in _below(look, credential.question) if one.layer and one.value != credential.value.reveal()]
    own = look.world.key if below else None  # the keyring is opened only where it tells something
    if not isinstance(own, Secret) or own == credential.value:
        return None
    ours = next((one for one in below if one.value == own.reveal()), None)
    return None if ours is None else _shadow(look, credential.question, ours)


def _other_command(look: Look, credential: Credential) -> Finding | None:
    """A command over the profile's credential: a project's, which we do not run, or one that prints another key."""
    winner = look.found[credential.question]
    path = command_path(look, winner)
    ours = next((one for one in _below(look, credential.question) if _is_in_own_file(look, one)), None)
    if path is None or ours is None or _is_in_own_file(look, winner):
        return None
    below = command_path(look, ours)
    if below is not None and command_value(look, winner, path) == command_value(look, ours, below):
        return None
    if credential.value is not None and credential.value == look.world.key:
        return None
    found = _shadow(look, credential.question, ours)
    if credential.value is not None:
        return found
    return replace(found, evidence=(*found.evidence, say("project_command", called=look.called)))


def _is_in_own_file(look: Look, answer: Answer) -> bool:
    """Whether the answer stands in the file that the profile is applied to."""
    one = look.seen(answer)
    return bool(look.edits) and one is not None and bool(one.layer.overlay)


def _hidden_variable(look: Look, credential: Credential) -> Finding | None:
    """The profile's key is in the environment, under a name that a file of the tool's gives another value."""
    answer, own = look.found[credential.question], look.world.key
    given = look.world.session.places.environ.get(answer.slot[1:], "") if answer.slot.startswith("$") else ""
    if not given or not isinstance(own, Secret) or given != own.reveal() or own == credential.value:
        return None
    over = say("variable_of_environment", slot=answer.slot)
    lines = (say("passed_over", place=over), say("used_key", place=place(look, credential.where)))
    where = credential.where
    return Finding("config_shadowed", "sure", lines, values(look, where), where, taken_out(look, where))


def _misplaced(look: Look, question: str) -> Finding | None:
    want, answer = look.wanted.get(question, ""), look.found.get(question)
    if not want or answer is None or same(question, answer.value, want):
        return None
    if question in look.passed_over and choice(look) is not None:
        return None  # it is meant otherwise, or `provider` knows why
    return (
        _ignored(look, question, want)
        or _shadowed(look, question, want)
        or in_own_file(look, question, want)
        or in_unread_file(look, question, want)
        or in_near_file(look, question, want)
        or in_unread_variable(look, question, want)
    )


def _ignored(look: Look, question: str, want: str) -> Finding | None:
    """A layer that may not set it sets it."""
    for one in look.layers:
        heeded = [
            replace(each.tree, layer=unhindered(each.layer)) if each is one else each.tree for each in look.layers
        ]
        is_hindered = bool(one.layer.ignores) or one.layer.is_unmet
        answer = answers(look.reader, heeded, look.environ).get(question) if is_hindered else None
        if answer is None or answer.layer != one.layer.name or not same(question, answer.value, want):
            continue
        where = Where(one.layer.name, answer.slot, one.file, one.line(answer))
        cause = "project_config_ignored" if one.is_projects else "base_url_not_honoured"
        lines = (say("unheeded", place=place(look, where), called=look.called), used(look, question))
        fix = None if one.is_projects else commands(applied(look.tool.name))
        return Finding(cause, "sure", lines, values(look, where), where, fix)
    return None


def _shadowed(look: Look, question: str, want: str) -> Finding | None:
    """Another layer wins: without it, the wanted value would count."""
    for below in _below(look, question):
        if below.layer and same(question, below.value, want):
            return _shadow(look, question, below)
    return None


def _below(look: Look, question: str) -> Iterator[Answer]:
    """What would be answered if the winner were not there, and then the next one, as long as somebody answers."""
    trees, environ = list(look.trees), dict(look.environ)
    winner = look.found[question]
    while winner.value and winner.layer:
        trees, environ = _without(trees, environ, winner)
        below = answers(look.reader, trees, environ)[question]
        if (below.layer, below.slot) == (winner.layer, winner.slot):  # a table around it answers
            return
        yield below
        winner = below


def _without(trees: Sequence[Tree], environ: Mapping[str, str], winner: Answer) -> tuple[list[Tree], dict[str, str]]:
    """The layers and variables without what gives the answer."""
    if winner.slot.startswith("$"):
        return list(trees), {name: value for name, value in environ.items() if name != winner.slot[1:]}
    if not winner.path:
        return [tree for tree in trees if tree.layer.name != winner.layer], dict(environ)
    return [
        replace(tree, data=_data.drop(tree.data, winner.path)) if tree.layer.name == winner.layer else tree
        for tree in trees
    ], dict(environ)


def _shadow(look: Look, question: str, below: Answer) -> Finding:
    winner = look.found[question]
    one = look.seen(winner)
    where = look.where(winner)
    cause = "config_managed_override" if one is not None and one.layer.is_managed else "config_shadowed"
    lines = [say("passed_over", place=place(look, look.where(below))), used(look, question)]
    if question == "base_url" and one is not None and one.is_projects and look.effective.credentials:
        lines.append(say("key_to_project"))
    found = values(look, where)
    return Finding(cause, "sure", tuple(lines), found, where, way_out(look, winner, where))


def way_out(look: Look, winner: Answer, where: Where) -> Fix | None:
    """What takes the winner out: another apply where toolsync sets that very value."""
    if any(edit.path == winner.path for edit in look.edits.get(winner.overlay, ())):
        return commands(applied(look.tool.name))
    return taken_out(look, where, look.wanted.get(winner.question, ""))


def taken_out(look: Look, where: Where, value: str = "") -> Fix | None:
    """See `removal`, which most programs never need."""
    from toolsync.doctor.removal import removal

    return removal(look, where, value)
