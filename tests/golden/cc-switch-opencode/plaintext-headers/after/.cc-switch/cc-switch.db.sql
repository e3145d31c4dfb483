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
INSERT INTO "providers" VALUES('toolsync-work','opencode','Work gateway','{
  "npm": "@ai-sdk/openai-compatible",
  "name": "Work gateway",
  "options": {
    "baseURL": "https://gateway.example/api/v1",
    "apiKey": "sk-invented-golden-4f7Kq9ZtW2xB8",
    "headers": {
      "X-Team": "tools"
    }
  },
  "models": {
    "some-model": {
      "name": "some-model"
    }
  }
}
',NULL,NULL,1767312000000,8,'kept by toolsync',NULL,NULL,'{"liveConfigManaged": false}',0,0,'eu',NULL);
CREATE TABLE proxy_live_backup (
    app_type TEXT PRIMARY KEY, original_config TEXT NOT NULL, backed_up_at TEXT NOT NULL);
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);
CREATE INDEX idx_providers_failover ON providers (app_type, in_failover_queue, sort_index);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('provider_endpoints',4);
COMMIT;
