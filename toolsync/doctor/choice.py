"""What a tool's settings choose in place of ours, as another provider of Cline's: whom it then asks, and with what."""

from __future__ import annotations

from dataclasses import replace

from toolsync.doctor.look import Look
from toolsync.trace import Answer


def examined(look: Look) -> Look:
    """The program, without what its settings say beside a choice that its template does not know.

    That is there for another choice: Cline keeps the fields of every provider, the one that it uses included.

    Args:
        look: the program, as all its settings have it.
    """
    strange = next((name for name, known in look.reader.known.items() if look.found[name].value not in known), None)
    if strange is None:
        return look
    questions = list(look.reader.questions)
    return replace(look, passed_over=frozenset(questions[questions.index(strange) + 1 :]))


def choice(look: Look) -> Answer | None:
    """What a file of the tool's chooses in place of what we would; None where that is what it does of itself.

    Args:
        look: the program.
    """
    for question, expected in look.reader.expect.items():
        answer = look.found[question]
        is_default = any(str(slot) == f"={answer.value}" for slot in look.reader.questions[question])
        if answer.layer and answer.value != expected and not is_default:
            return answer
    return None
