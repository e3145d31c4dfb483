"""What a finding must name for a person to act on it, and what is said where nothing can be found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.doctor.cases import diagnosed, realised
from tests.doctor.test_well import case, chat, ok


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_dead_proxy_is_named_by_the_variable_that_sets_it(tmp_path: Path, variable: str) -> None:
    row = case(ok(chat()), others={"px": {"type": "closed"}})
    row["environment"]["env"] = {variable: "http://{px}"}
    row["environment"]["files"] = [{"path": "{HOME}/.profile", "text": f"\nexport {variable}=http://{{px}}\n"}]
    with realised(tmp_path, row) as stage:
        (finding,) = diagnosed(stage).findings
    assert finding["cause"] == "proxy_unreachable"
    assert f"take {variable} out, at ${variable} of the environment (set at ~/.profile:2);" in finding["remedy"]
    assert (finding["where"]["file"], finding["where"]["line"]) == ("~/.profile", 2)
