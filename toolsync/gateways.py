"""The gateways that toolsync knows: one file each, the shipped ones and the user's own, which win by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from toolsync import disk, resources
from toolsync.address import Addresses, Dialect, Protocol, addresses, origin
from toolsync.errors import ProfileError, TemplateError, UsageError
from toolsync.masking import on_one_line
from toolsync.profile.wording import close
from toolsync.value import frozen

PROTOCOLS: tuple[Protocol, ...] = ("openai", "anthropic", "gemini")


@frozen
class Gateway:
    """What is known of a provider, or of a kind of gateway that people run themselves.

    Attributes:
        name: what `init --gateway` calls it.
        title: what people call it.
        site: its home page.
        base_url: as the provider prints it; None where everyone has an address of their own.
        asks: what to ask for then, a noun phrase.
        urls: what the rule of `addresses` does not derive from `base_url`, by protocol; fit for a profile's `urls`.
        serves: the dialects that it answers, those included of which nobody says that it does not.
        key_variable: the environment variable that usually holds its key.
        key_page: where a person gets a key; None for those that people run themselves.
        needs_key: whether it takes no request without one.
        model: an example.
        sources: the pages that say so, by protocol.
    """

    name: str
    title: str
    site: str
    base_url: str | None
    asks: str | None
    urls: Mapping[str, str]
    serves: tuple[Dialect, ...]
    key_variable: str
    key_page: str | None
    needs_key: bool
    model: str
    sources: Mapping[str, tuple[str, ...]]

    def addresses(self) -> Addresses | None:
        """What each protocol wants; None where the base address is the user's to say."""
        return addresses(self.base_url, self.urls) if self.base_url else None


def gateways(config: Path) -> dict[str, Gateway]:
    """Every known gateway by name, in alphabetical order.

    Args:
        config: the config directory; the user's own are the files `gateways/<name>.toml` in it.

    Raises:
        TemplateError: a user's own file is wrong.
    """
    own = {file.stem: _users_own(file) for file in _files(config)}
    return dict(sorted({**_shipped(), **own}.items()))


@cache
def _shipped() -> Mapping[str, Gateway]:
    """Those in `templates/`: read once a process, for each tool's plan asks for them."""
    return {file.stem: _one_shipped(file) for file in _files(resources.folder("templates"))}


def named(known: Mapping[str, Gateway], name: str) -> Gateway:
    """The gateway called `name`.

    Raises:
        UsageError: there is none.
    """
    if name not in known:
        near = close(name, known)
        meant = f"Did you mean '{near}'? " if near else ""
        raise UsageError(f"unknown gateway '{on_one_line(name)}'", hint=f"{meant}Known: {', '.join(known)}.")
    return known[name]


def at(known: Mapping[str, Gateway], url: str) -> Gateway | None:
    """The gateway that answers at the scheme, host and port of `url`; None where none is known to.

    Raises:
        ProfileError: `url` is no address.
    """
    place = origin(url)
    return next((one for one in known.values() if one.base_url and origin(one.base_url) == place), None)


def find(name: str | None, config: Path) -> Gateway | None:
    """The gateway that a profile names, no other read; None where it names none, or one that is not known here.

    Raises:
        TemplateError: it is the user's own, and its file is wrong.
    """
    if not name:
        return None
    for read, parent in ((_users_own, config), (_one_shipped, resources.folder("templates"))):
        file = next((file for file in _files(parent) if file.stem == name), None)
        if file is not None:
            return read(file)
    return None


def _one_shipped(file: Path) -> Gateway:
    return _gateway(file.stem, _data(file))


def _files(parent: Path) -> Iterator[Path]:
    folder = parent / "gateways"
    if disk.is_folder(folder):
        yield from sorted(folder.glob("*.toml"))


def _users_own(file: Path) -> Gateway:
    """A gateway from the user's config directory: it is checked, the shipped ones are by the tests."""
    try:
        data = _data(file)
        _check(data)
        gateway = _gateway(file.stem, data)
        gateway.addresses()
    except (TemplateError, ProfileError) as error:
        raise TemplateError(f"{disk.shown(file)}: {error.message}", hint=error.hint) from error
    return gateway


def _data(file: Path) -> dict[str, Any]:
    import tomli

    try:
        return tomli.loads(file.read_bytes().decode())
    except ValueError as error:  # no TOML, or no UTF-8
        raise TemplateError(on_one_line(str(error), limit=300)) from error
    except OSError as error:
        raise TemplateError(f"cannot be read: {error.strerror}") from error


def _check(data: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(resources.schema("gateway")).iter_errors(data))
    if error is None:
        return
    path = ".".join(str(step) for step in error.absolute_path)
    raise TemplateError(on_one_line(f"{path}: {error.message}" if path else error.message, limit=300))


def _gateway(name: str, data: Mapping[str, Any]) -> Gateway:
    tables = {protocol: data[protocol] for protocol in PROTOCOLS if protocol in data}
    return Gateway(
        name=name,
        title=data["title"],
        site=data["site"],
        base_url=data.get("base_url"),
        asks=data.get("asks"),
        urls={protocol: table["url"] for protocol, table in tables.items() if "url" in table},
        serves=tuple(dialect for table in tables.values() for dialect in table.get("speaks", ())),
        key_variable=data["key_variable"],
        key_page=data.get("key_page"),
        needs_key=data.get("needs_key", True),
        model=data["model"],
        sources={protocol: _pages(table["source"]) for protocol, table in tables.items()},
    )


def _pages(source: str | list[str]) -> tuple[str, ...]:
    return (source,) if isinstance(source, str) else tuple(source)
