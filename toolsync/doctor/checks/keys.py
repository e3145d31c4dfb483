"""Whether there is a key, and whether what stands in its place can be one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from toolsync.doctor.checks.saying import address, at_line, place, values
from toolsync.doctor.look import Look
from toolsync.doctor.model import Certainty, Credential, Finding
from toolsync.doctor.references import GAP, stray, variable
from toolsync.document import data as _data
from toolsync.errors import KeyringLockedError, NoKeyringError
from toolsync.masking import Secret
from toolsync.pattern import late
from toolsync.secret.dummy import is_dummy
from toolsync.sentence import Text, reported, say
from toolsync.trace.credential import CREDENTIALS


def presence(look: Look) -> Iterator[Finding]:
    """No credential at all: nothing is configured, a variable is empty, or nothing says how to send it."""
    effective, base = look.effective, look.found.get("base_url")
    if effective.credentials or not (look.tool.key or CREDENTIALS & look.reader.questions.keys()):
        return
    if base is None or not base.value or not base.layer:
        return  # nobody told it of a gateway: it asks its vendor, with a login of its own
    empty = [name for question in sorted(CREDENTIALS) for name in _empty(look, question)]
    if empty:
        yield from (_empty_variable(look, name) for name in dict.fromkeys(empty))
        return
    unbound = _unbound(look)
    locked = None if unbound else _locked(look)
    if locked is not None:
        yield locked
        return
    needs_key = look.tool.request.needs_key
    is_stated = any(isinstance(value, Secret) for value in effective.headers.values())
    if _has_login(look) or (is_stated and not needs_key):
        return  # a header of its own may be all that the gateway wants
    evidence: list[Text] = [say("no_credential", url=address(effective.url))] if effective.url else []
    evidence += [say("finds_no_key", called=look.called), *unbound]
    cause = "key_not_sent" if unbound else "key_missing"
    certainty: Certainty = "sure" if needs_key else "likely"
    yield Finding(cause, certainty, tuple(evidence), values(look))


def _has_login(look: Look) -> bool:
    """Whether a header of its own stands in the place of a key: `Authorization: Basic …`; Claude Code asks then too."""
    names = {"authorization", *(name.lower() for name in look.tool.request.headers.values())}
    return any(name in names and isinstance(value, Secret) for name, value in look.effective.headers.items())


def _empty(look: Look, question: str) -> Iterator[str]:
    """The variables that the question is answered from, and that hold nothing."""
    if question not in look.reader.questions or look.found[question].value:
        return
    yield from (name for name in look.named(question) if not look.environ.get(name))
    for slot in look.reader.questions[question]:
        if slot.kind == "variable" and look.environ.get(slot.text) == "":
            yield slot.text


def _empty_variable(look: Look, name: str) -> Finding:
    answers = [answer for question, answer in look.raw.items() if name in look.named(question) and answer.file]
    named = next((answer for answer in look.raw.values() if answer.value == name and answer.file), None)
    where = look.where(answers[0]) if answers else look.where(named) if named else None
    state = "variable_empty" if name in look.environ else "variable_unset"
    evidence: list[Text] = [say(state, variable=name, called=look.called)]
    if where is not None:
        evidence.append(say("named_at", place=place(look, where)))
    line = look.world.set_at(name)
    if line is not None:
        at = look.world.session.shown(line.file) + (f":{line.line}" if line.line else "")
        evidence.append(say("sets_nothing" if line.is_empty else "sets_for_later", place=at))
    return Finding("key_env_empty", "sure", tuple(evidence), values(look, where, variable=name), where)


def _unbound(look: Look) -> list[Text]:
    """Why a key that is there is not sent: the settings name a way to reach the gateway, and none to send a key."""
    if look.tool.key and not CREDENTIALS & look.reader.questions.keys():
        return [say("no_place_for_key", called=look.called)]
    pending = [
        slot.text
        for question in CREDENTIALS & look.reader.questions.keys()
        for slot in look.reader.questions[question]
        if slot.kind == "variable" and slot.text.startswith("<")
    ]
    base = look.found.get("base_url")
    if pending and base is not None and base.file:
        return [say("address_without_key", place=place(look, look.where(base)))]
    own, profile = look.world.key, look.world.profile
    told = profile.key.name if profile is not None and profile.key.kind == "env" else ""  # for toolsync itself
    held = [
        name
        for name, value in look.environ.items()
        if isinstance(own, Secret) and value == own.reveal() and name != told
    ]
    if held:
        return [say("key_elsewhere", variable=f"${min(held)}", called=look.called)]
    return []


def _locked(look: Look) -> Finding | None:
    """The keyring, if that is why there is no key to be had for the tool."""
    error = look.world.key
    if not isinstance(error, NoKeyringError | KeyringLockedError):
        return None
    cause = "keyring_locked" if isinstance(error, KeyringLockedError) else "keyring_unavailable"
    return Finding(cause, "likely", (reported(error.message), say("finds_no_key", called=look.called)), values(look))


# What stands where the key belongs.


def shape(look: Look) -> Iterator[Finding]:
    """A credential that can be no key, or that is a known dummy, or another provider's."""
    for credential in look.effective.credentials:
        if credential.value is None or (_has_login(look) and is_dummy(credential.value.reveal())):
            continue
        found = _judged(look, credential, credential.value.reveal())
        if found is not None:
            yield found
    for name, value in look.effective.headers.items():
        text = value.reveal() if isinstance(value, Secret) else value
        if isinstance(value, Secret) and stray(text):
            evidence = say("header_holds_reference", header=name, called=look.called)
            yield Finding("key_literal_placeholder", "sure", (evidence,), values(look, header=name))


def _judged(look: Look, credential: Credential, value: str) -> Finding | None:
    at = place(look, credential.where)
    if not value.strip():
        if not value:
            return _finding(look, credential, "key_env_empty", say("holds_nothing", place=at))
        return _finding(look, credential, "key_whitespace", say("holds_blanks", place=at))
    raw = _half_expanded(look, credential, value)
    whose = stray(raw or value)
    if whose == GAP:
        return _finding(
            look, credential, "key_placeholder_value", say("at", place=at, said=say(GAP)), certainty="likely"
        )
    if whose:
        return _literal(look, credential, raw or value, whose)
    for cause, text, certainty in (*_not_a_key(value), *_white(value), *_dummy(value), *_suffixed(value)):
        return _finding(look, credential, cause, say("at", place=at, said=text), certainty=certainty)
    return _other_provider(look, credential, value)


def _half_expanded(look: Look, credential: Credential, value: str) -> str:
    """A reference of another's spelling with the tool's own in it, `${env:X}` to who knows `{env:X}`; "" for others."""
    answer = look.raw.get(credential.question)
    raw = answer.value if answer is not None else ""
    is_whole = raw == value or look.environ.get(variable(raw)) == value
    return "" if is_whole or not value.startswith("$") or not stray(raw) else raw


def _literal(look: Look, credential: Credential, value: str, whose: str) -> Finding:
    name = variable(value)
    at = place(look, credential.where)
    evidence = [say("sent_as_it_stands", place=at, whose=say(whose), called=look.called)]
    if name and look.environ.get(name):
        evidence.append(say("variable_set", variable=name))
    return _finding(look, credential, "key_literal_placeholder", *evidence, variable=name)


def _finding(
    look: Look, credential: Credential, cause: str, *evidence: Text, certainty: Certainty = "sure", **more: str
) -> Finding:
    found = values(look, credential.where, header=credential.header, **more)
    return Finding(cause, certainty, evidence, found, credential.where)


Judged = Iterator[tuple[str, Text, Certainty]]


def _not_a_key(value: str) -> Judged:
    bare = value.strip()
    if re.match(r"(?i)bearer\s+\S", bare):
        yield "key_not_a_key", say("bearer_twice"), "sure"
    if _ASSIGNMENT.match(bare):
        yield "key_not_a_key", say("assignment_for_key"), "sure"
    if re.match(r"(?i)[a-z][a-z0-9+.-]*://", bare):
        yield "key_not_a_key", say("address_for_key"), "sure"
    if re.match(r"(?i)(authorization|x-api-key)\s*:", bare):
        yield "key_not_a_key", say("header_for_key"), "sure"
    if re.search(r"\*{3,}|…|•{2,}|\w\.{3}\w", bare):
        yield "key_not_a_key", say("masked_key"), "sure"
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'`":
        yield "key_not_a_key", say("quoted_key"), "sure"
    if len(re.split(r"[ \t]+", bare)) > 2 or bare[:1] in "{[":  # noqa: PLR2004  three words are a sentence
        yield "key_not_a_key", say("words_for_key"), "sure"
    odd = next((c for c in bare if not c.isascii() and unicodedata.category(c) != "Zs"), "")
    if odd:
        name = unicodedata.name(odd, "a control character").lower()
        yield "key_not_a_key", say("odd_character", character=name, code=f"U+{ord(odd):04X}"), "sure"


_ASSIGNMENT = late(
    r"(?:export\s+|set\s+|\$env:)[A-Za-z_]\w*\s*=\s*\S|[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET)[A-Z0-9_]*\s*=\s*[^=\s]"
)


def _white(value: str) -> Judged:
    odd = next((c for c in value if c.isspace() or unicodedata.category(c) in ("Cc", "Zs")), "")
    if odd:
        where = "white_inside" if odd in value.strip() else "white_first" if value[0] == odd else "white_last"
        yield "key_whitespace", say(where, character=say(_WHITE.get(odd, "white_other"))), "sure"


_WHITE: Mapping[str, str] = {
    "\r": "carriage_return",
    "\n": "line_break",
    "\t": "tabulator",
    " ": "space",
    "\xa0": "no_break_space",
}


def _dummy(value: str) -> Judged:
    if is_dummy(value):
        yield "key_placeholder_value", say("dummy"), "likely"


def _suffixed(value: str) -> Judged:
    if re.fullmatch(r"sk-[A-Za-z0-9]{32,}-\w{1,8}", value):
        yield "key_malformed", say("channel_suffix"), "open"


_PROVIDERS: Mapping[str, tuple[str, str]] = {
    "sk-ant-": ("Anthropic", "anthropic.com"),
    "sk-or-": ("OpenRouter", "openrouter.ai"),
    "sk-proj-": ("OpenAI", "openai.com"),
    "sk-svcacct-": ("OpenAI", "openai.com"),
    "AIza": ("Google", "googleapis.com"),
    "gsk_": ("Groq", "groq.com"),
    "xai-": ("xAI", "x.ai"),
    "hf_": ("Hugging Face", "huggingface.co"),
    "nvapi-": ("NVIDIA", "nvidia.com"),
    "pplx-": ("Perplexity", "perplexity.ai"),
    "ghp_": ("GitHub", "github.com"),
}
"""How providers' keys begin, as they publish it, and where they are good."""


def _other_provider(look: Look, credential: Credential, value: str) -> Finding | None:
    """A key that begins as another provider's do: weak, for a relay may hand out keys of any form."""
    known = next((known for prefix, known in _PROVIDERS.items() if value.startswith(prefix)), None)
    host = _host(look.effective.base_url)
    if known is None or not host or _is_of(host, known[1]):
        return None
    is_vendors = any(_is_of(host, domain) for _, domain in _PROVIDERS.values())
    return _finding(
        look,
        credential,
        "key_wrong_provider",
        say("begins_as_others", provider=known[0], host=host),
        certainty="likely" if is_vendors else "open",
        host=host,
    )


def _host(url: str) -> str:
    try:
        return (urlsplit(url.strip()).hostname or "").lower()
    except ValueError:
        return ""


def _is_of(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def held_back(look: Look) -> Iterator[Finding]:
    """A key that the user once declined, so that the tool does not send it."""
    answer = look.found.get("held_back")
    one = look.seen(answer) if answer is not None else None
    if answer is None or one is None or not answer.value:
        return
    declined = _data.get(one.tree.data, answer.path)
    ends = [text for text in declined if isinstance(text, str) and text] if isinstance(declined, list) else []
    for credential in look.effective.credentials:
        if credential.value is None or credential.header != "x-api-key":
            continue
        if any(credential.value.reveal().endswith(end) for end in ends):
            declined_at = at_line(look, look.where(answer))
            text = say("declined", place=place(look, credential.where), at=declined_at)
            is_only = len(look.effective.credentials) == 1
            certainty: Certainty = "sure" if is_only else "likely"
            yield Finding("key_not_approved", certainty, (text,), values(look, credential.where), credential.where)
