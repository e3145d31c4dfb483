"""Every error that toolsync raises on purpose; each says where, what, and what to do."""

from __future__ import annotations


class ToolsyncError(Exception):
    """The root of the tree: a problem that a person can understand and mend.

    Attributes:
        message: where and what, one line, without a trailing full stop's worth of advice.
        hint: what to do about it, one sentence; may be empty.
        exit_code: what the command line ends with when nothing caught this error.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ToolsyncError):
    """The command was called in a way that cannot work: an unknown tool, profile or option value."""


class ProfileError(ToolsyncError):
    """`profile.toml` is missing, cannot be read, or says something that is not allowed."""


class SharedProfileError(ProfileError):
    """A profile begins in a shared file, and cannot be had from there; the rest of `profile.toml` can be used.

    Attributes:
        profile: its name.
    """

    def __init__(self, message: str, *, profile: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.profile = profile


class UntrustedProfileError(SharedProfileError):
    """What the shared file says waits for consent: `toolsync profile trust` asks for it."""


class TemplateError(ToolsyncError):
    """A tool's template is wrong: an unknown fact, a bad path, a table where none can be."""


class MissingFactError(TemplateError):
    """A template needs a fact that the profile leaves unset: the tool cannot be served by this profile."""

    def __init__(self, fact: str, *, hint: str = "") -> None:
        super().__init__(f"needs '{fact}', which the profile leaves unset", hint=hint)
        self.fact = fact


class DocumentError(ToolsyncError):
    """A settings file cannot be read or edited faithfully.

    Attributes:
        reason: what is wrong, without its place.
        line: 1-based, or None when the whole file is meant.
        column: 1-based, in characters.
        name: the file, once somebody who knows it has said so (`at`).
    """

    def __init__(
        self, reason: str, *, line: int | None = None, column: int | None = None, name: str = "", hint: str = ""
    ) -> None:
        place = ":".join(str(part) for part in (name, line, column) if part not in ("", None))
        super().__init__(f"{place}: {reason}" if place else reason, hint=hint)
        self.reason, self.line, self.column, self.name = reason, line, column, name

    def at(self, name: str) -> DocumentError:
        """The same error, naming its file."""
        return type(self)(self.reason, line=self.line, column=self.column, name=name, hint=self.hint)


class EditRefusedError(DocumentError):
    """The file is valid, but this edit cannot be made without touching something that is not ours."""


class FileError(ToolsyncError):
    """A file or folder cannot be read or written: a directory in its place, no permission, a full disk."""


class OutputError(ToolsyncError):
    """What a command has to say cannot be written; what it had to do may be done."""

    exit_code = 1


class SecretError(ToolsyncError):
    """A key cannot be had, stored or removed."""


class NoKeyringError(SecretError):
    """No keyring of the allowed kinds answers on this machine."""


class KeyringLockedError(SecretError):
    """The keyring is there, but locked, and nobody unlocked it in time."""


class KeyMissingError(SecretError):
    """The place that the key reference names holds no key."""


class PlanRefusedError(ToolsyncError):
    """The plan would do harm, and nothing was written."""


class ExposedKeyError(PlanRefusedError):
    """A file that would hold the key may end in a git repository, and nothing was written."""


class GitError(ToolsyncError):
    """Git cannot be asked, or cannot tell."""


class PingFailedError(ToolsyncError):
    """The gateway did not answer as it must, and nothing was written.

    Attributes:
        cause: why, as `toolsync explain` knows it; empty where nobody can tell.
    """

    def __init__(self, message: str, *, hint: str = "", cause: str = "") -> None:
        super().__init__(message, hint=hint)
        self.cause = cause


class DeclinedError(ToolsyncError):
    """The person said no, or nobody was there to ask."""


class TransactionError(ToolsyncError):
    """The files could not be replaced together."""


class ChangedError(TransactionError):
    """A file is no longer what the plan was made from; plan again."""


class StoreError(ToolsyncError):
    """A container of settings that is no file (a database) cannot be read or written; nothing was changed."""


class InterruptedRunError(ToolsyncError):
    """A person stopped the command."""

    exit_code = 130


class BugError(ToolsyncError):
    """Something that toolsync did not see coming; there is a report on disk."""

    exit_code = 70


class MemoryFileError(ToolsyncError):
    """What toolsync remembers of earlier applies cannot be read."""


class DamagedMemoryError(MemoryFileError):
    """It is no longer what toolsync wrote."""
