"""Which key a person means, and what they type of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from toolsync import disk
from toolsync.cli import streams
from toolsync.cli.context import ask, run
from toolsync.errors import SecretError, UsageError
from toolsync.session import Session

if TYPE_CHECKING:
    from toolsync.profile import Profile


def key_name(session: Session, profile: str | None) -> str:
    """The keyring name that a profile refers to; a name that is no profile stands for itself.

    Raises:
        ProfileError, FileError: the profiles cannot be read.
        UsageError: the profile's key comes from elsewhere.
    """
    if profile is not None and not disk.is_there(session.config):
        return profile
    there = session.profiles()
    if profile is not None and profile not in there.names:
        return profile
    reference = there.get(profile).key
    if reference.kind != "keyring":
        raise UsageError(
            f"the profile's key comes from {reference.kind}:, not from the keyring",
            hint="Change it there, or `toolsync profile edit --set key=keyring:NAME` first.",
        )
    return reference.name


def demand_known(session: Session, name: str) -> None:
    """Nothing, if a profile uses the key, or it was stored from here, or the keyring holds it.

    Raises:
        UsageError: nobody knows it, which is a slip of the pen; says what there is.
        SecretError: the keyring does not answer.
    """
    from toolsync.commands.keys.stored import named
    from toolsync.profile.wording import close
    from toolsync.secret.index import known_names

    there = known_names(session.state, named(profiles(session)))
    if name in there or session.open_vault().get(name) is not None:
        return
    names = list(dict.fromkeys((*(profile.name for profile in profiles(session)), *there)))
    near = close(name, names)
    guess = f"Did you mean '{near}'? " if near else ""
    known = f"There are: {', '.join(names)}." if names else "There is none yet."
    raise UsageError(f"there is no profile and no key '{name}'", hint=guess + known)


def profiles(session: Session) -> tuple[Profile, ...]:
    """All of them; none where there is no file yet."""
    return session.profiles().profiles if disk.is_there(session.config) else ()


def typed_key(session: Session, *, stdin: bool, command: str = "key set", what: str = "Key") -> str:
    """The key, from stdin or a prompt without echo.

    Args:
        session: whether a person is there.
        stdin: read it from there.
        command: for which it is.
        what: it is called.

    Raises:
        UsageError: nobody is there to type it.
        SecretError: it is so long that the terminal has cut it off, or has more than one line.
    """
    if stdin:
        return streams.typed_in()
    pipe = f"Pipe it in: `… | toolsync {command} --stdin`."
    if not session.is_interactive:
        raise UsageError("nobody is there to type the key", hint=pipe)
    typed = _hidden(f"{what} (nothing is shown): ", hint=pipe)
    longest = _LONGEST_LINES.get(session.places.platform)
    if longest is not None and len(typed.encode(errors="replace")) >= longest:
        text = f"the end of what was pasted may be missing: a terminal hands over {longest:,} characters of a line"
        raise SecretError(text, hint=pipe)
    return typed


def _hidden(question: str, *, hint: str) -> str:
    """What a person types, asked for until there is something."""
    from toolsync import hidden

    while True:
        try:
            text = hidden.typed(question, hint=hint)
        except EOFError as error:
            raise typer.Abort from error
        if text:
            return text


def demand_real(session: Session, text: str, *, yes: bool) -> str:
    """The text, if it is not what examples have in a key's place, or a person says that it is one.

    Raises:
        SecretError: it is, and nobody is there to say so.
        DeclinedError: they say no.
    """
    from toolsync.doctor.references import GAP, stray
    from toolsync.secret.dummy import is_dummy

    bare = text.strip()
    if yes or not (is_dummy(bare) or stray(bare) == GAP):
        return text
    if not session.is_interactive or run.json:
        raise SecretError(
            "the key is a placeholder, as examples have it",
            hint="Copy the key itself from the gateway's page. For a gateway that takes any key, add `--yes`.",
        )
    ask(session, "That is a placeholder, as examples have it, and hardly a key. Store it all the same?", yes=False)
    return text


_LONGEST_LINES = {"linux": 4095, "darwin": 1023}
"""What terminals drop is dropped without a word: N_TTY_BUF_SIZE of Linux, MAX_CANON of XNU, less the line's end."""
