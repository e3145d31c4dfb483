"""Tokens that say until when they hold: only those make a clock that is off the cause."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from toolsync.doctor.token import is_disputed

HERE, THERE = 1_000.0, 2_000.0


def token(**claims: Any) -> str:
    head, said = ({"alg": "none"}, claims)
    return (
        ".".join(base64.urlsafe_b64encode(json.dumps(one).encode()).decode().rstrip("=") for one in (head, said)) + "."
    )


@pytest.mark.parametrize(
    ("key", "here", "there", "expected"),
    [
        pytest.param(token(exp=1500), HERE, THERE, True, id="over by the gateway's clock"),
        pytest.param(token(exp=500), HERE, THERE, False, id="over by both"),
        pytest.param(token(exp=3000), HERE, THERE, False, id="over by neither"),
        pytest.param(token(nbf=1500), THERE, HERE, True, id="not begun by the gateway's clock"),
        pytest.param(token(iat=1500, exp=3000), THERE, HERE, True, id="not made yet by the gateway's clock"),
        pytest.param(token(exp=10**400), HERE, THERE, False, id="a number of any size"),
        pytest.param(token(exp="1500", nbf=True), HERE, THERE, False, id="what is no moment"),
        pytest.param("sk-invented-plain-0123456789", HERE, THERE, False, id="a key that says nothing"),
        pytest.param("a.b.c", HERE, THERE, False, id="three parts of something else"),
        pytest.param(f"a.{base64.urlsafe_b64encode(b'[1]').decode()}.c", HERE, THERE, False, id="no table"),
    ],
)
def test_a_token_is_disputed_where_it_holds_here_alone(key: str, here: float, there: float, *, expected: bool) -> None:
    assert is_disputed(key, here, there) is expected
