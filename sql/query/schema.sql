-- SPDX-License-Identifier: MIT
--
-- The version of the result tables, and checks of write privileges.

-- name: schema_version
-- The version of the result tables.
SELECT MAX("version") FROM "fairmill_schema"

-- name: schema_since
-- The time from which the tables have had this version or a later version, if known.
SELECT MIN("made_at") FROM "fairmill_schema"
WHERE "version" >= ? AND ("made_at" > 0 OR NOT EXISTS (SELECT 1 FROM "fairmill_schema" o WHERE o."version" < ?))

-- name: schema_made
-- Record the version of the result tables.
INSERT INTO "fairmill_schema" ("version", "made_at") VALUES (?, ?)

-- Each of the following statements fails if the login must not write to a table.  The statements
-- change no rows.

-- name: check_association
INSERT INTO "fairmill_association" SELECT * FROM "fairmill_association" WHERE 1 = 0
-- name: check_fairness
INSERT INTO "fairmill_fairness" SELECT * FROM "fairmill_fairness" WHERE 1 = 0
-- name: check_budget
INSERT INTO "fairmill_budget" SELECT * FROM "fairmill_budget" WHERE 1 = 0
-- name: check_finding
INSERT INTO "fairmill_finding" SELECT * FROM "fairmill_finding" WHERE 1 = 0
-- name: check_history
INSERT INTO "fairmill_history" SELECT * FROM "fairmill_history" WHERE 1 = 0
-- name: check_history_point
INSERT INTO "fairmill_history_point" SELECT * FROM "fairmill_history_point" WHERE 1 = 0
-- name: check_backfill
INSERT INTO "fairmill_backfill" SELECT * FROM "fairmill_backfill" WHERE 1 = 0
-- name: check_job_priority
INSERT INTO "fairmill_job_priority" SELECT * FROM "fairmill_job_priority" WHERE 1 = 0
-- name: check_job_term
INSERT INTO "fairmill_job_term" SELECT * FROM "fairmill_job_term" WHERE 1 = 0
-- name: check_privilege
INSERT INTO "fairmill_privilege" SELECT * FROM "fairmill_privilege" WHERE 1 = 0
-- name: check_notice
INSERT INTO "fairmill_notice" SELECT * FROM "fairmill_notice" WHERE 1 = 0
-- name: check_counted
INSERT INTO "fairmill_ledger_counted" SELECT * FROM "fairmill_ledger_counted" WHERE 1 = 0
-- name: check_run
INSERT INTO "fairmill_run" SELECT * FROM "fairmill_run" WHERE 1 = 0
-- name: check_seal
INSERT INTO "fairmill_seal" SELECT * FROM "fairmill_seal" WHERE 1 = 0
-- name: check_seal_odd
INSERT INTO "fairmill_seal_odd" SELECT * FROM "fairmill_seal_odd" WHERE 1 = 0
-- name: check_seal_open
INSERT INTO "fairmill_seal_open" SELECT * FROM "fairmill_seal_open" WHERE 1 = 0
-- name: check_seal_slice
INSERT INTO "fairmill_seal_slice" SELECT * FROM "fairmill_seal_slice" WHERE 1 = 0
-- name: check_seal_usage
INSERT INTO "fairmill_seal_usage" SELECT * FROM "fairmill_seal_usage" WHERE 1 = 0
-- name: check_settings
INSERT INTO "fairmill_settings" SELECT * FROM "fairmill_settings" WHERE 1 = 0
-- name: check_share_change
INSERT INTO "fairmill_share_change" SELECT * FROM "fairmill_share_change" WHERE 1 = 0
-- name: check_share_past
INSERT INTO "fairmill_share_past" SELECT * FROM "fairmill_share_past" WHERE 1 = 0
-- name: check_qos_change
INSERT INTO "fairmill_qos_change" SELECT * FROM "fairmill_qos_change" WHERE 1 = 0
-- name: check_share_state
INSERT INTO "fairmill_share_state" SELECT * FROM "fairmill_share_state" WHERE 1 = 0
-- name: check_tree
INSERT INTO "fairmill_tree" SELECT * FROM "fairmill_tree" WHERE 1 = 0
-- name: check_usage_day
INSERT INTO "fairmill_usage_day" SELECT * FROM "fairmill_usage_day" WHERE 1 = 0
-- name: check_kept
INSERT INTO "fairmill_kept" SELECT * FROM "fairmill_kept" WHERE 1 = 0
-- name: check_usage_open
INSERT INTO "fairmill_usage_open" SELECT * FROM "fairmill_usage_open" WHERE 1 = 0
-- name: check_usage_span
INSERT INTO "fairmill_usage_span" SELECT * FROM "fairmill_usage_span" WHERE 1 = 0
-- name: check_wait_final
INSERT INTO "fairmill_wait_final" SELECT * FROM "fairmill_wait_final" WHERE 1 = 0
-- name: check_wait_open
INSERT INTO "fairmill_wait_open" SELECT * FROM "fairmill_wait_open" WHERE 1 = 0
-- name: check_tres_name
INSERT INTO "fairmill_tres_name" SELECT * FROM "fairmill_tres_name" WHERE 1 = 0
-- name: check_value
INSERT INTO "fairmill_value" SELECT * FROM "fairmill_value" WHERE 1 = 0
