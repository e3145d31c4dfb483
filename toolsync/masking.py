"""What must never be shown as it is: keys, and text from outside that could speak to a terminal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from toolsync.pattern import PLACE, late

_SHORTEST_MASKED = 7
"""A shorter key (`ollama`, `none`) is no secret worth the words that masking it would destroy."""

_ONE_WORD = late(r"[^\s\"'${][^\s\"']*")
"""What a key looks like; a piece of a settings file around a key, or a reference to one, is no word to take out."""

_known: set[str] = set()


class Secret:
    """A key that never prints itself; every text that toolsync shows passes `masked`, which knows it from then on."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value
        bare = value.strip().strip("\"'")
        if len(bare) >= _SHORTEST_MASKED and _ONE_WORD.fullmatch(bare) and not _is_path(bare):
            _known.add(bare)

    def reveal(self) -> str:
        """The key itself: for a request header, a tool's own file, or the one line of `key print`."""
        return self._value

    def __eq__(self, other: object) -> bool:
        from hmac import compare_digest  # two keys are compared where there is time

        return isinstance(other, Secret) and compare_digest(_bytes(self._value), _bytes(other._value))

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret('***')"

    def __reduce__(self) -> str:
        raise TypeError("a Secret is never serialised")


_PATH = late(r"~/[\w./-]+", re.ASCII)


def _is_path(text: str) -> bool:
    """Whether it is a script's name, as it stands where a tool is told what prints its key.

    One that begins with `/` may be a key as well: base64 has it, and so have passwords.
    """
    return text.startswith("~/") and bool(_PATH.fullmatch(text))


def learn(key: str) -> None:
    """Let `masked` know a key of whatever characters: one that is used as such, no piece of a settings file."""
    if len(key) >= _SHORTEST_MASKED:
        _known.add(key)


def masked(text: str) -> str:
    """`text` with every key that this process has seen replaced by `***`, and every echo of one."""
    if not _known:
        return text
    for value in sorted(_known, key=len, reverse=True):
        text = text.replace(value, "***")
    from toolsync.echo import unechoed  # `key print` shows a key without knowing its echoes

    return unechoed(text, frozenset(_known))


def masked_data(value: Any) -> Any:
    """JSON values with every text in them masked: done before JSON's escapes could hide a key."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, Mapping):
        return {masked(str(key)): masked_data(child) for key, child in value.items()}
    return [masked_data(child) for child in value] if isinstance(value, list | tuple) else value


def fingerprint(value: str, key: bytes) -> str:
    """Six hexadecimal digits that tell two keys apart and give neither away (HMAC-SHA-256, cut).

    Args:
        value: the key.
        key: the machine's own random bytes, so that the digits mean nothing elsewhere.
    """
    import hmac  # likewise

    return hmac.digest(key, _bytes(value), "sha256").hex()[:6]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # JSON's escapes can say what no text may hold


def printable(text: str, *, limit: int = 2000) -> str:
    """`text` from outside without what a terminal would obey: control, format and escape characters become `�`.

    Line feeds and tabs stay. Longer text than `limit` characters is cut, and says so.
    """
    text = "".join(
        c if c in "\n\t" or unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} else "�" for c in text
    )
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} characters more)"


def on_one_line(text: str, *, limit: int = 2000) -> str:
    """`text` from outside as `printable` leaves it, in one line: a line of its own could pass for one of ours."""
    return printable(text, limit=limit).replace("\n", "�").replace("\t", " ")


_SECRET_NAME = late(
    r"(?i)(api_?key|apikey|(^|[_.-])key$|token|secret|passw|credential|bearer|auth(orization)?$|headers?$)"
)


def looks_secret(name: str) -> bool:
    """Whether a settings key of this name usually holds a secret (`apiKey`, `AUTH_TOKEN`, `password`)."""
    return bool(_SECRET_NAME.search(name))


_KEY_SHAPE = late(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:(?:sk|pk|rk|gsk|csk|hf|fw|r8|xai|nvapi|pplx|npm|gh[pousr]|github_pat|tgp_v1|xapp|xox[abeprs]|glpat|tvly)[-_]"
    r"|AIza|AKIA|eyJ)(?=\S*\d)[A-Za-z0-9_.-]{16,}"
    r"|(?:sk-[a-z]{48}|hf_[A-Za-z]{34}|A[KS]IA[A-Z2-7]{16}|[0-9a-f]{32}\.[A-Za-z0-9]{16})(?![A-Za-z0-9_-]))"
)
"""What the keys of providers look like by their published prefixes, and the few that have neither those nor digits
(SiliconFlow, Hugging Face, AWS, Zhipu); and JSON Web Tokens. `templates/leaks` says it more closely, and of files."""


def holds_key_shape(text: str) -> bool:
    """Whether `text` holds something of the shape of a known provider's key."""
    return bool(_KEY_SHAPE.search(text))


def mask_key_shapes(text: str) -> str:
    """`text` with everything of the shape of a known provider's key replaced by `***`."""
    return _KEY_SHAPE.sub("***", text)


_LONG_WORD = late(r"[A-Za-z0-9_~+=-]{12,}")
_NAME = late(r"(?:[^A-Za-z0-9]|[A-Z]{0,99}[a-z]{2,}|[A-Z]{2,}|[0-9]{1,4}+(?![A-Za-z0-9]))*+")
"""Words and `CamelCase`, and short numbers that no letter follows: what people call things."""


def mask_strange_words(text: str) -> str:
    """`text` with every long word that is no name replaced by `***`: where the key is, and nobody knows what it is."""
    return _LONG_WORD.sub(lambda word: word[0] if _NAME.fullmatch(word[0]) else "***", text)


_CREDENTIALS = late(
    r"""(?ix)
    (?P<kept>
        \b(?:bearer|basic)\s+(?=\S*\d)                                      # a header's value
      | (?<=//)[^/\s@"':]+:(?=[^/\s@"']+@)                                # a name in an address, and its password
      | [?&][\w-]*(?:key|token|secret|signature|sig|password|auth)=       # a query
      | --[\w-]*(?:key|token|secret|password)(?:["',\s]+|=)["']?          # an option, and what follows it
    )
    (?P<secret>[^\s"'&,@]{4,})
    """
)


def mask_credentials(text: str) -> str:
    """A line of settings with what is secret by its neighbourhood (after `Bearer`, in an address) replaced by `***`."""
    return _CREDENTIALS.sub(_unless_reference, text)


_SETTING = late(r"""(?<![\w.-])([\w.-]{1,99})["']?\s*[:=]\s*(["']?\$?\{[\w:\s]*\}|\[\s*\]|["']?[^\s"',}\]]*)""")
_NO_SECRET = late(r"|true|false|null|[{\[]\s*[}\]]|[+-]?[0-9._]+")


def holds_secret_setting(text: str) -> bool:
    """Whether a piece of settings holds what is secret by its name (`password = x`) or its neighbourhood."""
    if mask_credentials(text) != text:
        return True
    named = (found[2].strip("\"'") for found in _SETTING.finditer(text) if looks_secret(found[1]))
    return any(not _NO_SECRET.fullmatch(value) and not is_reference(value) for value in named)


def _unless_reference(match: re.Match[str]) -> str:
    is_open = is_reference(match["secret"]) or match["secret"].startswith(("***", "$", "{", "<"))
    return match[0] if is_open else f"{match['kept']}***"


_REFERENCE = late(r"\$\{?[A-Z_][A-Z0-9_]*\}?|\{(env|file):[^}]*\}|\$\{\{ *secrets\.[A-Za-z0-9_]+ *\}\}")


def is_reference(text: str) -> bool:
    """Whether `text` names a key without being one (`${API_KEY}`, `{env:API_KEY}`): it may be shown and remembered."""
    return bool(_REFERENCE.fullmatch(text))


_WORD = late(r"[^\s\"',:={}\[\]]{12,}")
_MIXED = late(r"(?=.*[0-9]).*[A-Za-z]")


def possible_keys(text: str) -> Iterator[str]:
    """What of a piece of settings may be a key: long words with letters and digits that are no path and no address."""
    words = (match[0] for match in _WORD.finditer(text))
    return (word for word in words if _MIXED.match(word) and not PLACE.match(word) and not is_reference(word))
