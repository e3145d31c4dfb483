"""`doctor --client`: the tool's own program, found, asked once, and held against the probe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolsync.causes import Language
from toolsync.doctor import client as clients
from toolsync.doctor import proof
from toolsync.doctor.astray import owner
from toolsync.doctor.checks import saying
from toolsync.doctor.client import Outcome
from toolsync.doctor.loading import open_template
from toolsync.doctor.look import Look
from toolsync.doctor.model import Diagnosis, State
from toolsync.doctor.printing import printing
from toolsync.doctor.probed import Probed, is_reached
from toolsync.doctor.proof import Verdict
from toolsync.sentence import Text, say, tell
from toolsync.tool import Client
from toolsync.value import frozen


@frozen
class Proof:
    """What became of asking one program of a tool itself.

    Attributes:
        state: how it stands with the program now.
        says: for people.
        why: why it was not asked; "" where it was.
        file: its program; None where it was not found.
        command: the words it was asked with, the program by its name; empty where no row tells them.
        outcome: what it saw; None where it was not asked.
        verdict: likewise.
        candidates: who may have made the difference, where there is one; and what of the project's had no say.
    """

    state: State
    says: Text
    why: str = ""
    file: Path | None = None
    command: tuple[str, ...] = ()
    outcome: Outcome | None = None
    verdict: Verdict | None = None
    candidates: tuple[Text, ...] = ()


def proofs(seen: Sequence[tuple[Look, Diagnosis, Probed | None]]) -> tuple[Proof, ...]:
    """Every program asked once, one after the other; each costs a request for a model."""
    versions: dict[Path, str] = {}
    return tuple(_proof(look, one, probed, versions) for look, one, probed in seen)


def as_data(one: Proof, look: Look, language: Language) -> dict[str, Any]:
    """As `schemas/results/doctor.schema.json` describes it."""
    outcome = one.outcome
    return {
        "state": outcome.state if outcome is not None else "unasked",
        "why": one.why,
        "program": look.world.session.shown(one.file) if one.file is not None else "",
        "command": list(one.command),
        "exit_code": outcome.code if outcome is not None else None,
        "seconds": round(outcome.seconds, 1) if outcome is not None else None,
        "status": outcome.status if outcome is not None else None,
        "words": outcome.words if outcome is not None else "",
        "verdict": one.verdict,
        "says": saying.text(tell(one.says, language), limit=600),
        "candidates": [saying.text(tell(text, language), limit=400) for text in one.candidates],
    }


def _proof(look: Look, one: Diagnosis, probed: Probed | None, versions: dict[Path, str]) -> Proof:
    environ = look.world.session.places.environ
    rows = [row for row in look.tool.clients if row.reader == look.reader.name]
    if not rows:
        return Proof(one.state, say("client_no_command"), "no_command")
    row = next((row for row in rows if _fits(row, environ, versions)), None)
    if row is None:
        return _unfitting(look, one, rows, versions)
    file = clients.program(row, environ)
    if file is None:
        return Proof(one.state, say("client_not_found", program=row.command[0]), "not_found")
    template = open_template(look)
    if template is not None:
        says = say("client_unsafe", program=row.command[0], file=look.world.session.shown(template))
        return Proof(one.state, says, "unsafe", file)
    if any(owner(look, each.value, printing(look, each)) for each in look.effective.credentials):
        return Proof(one.state, say("client_astray", program=row.command[0]), "unsafe", file)
    damaged = look.damaged  # Cline writes such a file anew, and every key is gone
    if damaged is not None:
        says = say("client_damaged", program=row.command[0], file=look.world.session.shown(damaged.file))
        return Proof(one.state, says, "damaged", file)
    return _asked(look, one, probed, row, file)


def _fits(row: Client, environ: Mapping[str, str], versions: dict[Path, str]) -> bool:
    """Whether the row is about the program as it is installed; one that is not there fits."""
    file = clients.program(row, environ)
    if file is None or not row.version:
        return True
    if file not in versions:
        versions[file] = clients.version(file, environ)
    return clients.fits(row, versions[file])


def _unfitting(look: Look, one: Diagnosis, rows: Sequence[Client], versions: Mapping[Path, str]) -> Proof:
    """A program of this name is there: another one of the tool's, or of a version that nobody knows."""
    file = clients.program(rows[0], look.world.session.places.environ)
    said = versions[file] if file is not None else ""
    if any(clients.fits(row, said) for row in look.tool.clients if row.command[0] == rows[0].command[0]):
        return Proof(one.state, say("client_no_command"), "no_command")
    shown = saying.text(said, limit=80) or "…"
    return Proof(
        one.state, say("client_other_version", program=rows[0].command[0], version=shown), "other_version", file
    )


def _asked(look: Look, one: Diagnosis, probed: Probed | None, row: Client, file: Path) -> Proof:
    seconds = clients.patience_seconds(row, is_reached=probed is None or is_reached(probed))
    outcome = clients.asked(row, file, look.world.session.places.environ, seconds)
    command = (row.command[0], *clients.command_line(row, file)[1:])
    if outcome.state == "unstartable":
        says = say("client_unstartable", program=row.command[0], reason=outcome.words)
        return Proof("problem", says, "unstartable", file, command, outcome, "open")
    seen, foretold = proof.probe(probed), proof.foretold(look, one, outcome)
    cause = foretold or proof.blocked(one)
    told: Verdict = "same" if foretold else proof.verdict(outcome, seen, is_blocked=bool(cause))
    is_open = told in ("differs", "open")
    return Proof(
        state=proof.state(one, outcome, told),
        says=proof.sentence(row.command[0], outcome, seen, told, cause),
        file=file,
        command=command,
        outcome=outcome,
        verdict=told,
        candidates=(*proof.away(look), *(proof.candidates(look, one, outcome, seen) if is_open else ())),
    )
