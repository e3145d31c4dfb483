"""A lived-in home: settings of many tools with comments, CRLF, tabs, a BOM and links; and the lines that apply changes.

In `OURS`, `@PYTHON@` and `@CONFIG@` stand for the interpreter and the profile file.
"""

from __future__ import annotations

SETTINGS: dict[str, str | bytes] = {
    # What apply edits.
    "dotfiles/claude.json": """{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": ["Bash(git diff:*)", "Read(~/notes/**)"],
    "deny": []
  },
  "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "echo \\u2714 \\"done\\"" } ] } ] },
  "env": {
    "EDITOR": "vim",
    "ANTHROPIC_MODEL": "old-model"
  },
  "cleanupPeriodDays": 30
}""",
    "dotfiles/codex.toml": (
        "\ufeff# my Codex\r\n"
        'model\t=\t"gpt-5-codex"   # the good one\r\n'
        'approval_policy = "on-request"\r\n'
        "\r\n"
        "# servers\r\n"
        "[mcp_servers.docs]\r\n"
        'command = "npx"\r\n'
        'args = ["-y", "docs-server"]   # pinned\r\n'
        "\r\n"
        '[projects."/home/me/work"]\r\n'
        'trust_level = "trusted"\r\n'
        "# the end\r\n"
    ),
    ".config/Code/User/settings.json": """// VS Code, kept by hand
{
\t"editor.fontSize": 13, // small
\t/* themes
\t   come and go */
\t"workbench.colorTheme": "Solarized Dark",
\t"claudeCode.environmentVariables": [
\t\t// for the office
\t\t{ "name": "HTTPS_PROXY", "value": "http://proxy.example:3128" },
\t],
\t// "files.autoSave": "off",
}
""",
    "service/config.toml": """# our inference service
[api]
base_url = "https://old.example/v1"   # being moved
api_key = "${OLD_KEY}"
max_retries = 3

[server]
port = 8080
""",
    "service/settings.json": '{\r\n    "model" : "old-model",\r\n    "ui" : { "theme" : "dark" }\r\n}\r\n',
    # What it must not touch.
    ".bashrc": "export EDITOR=vim\nexport OPENAI_API_KEY=\n",
    ".zshrc": "# zsh\r\n",
    ".npmrc": "fund=false\n",
    ".vimrc": "set nomodeline",
    ".gitconfig": "[user]\n\tname = Me\n\temail = me@example.org\n",
    ".editorconfig": "root = true\n\n[*]\nindent_style = tab\n",
    ".claude.json": '{"numStartups": 3, "oauthAccount": null}\n',
    ".claude/CLAUDE.md": "Be brief.\n",
    ".claude/agents/reviewer.md": "---\nname: reviewer\n---\n",
    ".claude/commands/fix.md": "Fix it.\n",
    ".claude/settings.local.json": '{"permissions": {"allow": ["Read"]}}\n',
    ".codex/AGENTS.md": "Be brief.\n",
    ".codex/history.jsonl": '{"text": "hello"}\n',
    ".config/Code/User/keybindings.json": "// none\n[]\n",
    ".config/Code/User/snippets/python.json": "{\n}\n",
    ".config/gh/config.yml": "version: 1\n# comment\n",
    ".config/zed/settings.json": '// Zed\n{ "theme": "One Dark", }\n',
    ".config/opencode/opencode.json": '{ "model": "x/y" }\n',
    ".continue/config.yaml": "name: mine\nversion: 1.0.0\n",
    ".cursor/mcp.json": '{ "mcpServers": {} }\n',
    ".gemini/settings.json": '{ "theme": "Default" }\n',
    ".aider.conf.yml": "model: x\n",
    ".env": "A=1\r\nB='two'\r\n",
    "project/.vscode/settings.json": '{ "editor.rulers": [80,] } // mine\n',
    "project/pyproject.toml": "[project]\nname = 'x'\n",
    "service/other.toml": b"\xef\xbb\xbfport=1\r",
    "notes/binary.dat": bytes(range(256)),
}

LINKS = {
    ".claude/settings.json": "../dotfiles/claude.json",
    ".codex/config.toml": "link.toml",
    ".codex/link.toml": "../dotfiles/codex.toml",
    "notes/nowhere": "does/not/exist",
    "notes/home": "..",
}

OURS = {
    "dotfiles/claude.json": """\
-    "ANTHROPIC_MODEL": "old-model"
+    "ANTHROPIC_MODEL": "some-model",
+    "ANTHROPIC_BASE_URL": "https://gateway.example/api",
+    "ANTHROPIC_AUTH_TOKEN": "",
+    "ANTHROPIC_API_KEY": ""
-  "cleanupPeriodDays": 30
+  "cleanupPeriodDays": 30,
+  "apiKeyHelper": "@PYTHON@ -I -m toolsync --config @CONFIG@ key print work\"""",
    "dotfiles/codex.toml": """\
-model\t=\t"gpt-5-codex"   # the good one\r
+model\t=\t"some-model"   # the good one\r
+model_provider = "toolsync"\r
+\r
+[model_providers.toolsync]\r
+name = "work"\r
+base_url = "https://gateway.example/api/v1"\r
+wire_api = "responses"\r
+auth = { command = "@PYTHON@", args = ["-I", "-m", "toolsync", "--config", "@CONFIG@", "key", "print", "work"] }\r""",
    ".config/Code/User/settings.json": """\
+\t\t{ "name": "ANTHROPIC_BASE_URL", "value": "https://gateway.example/api" },
+\t\t{ "name": "ANTHROPIC_MODEL", "value": "some-model" },
+\t"claudeCode.disableLoginPrompt": true,""",
    "service/config.toml": """\
-base_url = "https://old.example/v1"   # being moved
-api_key = "${OLD_KEY}"
+base_url = "https://gateway.example/api/v1"   # being moved
+api_key = "${TOOLSYNC_API_KEY}"
+
+[model]
+name = "some-model\"""",
    "service/settings.json": """\
-    "model" : "old-model",\r
-    "ui" : { "theme" : "dark" }\r
+    "model" : "some-model",\r
+    "ui" : { "theme" : "dark" },\r
+    "apiProvider" : "openai-compatible",\r
+    "baseUrl" : "https://gateway.example/api/v1",\r
+    "apiKey" : "${TOOLSYNC_API_KEY}"\r""",
}
