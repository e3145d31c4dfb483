"""Profiles and key references as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal

from toolsync.errors import ProfileError, SharedProfileError
from toolsync.keyref import KeyRef
from toolsync.profile.wording import close, one_line
from toolsync.value import frozen

if TYPE_CHECKING:
    from toolsync.document import Document

Plaintext = Literal["ask", "allow", "never"]


@frozen
class Profile:
    """One profile, its tool overrides not yet laid over it (`for_tool` does that).

    Every table holds only what the file sets: an absent entry means hands off.
    """

    name: str
    base_url: str
    model: str
    key: KeyRef
    title: str | None = None
    gateway: str | None = None
    plaintext: Plaintext = "ask"
    models: Mapping[str, str] = field(default_factory=dict)
    urls: Mapping[str, str] = field(default_factory=dict)
    request: Mapping[str, Any] = field(default_factory=dict)
    network: Mapping[str, Any] = field(default_factory=dict)
    observability: Mapping[str, Any] = field(default_factory=dict)
    tool: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def for_tool(profile: Profile, tool: str) -> Profile:
    """The profile as `tool` sees it: what `[profiles.NAME.tool.TOOL]` sets is laid over it, value by value.

    `tool` itself stays as it was: `enabled`, `key_way` and `paths` are read there.
    """
    overrides = profile.tool.get(tool, {})
    return replace(
        profile,
        model=overrides.get("model", profile.model),
        models=_laid(profile.models, overrides.get("models", {})),
        urls=_laid(profile.urls, overrides.get("urls", {})),
        request=_laid(profile.request, overrides.get("request", {})),
        network=_laid(profile.network, overrides.get("network", {})),
        observability=_laid(profile.observability, overrides.get("observability", {})),
    )


def _laid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    laid = {**below, **above}
    for name in below.keys() & above.keys():
        if isinstance(below[name], Mapping) and isinstance(above[name], Mapping):
            laid[name] = {**below[name], **above[name]}
    return laid


@frozen
class Joined:
    """A profile that begins in a shared file.

    Attributes:
        table: its fields, the shared ones and one's own as one table.
        origins: file and line of every field that is shared, by the field as `request.max_tokens`.
    """

    table: Mapping[str, Any]
    origins: Mapping[str, str]


@frozen
class Profiles:
    """What `profile.toml` says.

    Attributes:
        active: the profile that commands use unless another is named; it may be dead, so ask `get`.
        profiles: in the file's order; those that cannot be had from a shared file are in `missing`.
        document: the file itself, for lines and edits.
        file: what messages call the file.
        missing: why a profile that begins in a shared file cannot be had, by its name.
        origins: see `Joined`, by the profile's name.
    """

    active: str | None
    profiles: tuple[Profile, ...]
    document: Document = field(repr=False, compare=False)
    file: str = "profile.toml"
    missing: Mapping[str, SharedProfileError] = field(default_factory=dict, compare=False)
    origins: Mapping[str, Mapping[str, str]] = field(default_factory=dict, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        """What the profiles are called, in the file's order."""
        return tuple(self.document.data.get("profiles", {}))

    def get(self, name: str | None = None) -> Profile:
        """The profile called `name`, or the active one.

        Raises:
            ProfileError: as `named`; or it begins in a shared file, and cannot be had from there.
        """
        wanted = self.named(name)
        if wanted in self.missing:
            raise self.missing[wanted]
        return next(profile for profile in self.profiles if profile.name == wanted)

    def named(self, name: str | None = None) -> str:
        """The name of a profile that is there; None: of the active one.

        Raises:
            ProfileError: there is none of that name, or none is active; says what there is.
        """
        if not self.names:
            raise ProfileError(f"{self.file}: there is no profile yet", hint="`toolsync init` makes one.")
        if name is None and self.active is None:
            raise ProfileError(
                f"{self.file}: no profile is active",
                hint=f"`toolsync profile use NAME` sets one. There are: {', '.join(self.names)}.",
            )
        wanted = name if name is not None else self.active or ""
        if wanted not in self.names:
            raise self._unknown(wanted, at_active=name is None)
        return wanted

    def _unknown(self, name: str, *, at_active: bool) -> ProfileError:
        position = self.document.position(("active",)) if at_active else None
        place = f"{self.file}:{position[0]}: active" if position else self.file
        nearest = close(name, self.names)
        guess = f"Did you mean '{nearest}'? " if nearest else ""
        remedy = "`toolsync profile use NAME` sets another. " if at_active else ""
        there = f"There are: {', '.join(self.names)}."
        return ProfileError(f"{place}: there is no profile '{one_line(name)}'", hint=guess + remedy + there)
