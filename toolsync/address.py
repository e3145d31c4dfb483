"""Addresses: from what a provider prints to what each protocol's clients want to be given."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal
from urllib.parse import SplitResult, quote, urlsplit

from toolsync.errors import ProfileError
from toolsync.pattern import late
from toolsync.value import frozen

Dialect = Literal["openai-chat", "openai-responses", "anthropic-messages"]
Protocol = Literal["openai", "anthropic", "gemini"]

PATHS: Mapping[Dialect, str] = {
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic-messages": "/v1/messages",
}
"""What a tool of this dialect appends to the base that it was given; seen on the wire of the clients themselves."""


@frozen
class Addresses:
    """One gateway as each kind of client wants to be told of it; none ends with a slash.

    Attributes:
        root_url: without version and without a protocol's own folder.
        openai_url: what OpenAI's clients take as base: the version is in it, they append `/chat/completions`.
        anthropic_url: what Anthropic's clients take as base: without version, they append `/v1/messages`.
        gemini_url: what Google's clients take as base: without version, they append `/v1beta/models/…`.
    """

    root_url: str
    openai_url: str
    anthropic_url: str
    gemini_url: str

    @property
    def chat_completions_url(self) -> str:
        """The whole endpoint, for the clients that want it (VS Code)."""
        return endpoint("openai-chat", self.openai_url)

    @property
    def responses_url(self) -> str:
        """The whole endpoint of OpenAI's Responses API."""
        return endpoint("openai-responses", self.openai_url)

    @property
    def messages_url(self) -> str:
        """The whole endpoint of Anthropic's Messages API."""
        return endpoint("anthropic-messages", self.anthropic_url)

    @property
    def models_url(self) -> str:
        """The list of models in OpenAI's form."""
        return f"{self.openai_url}/models"


def addresses(base_url: str, urls: Mapping[str, str] | None = None) -> Addresses:
    """What each protocol wants, from `base_url` in whatever form the provider prints it.

    A root, a version segment, a protocol's folder (`/anthropic`) and a whole endpoint pasted are all understood; the
    version that stands there is kept (`/v4`), else OpenAI's form gets `/v1`. What no rule can know, `urls` says.

    Args:
        base_url: white space around it is no matter.
        urls: overrides by protocol, taken as they stand but for their spelling.

    Raises:
        ProfileError: it is no address that a client could append a path to; credentials in it are not shown.
    """
    site, folders = _split(base_url)
    folders = _without_endpoint(folders)
    root = _without_tail(folders)
    tail = [folder.lower() for folder in folders[len(root) :]]
    found = Addresses(
        root_url=_joined(site, root),
        openai_url=_joined(site, _openai(folders, root, tail)),
        anthropic_url=_joined(site, _own_folder("anthropic", folders, root, tail)),
        gemini_url=_joined(site, _own_folder("gemini", folders, root, tail)),
    )
    return replace(found, **{f"{protocol}_url": normal(url) for protocol, url in (urls or {}).items()})


def endpoint(dialect: Dialect, base: str) -> str:
    """Where a tool of this dialect sends its request when `base` is what its settings say.

    Nothing is mended: a base that ends in `/v1` gives `/v1/v1/messages`, as Claude Code would ask for.
    """
    return base.strip().rstrip("/") + PATHS[dialect]


def normal(url: str) -> str:
    """`url` in one spelling: scheme and host in lower case, no default port, single slashes, none at the end.

    Raises:
        ProfileError: as `addresses`.
    """
    return _joined(*_split(url))


def origin(url: str) -> str:
    """Scheme, host and port: what a key is bound to (`https://api.example.com`, `http://[::1]:8000`).

    The default port is left out, for `https://h` and `https://h:443` are the same place: one ping, one consent.

    Raises:
        ProfileError: there is none in it.
    """
    return _origin(_parsed(url))


def is_loopback(url: str) -> bool:
    """Whether `url` leads to this machine only, so that a key in clear is overheard by nobody.

    Raises:
        ProfileError: it is no address.
    """
    host = (_parsed(url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761, 6.3
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


# What stands in a path.

_VERSION = late(r"(?i)v\d+((alpha|beta)\d*)?")
_FOLDERS = frozenset({"openai", "anthropic", "gemini"})
"""Folders that gateways keep for one protocol: DeepSeek's /anthropic, Groq's /openai, LiteLLM's /gemini."""

_ENDPOINTS = tuple(
    path.split("/")
    for path in (
        "chat/completions",
        "messages/count_tokens",
        "responses/compact",
        "completions",
        "responses",
        "messages",
        "embeddings",
        "models",
    )
)
_GEMINI_CALL = late(r"[^/:]+:[A-Za-z]+")


def _without_endpoint(folders: list[str]) -> list[str]:
    """Without an endpoint that was pasted along with its base, and without a doubled version."""
    if len(folders) > 1 and folders[-2] == "models" and _GEMINI_CALL.fullmatch(folders[-1]):
        folders = folders[:-2]
    while length := _endpoint_length(folders):
        folders = folders[:-length]
    return [folder for before, folder in zip(["", *folders], folders, strict=False) if not _is_doubled(before, folder)]


def _endpoint_length(folders: list[str]) -> int:
    last = [folder.lower() for folder in folders]
    return next((len(path) for path in _ENDPOINTS if last[-len(path) :] == path), 0)


def _is_doubled(before: str, folder: str) -> bool:
    return before == folder and _is_version(folder)


def _is_version(folder: str) -> bool:
    return bool(_VERSION.fullmatch(folder))


def _without_tail(folders: list[str]) -> list[str]:
    root = list(folders)
    while root and (_is_version(root[-1]) or root[-1].lower() in _FOLDERS):
        root.pop()
    return root


def _openai(folders: list[str], root: list[str], tail: list[str]) -> list[str]:
    if _FOLDERS.intersection(tail) - {"openai"}:
        return [*root, "v1"]
    return folders if any(map(_is_version, folders)) else [*folders, "v1"]


def _own_folder(protocol: Protocol, folders: list[str], root: list[str], tail: list[str]) -> list[str]:
    return folders[: len(root) + tail.index(protocol) + 1] if protocol in tail else root


# From text and back.


def _split(url: str) -> tuple[str, list[str]]:
    parts = _parsed(url)
    if parts.query or parts.fragment:  # Claude Code sends /?x=1%2Fv1%2Fmessages for such a base
        raise ProfileError(
            "the address has a query or a fragment, and clients append their paths behind it",
            hint="Leave out everything from '?' or '#' on; Azure needs no api-version under …/openai/v1.",
        )
    folders = [folder for folder in parts.path.split("/") if folder]
    if {".", ".."}.intersection(folders):
        raise ProfileError("the address has '.' or '..' in its path", hint="Write the path out.")
    return _origin(parts), [quote(folder, safe="%:@!$&'()*+,;=~") for folder in folders]


def _joined(site: str, folders: list[str]) -> str:
    return "/".join([site, *folders])


def _origin(parts: SplitResult) -> str:
    host = _ascii(parts.hostname or "")
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


_FORBIDDEN = late(r"[\s\\<>\"'`{}|^\x00-\x1f\x7f\xad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")
"""RFC 3986's own, and the invisible ones that are copied along from web pages."""


def _parsed(url: str) -> SplitResult:
    text = url.strip()
    if not text:
        raise ProfileError("the address is empty", hint=_EXAMPLE)
    if _FORBIDDEN.search(text):
        raise ProfileError("the address holds a character that no address can hold", hint=_EXAMPLE)
    if not re.match(r"(?i)https?://", text):
        raise ProfileError("the address does not start with https:// or http://", hint=_with_scheme(text))
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ProfileError("the address has a bad host or port", hint=_EXAMPLE) from error
    if parts.username is not None or parts.password is not None:
        raise ProfileError(
            "the address holds a user name or password",
            hint="Take it out; the key is referred to by `key`, and never stands in an address.",
        )
    if not parts.hostname or port == 0 or parts.netloc.endswith(":"):
        raise ProfileError("the address has a bad host or port", hint=_EXAMPLE)
    return parts


_EXAMPLE = "Write it as the provider prints it, for example https://api.example.com/v1."
_HOST_LIKE = late(r"(localhost|\[[0-9A-Fa-f:.]+\]|[\w-]+(\.[\w-]+)+)(:\d+)?(/[\w./-]*)?")


def _with_scheme(text: str) -> str:
    """Advice that repeats only what can be no key: someone may have pasted that instead."""
    if not _HOST_LIKE.fullmatch(text):
        return _EXAMPLE
    local = re.match(r"localhost|127\.|\[", text)
    return f"Write {'http' if local else 'https'}://{text}."


_HOST = late(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?")


def _ascii(host: str) -> str:
    if ":" in host:
        return f"[{_ipv6(host)}]"
    if host.isascii():
        if not _HOST.fullmatch(host):
            raise ProfileError("the address has a bad host or port", hint=_EXAMPLE)
        return host
    import idna

    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError as error:
        raise ProfileError("the address has a host name that is not allowed", hint=_EXAMPLE) from error


def _ipv6(host: str) -> str:
    try:
        return ipaddress.IPv6Address(host).compressed
    except ValueError as error:
        raise ProfileError("the address has a bad host or port", hint=_EXAMPLE) from error
