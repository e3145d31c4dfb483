"""`ping` where the person speaks Chinese: to its last line, and what `apply` says of the gateway."""

# ruff: noqa: RUF001  Chinese has its own punctuation

from __future__ import annotations

from tests.acceptance.machine import Machine
from tests.keys import invented
from tests.probe.test_chinese import english
from toolsync.loopback import LoopbackGateway
from toolsync.masking import Secret


def test_a_ping_is_chinese_to_its_last_line(machine: Machine, gateway: LoopbackGateway) -> None:
    machine.environ["LANG"] = "zh_CN.UTF-8"
    for file in (".claude/settings.json", ".vibe/config.toml", ".cline/data/globalState.json"):
        machine.write(file, "{}" if file.endswith("json") else "")
    machine.profile(
        '[profiles.work.tool.mistral-vibe]\nenabled = false\n[profiles.work.tool.codx]\nmodel = "m"\n',
        base_url=gateway.base_url,
    )
    ran = machine.toolsync("ping", "--tool", "claude-code", "--tool", "cline", "--tool", "mistral-vibe")
    assert english(ran.out, ran.err) == []
    assert "个 token" in ran.out
    assert "跳过 Mistral Vibe：配置档 work 为它设置了 enabled = false" in ran.out
    assert "警告：[profiles.work.tool.codx] 不对应任何工具" in ran.out
    gateway.key = Secret(invented("another"))
    ran = machine.toolsync("apply", "--yes", "--tool", "claude-code")
    assert "网关不认识这个密钥（401）：Invalid API key [key_invalid]" in ran.err
