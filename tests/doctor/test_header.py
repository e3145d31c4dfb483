"""A key in a header that the gateway does not read: what `apply` can do about it, what the profile can, and nobody."""

from __future__ import annotations

import pytest

from tests.doctor.test_mended import PROFILE, effective
from toolsync.doctor.model import Finding
from toolsync.doctor.remedy import fix
from toolsync.doctor.remedy.standing import Rehearsal, Standing
from toolsync.sentence import tell

APPLY = "toolsync apply --tool demo"
BESIDE = f"toolsync profile edit work --set tool.demo.request.headers.api-key=keyring:k && {APPLY} --allow-plaintext"
NOBODY = "Demo sends the key in no other header, and `toolsync apply` would not change that"

ROWS = {
    # whether `apply` would change nothing, what the gateway reads, what the tool takes, and what is said
    "apply does it": (False, "x-api-key", {"headers"}, APPLY),
    "apply does it, as far as is known": (False, "", {"headers"}, APPLY),
    "a further header of a tool that is not set yet": (False, "api-key", {"headers"}, BESIDE),
    "a further header": (True, "api-key", {"headers"}, BESIDE),
    "a further header, as lines": (True, "api-key", {"headers_lines"}, BESIDE),
    "a tool without further headers": (True, "api-key", set(), NOBODY),
    "a tool without further headers that is not set yet": (False, "api-key", set(), NOBODY),
    "a header that wants a word before the key": (True, "authorization", {"headers"}, NOBODY),
    "a header that nobody knows": (True, "", {"headers"}, NOBODY),
}


@pytest.mark.parametrize(("is_vain", "read", "takes", "expected"), ROWS.values(), ids=ROWS)
def test_what_is_printed(is_vain: bool, read: str, takes: set[str], expected: str) -> None:
    finding = Finding("key_wrong_header", values={"read_header": read} if read else {})
    standing = Standing(is_set=is_vain, takes=frozenset(takes), rehearsal=lambda: Rehearsal(is_vain=is_vain))
    found = fix(effective(), finding, PROFILE, standing)
    assert found is not None
    assert tell(found.text).startswith(expected)
    assert bool(found.argv) == expected.startswith("toolsync ")
