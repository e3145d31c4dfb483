"""Headers whose values are key references: looked up where a person agreed to a copy in the tool's own file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolsync.keyref import PREFIXES
from toolsync.masking import Secret
from toolsync.overlay import variables
from toolsync.profile import KeyRef, Profile
from toolsync.session import Session
from toolsync.tool import Tool

_FACTS = frozenset({"headers", "headers_lines"})


def secret_headers(profile: Profile, tool: Tool) -> tuple[str, ...]:
    """The names of the headers that are key references, if the tool's settings take headers at all."""
    takes = any(names & _FACTS for row in tool.files for _, names in variables(row.document.data))
    return tuple(name for name, value in _headers(profile).items() if takes and value.startswith(PREFIXES))


def with_headers(session: Session, profile: Profile) -> Profile:
    """The profile with every header's value looked up.

    Raises:
        SecretError: one cannot be had.
    """
    headers = {name: header_value(session, value) for name, value in _headers(profile).items()}
    texts = {name: value.reveal() if isinstance(value, Secret) else value for name, value in headers.items()}
    return replace(profile, request={**profile.request, "headers": texts}) if headers else profile


def header_value(session: Session, value: str) -> str | Secret:
    """A header's value, looked up where it is a key reference.

    Raises:
        SecretError: it cannot be had.
    """
    if value.startswith(PREFIXES):
        return session.secret(KeyRef.parse(value))
    return value


def _headers(profile: Profile) -> Mapping[str, str]:
    headers: Mapping[str, str] = profile.request.get("headers", {})
    return headers
