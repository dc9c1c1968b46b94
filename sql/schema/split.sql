-- SPDX-License-Identifier: MIT
--
-- Copies the table fairmill_fairshare of version 7 to two tables.  The view with the same name is
-- created afterwards.

DELETE FROM "fairmill_value";
DELETE FROM "fairmill_tree";
INSERT INTO "fairmill_tree" (
    "cluster", "id_assoc", "parent_id", "depth", "account", "user_name", "partition_name", "shares",
    "shares_norm", "level_shares_norm", "tie_order", "grp_tres_mins", "pbs_own")
SELECT
    "cluster", "id_assoc", "parent_id", "depth", "account", "user_name", "partition_name", "shares",
    "shares_norm", "level_shares_norm", "tie_order", "grp_tres_mins", 1
FROM "fairmill_fairshare";
INSERT INTO "fairmill_value" (
    "cluster", "id_assoc", "usage_raw", "usage_norm", "capacity_usage", "level_usage", "classic_usage",
    "classic_factor", "linear_usage", "linear_factor", "depth_oblivious_ratio", "depth_oblivious_factor",
    "depth_oblivious_usage", "level_fs", "fair_tree_rank", "pbs_tree_usage", "pbs_factor", "fairshare_order",
    "pbs_order", "tres_run_mins")
SELECT
    "cluster", "id_assoc", "usage_raw", "usage_norm", "capacity_usage", "level_usage", "classic_usage",
    "classic_factor", "linear_usage", "linear_factor", "depth_oblivious_ratio", "depth_oblivious_factor",
    "depth_oblivious_usage", "level_fs", "fair_tree_rank", "pbs_tree_usage", "pbs_factor", "fairshare_order",
    "pbs_order", "tres_run_mins"
FROM "fairmill_fairshare";
DELETE FROM "fairmill_kept" WHERE "table_name" = 'fairmill_fairshare';
mysql: DROP TABLE "fairmill_fairshare";
sqlite: DROP TABLE "fairmill_fairshare";
pgsql: -- Save the views on the table.  They are created again on the new view, and keep their
pgsql: -- owners, their GRANTs, and the views that depend on them.
pgsql: CREATE TABLE "fairmill_moved" ("position" SERIAL, "name" TEXT, "kind" TEXT, "owner" NAME, "statement" TEXT);
pgsql: INSERT INTO "fairmill_moved" ("kind", "owner", "statement")
pgsql: SELECT 'v', CURRENT_USER, pg_catalog.format('GRANT SELECT%s ON "fairmill_fairshare" TO %s%s', g."columns",
pgsql:     CASE g."grantee" WHEN 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(CAST(pg_catalog.pg_get_userbyid(g."grantee") AS TEXT)) END,
pgsql:     CASE WHEN g."is_grantable" THEN ' WITH GRANT OPTION' ELSE '' END)
pgsql: FROM (
pgsql:     SELECT '' AS "columns", a.grantee AS "grantee", a.is_grantable AS "is_grantable", a.privilege_type AS "privilege"
pgsql:     FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
pgsql:     WHERE c.oid = pg_catalog.to_regclass('"fairmill_fairshare"') AND a.grantee <> c.relowner
pgsql:     UNION ALL
pgsql:     SELECT pg_catalog.format(' (%I)', k.attname), a.grantee, a.is_grantable, a.privilege_type
pgsql:     FROM pg_catalog.pg_attribute k, pg_catalog.aclexplode(k.attacl) a
pgsql:     WHERE k.attrelid = pg_catalog.to_regclass('"fairmill_fairshare"')) g
pgsql: WHERE g."privilege" = 'SELECT';
pgsql: INSERT INTO "fairmill_moved" ("name", "kind", "owner", "statement")
pgsql: SELECT c.relname, c.relkind, pg_catalog.pg_get_userbyid(c.relowner), pg_catalog.format('CREATE OR REPLACE VIEW %I.%I%s AS %s', n.nspname, c.relname,
pgsql:     ' WITH (' || pg_catalog.array_to_string(c.reloptions, ', ') || ')', pg_catalog.pg_get_viewdef(c.oid))
pgsql: FROM pg_catalog.pg_class c
pgsql: JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
pgsql: WHERE EXISTS (
pgsql:     SELECT FROM pg_catalog.pg_rewrite r
pgsql:     JOIN pg_catalog.pg_depend d ON d.classid = CAST('pg_catalog.pg_rewrite' AS regclass) AND d.objid = r.oid
pgsql:     WHERE r.ev_class = c.oid AND c.relkind <> 'r' AND d.refobjid = pg_catalog.to_regclass('"fairmill_fairshare"'))
pgsql: ORDER BY c.relkind = 'v', c.oid;
pgsql: ALTER TABLE "fairmill_fairshare" RENAME TO "fairmill_former";
