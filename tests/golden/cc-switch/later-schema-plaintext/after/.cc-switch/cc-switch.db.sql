BEGIN TRANSACTION;
CREATE TABLE provider_endpoints (
    id INTEGER PRIMARY KEY AUTOINCREMENT, provider_id TEXT NOT NULL, app_type TEXT NOT NULL,
    url TEXT NOT NULL, added_at INTEGER,
    FOREIGN KEY (provider_id, app_type) REFERENCES providers (id, app_type) ON DELETE CASCADE);
INSERT INTO "provider_endpoints" VALUES(1,'own','claude','https://e.example',2);
INSERT INTO "provider_endpoints" VALUES(2,'own','codex','https://e.example',2);
INSERT INTO "provider_endpoints" VALUES(3,'own','gemini','https://e.example',2);
INSERT INTO "provider_endpoints" VALUES(4,'own','opencode','https://e.example',2);
CREATE TABLE provider_health (
    provider_id TEXT NOT NULL, app_type TEXT NOT NULL, is_healthy INTEGER NOT NULL DEFAULT 1,
    consecutive_failures INTEGER NOT NULL DEFAULT 0, last_error TEXT, updated_at TEXT NOT NULL,
    PRIMARY KEY (provider_id, app_type),
    FOREIGN KEY (provider_id, app_type) REFERENCES providers (id, app_type) ON DELETE CASCADE);
INSERT INTO "provider_health" VALUES('own','claude',1,0,NULL,'2026-01-01');
INSERT INTO "provider_health" VALUES('own','codex',1,0,NULL,'2026-01-01');
INSERT INTO "provider_health" VALUES('own','gemini',1,0,NULL,'2026-01-01');
INSERT INTO "provider_health" VALUES('own','opencode',1,0,NULL,'2026-01-01');
CREATE TABLE providers (id TEXT NOT NULL, app_type TEXT NOT NULL, name TEXT NOT NULL, settings_config TEXT NOT NULL, website_url TEXT, category TEXT, created_at INTEGER, sort_index INTEGER, notes TEXT, icon TEXT, icon_color TEXT, meta TEXT NOT NULL DEFAULT '{}', is_current BOOLEAN NOT NULL DEFAULT 0, in_failover_queue BOOLEAN NOT NULL DEFAULT 0, region TEXT NOT NULL DEFAULT 'eu', weight REAL, PRIMARY KEY (id, app_type));
INSERT INTO "providers" VALUES('own','claude','Own','{}',NULL,'custom',1,7,NULL,NULL,NULL,'{}',1,0,'eu',NULL);
INSERT INTO "providers" VALUES('own','codex','Own','{}',NULL,'custom',1,7,NULL,NULL,NULL,'{}',1,0,'eu',NULL);
INSERT INTO "providers" VALUES('own','gemini','Own','{}',NULL,'custom',1,7,NULL,NULL,NULL,'{}',1,0,'eu',NULL);
INSERT INTO "providers" VALUES('own','opencode','Own','{}',NULL,'custom',1,7,NULL,NULL,NULL,'{}',0,0,'eu',NULL);
INSERT INTO "providers" VALUES('toolsync-work','claude','Work gateway','{
  "permissions": {
    "allow": ["Bash(git diff:*)"]
  },
  "env": {
    "EDITOR": "vim",
    "ANTHROPIC_BASE_URL": "https://gateway.example/api",
    "ANTHROPIC_AUTH_TOKEN": "sk-invented-golden-4f7Kq9ZtW2xB8",
    "ANTHROPIC_API_KEY": "",
    "ANTHROPIC_MODEL": "some-model"
  }
}
',NULL,NULL,1767312000000,8,'kept by toolsync',NULL,NULL,'{
    "commonConfigEnabled": false
  }',0,0,'eu',NULL);
INSERT INTO "providers" VALUES('toolsync-work','codex','Work gateway','{
  "auth": {},
  "config": "# my Codex\nmodel = \"some-model\"   # the good one\nmodel_provider = \"toolsync\"\n\n[mcp_servers.docs]\ncommand = \"npx\"\n\n[model_providers.toolsync]\nname = \"Work gateway\"\nbase_url = \"https://gateway.example/api/v1\"\nwire_api = \"responses\"\nauth = { command = \"/opt/toolsync/bin/python\", args = [\"-I\", \"-m\", \"toolsync\", \"--config\", \"/machine/config/profile.toml\", \"key\", \"print\", \"work\"] }\n"
}',NULL,NULL,1767312000000,8,'kept by toolsync',NULL,NULL,'{
    "commonConfigEnabled": false
  }',0,0,'eu',NULL);
CREATE TABLE proxy_live_backup (
    app_type TEXT PRIMARY KEY, original_config TEXT NOT NULL, backed_up_at TEXT NOT NULL);
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);
CREATE INDEX idx_providers_failover ON providers (app_type, in_failover_queue, sort_index);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('provider_endpoints',4);
COMMIT;
