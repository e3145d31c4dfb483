"""What a profile amounts to: named values that fill templates, each with where it came from.

A fact that the profile leaves unset is absent from the mapping; no fact has a default of its own
(`provider_name` and `key_variable` apart, which are names that every profile has).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolsync.address import addresses
from toolsync.profile import Profile
from toolsync.value import frozen

KEY_VARIABLE = "TOOLSYNC_API_KEY"
"""The environment variable that holds the key where neither profile nor gateway names one."""


@frozen
class Fact:
    """A named value.

    Attributes:
        name: as templates write it between `<` and `>`.
        value: str, int, float, bool, list or table.
        origin: the profile's field, or the rule, that it came from.
    """

    name: str
    value: Any
    origin: str


Facts = Mapping[str, Fact]

TYPES: Mapping[str, type] = {
    "profile": str,
    "provider_name": str,
    "site": str,
    "root_url": str,
    "openai_url": str,
    "anthropic_url": str,
    "gemini_url": str,
    "chat_completions_url": str,
    "model": str,
    "model_small": str,
    "model_opus": str,
    "model_sonnet": str,
    "model_haiku": str,
    "timeout_seconds": float,
    "timeout_ms": int,
    "timeout_ms_text": str,
    "max_retries": int,
    "max_tokens": int,
    "max_tokens_text": str,
    "temperature": float,
    "stream": bool,
    "headers": dict,
    "headers_lines": str,
    "proxy": str,
    "no_proxy": str,
    "ca_bundle": str,
    "log_latency": bool,
    "log_memory": bool,
    "record_token_usage": bool,
    "sample_interval_ms": int,
    "paths": list,
    "key_variable": str,
}
"""Every fact that an overlay may name, `key_WAY` and `key_ref` apart, with the type of its value."""

WAYS = ("command", "keyring", "env", "file", "plaintext")
"""How a key can reach a tool."""

RAW_KEY_FACTS = ("key_line", "key_program", "key_args", "key_variable", "key_path", "key")
"""What the spellings in `[key]` are filled with; `key`, which is the key itself, only where a copy is consented to."""


def facts(profile: Profile, *, key_variable: str | None = None, site: str | None = None) -> Facts:
    """The facts of a profile that has its tool's overrides laid over it already.

    Args:
        profile: what `Profiles.for_tool` returns.
        key_variable: the variable that the profile's gateway suggests.
        site: the gateway's home page.
    """
    return {fact.name: fact for fact in _all(profile, key_variable, site) if fact.value is not None}


def _all(profile: Profile, key_variable: str | None, site: str | None) -> Iterator[Fact]:
    at = f"profiles.{profile.name}"
    yield Fact("profile", profile.name, at)
    yield Fact("provider_name", profile.title or profile.name, f"{at}.title" if profile.title else at)
    yield Fact("site", site, f"{at}.gateway")
    yield from _urls(profile, at)
    yield Fact("model", profile.model, f"{at}.model")
    for slot, model in profile.models.items():
        yield Fact(f"model_{slot}", model, f"{at}.models.{slot}")
    yield from _request(profile.request, f"{at}.request")
    for table in ("network", "observability"):
        for name, value in getattr(profile, table).items():
            yield Fact(name, value, f"{at}.{table}.{name}")
    named = profile.key.name if profile.key.kind == "env" else None
    yield Fact("key_variable", named or key_variable or KEY_VARIABLE, f"{at}.key")


def _urls(profile: Profile, at: str) -> Iterator[Fact]:
    derived = addresses(profile.base_url, profile.urls)
    for name in ("root", "openai", "anthropic", "gemini", "chat_completions"):
        stated = "openai" if name == "chat_completions" else name
        origin = f"{at}.urls.{stated}" if stated in profile.urls else f"{at}.base_url"
        yield Fact(f"{name}_url", getattr(derived, f"{name}_url"), origin)


def _request(request: Mapping[str, Any], at: str) -> Iterator[Fact]:
    for name, value in request.items():
        yield Fact(name, value if value != {} else None, f"{at}.{name}")
    seconds = request.get("timeout_seconds")
    if seconds is not None:
        milliseconds = max(1, round(seconds * 1000))  # 0 means no limit at all to many tools
        yield Fact("timeout_ms", milliseconds, f"{at}.timeout_seconds")
        yield Fact("timeout_ms_text", str(milliseconds), f"{at}.timeout_seconds")
    if request.get("max_tokens") is not None:
        yield Fact("max_tokens_text", str(request["max_tokens"]), f"{at}.max_tokens")
    headers = request.get("headers")
    if headers:
        lines = "\n".join(f"{name}: {value}" for name, value in headers.items())
        yield Fact("headers_lines", lines, f"{at}.headers")
