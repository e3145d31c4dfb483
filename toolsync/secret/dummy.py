"""What examples have in a key's place: taken for a key, it is refused, but by a gateway that takes any."""

from __future__ import annotations

from toolsync.pattern import late

_DUMMY = late(
    r"""(?ix)
    (sk-)? ( x{3,} | 0{4,} | (\d)\3{5,} | no-?key(-required)? )
  | (sk-)? (none|null|undefined|empty|dummy|noop|no-op|fake|placeholder) ([-_]?key)?
  | not-?needed | (change|replace)[-_ ]?me | to-?do | n/?a | any(thing)? | api[-_]?key | secret | token | key
  | (sk-)? (your|my|the|insert|enter|paste|put|add|some|example) [-_ ]? \w* [-_ ]? (key|token) ([-_ ]?here)?
  | sk-(test|dummy|fake|example|key|1234(56(78(90)?)?)?) | lm-?studio | ollama | proxy_managed
    """
)
_LONGEST_DUMMY = 60


def is_dummy(text: str) -> bool:
    """Whether it is one of the words that examples write where the key belongs (`your-api-key`)."""
    return len(text) <= _LONGEST_DUMMY and _DUMMY.fullmatch(text) is not None
