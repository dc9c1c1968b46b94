-- SPDX-License-Identifier: MIT
--
-- Runs after the view fairmill_fairshare was created: restores the GRANTs on the former table, and
-- the views that used that table.

pgsql: DO $$
pgsql: DECLARE
pgsql:     "we" NAME := CURRENT_USER;
pgsql:     "moved" RECORD;
pgsql: BEGIN
pgsql:     FOR "moved" IN SELECT * FROM "fairmill_moved" ORDER BY "position" LOOP
pgsql:         IF "moved"."kind" <> 'v' THEN
pgsql:             RAISE EXCEPTION '"%" depends on fairmill_fairshare: drop it for the upgrade, and create it again afterwards', "moved"."name";
pgsql:         ELSIF NOT pg_catalog.pg_has_role(SESSION_USER, "moved"."owner", 'MEMBER') THEN
pgsql:             RAISE EXCEPTION 'the view "%" on fairmill_fairshare belongs to "%": grant that role to this login for the upgrade, or log in as a superuser',
pgsql:                 "moved"."name", "moved"."owner";
pgsql:         END IF;
pgsql:         PERFORM pg_catalog.set_config('role', "moved"."owner", true);
pgsql:         EXECUTE "moved"."statement";
pgsql:         PERFORM pg_catalog.set_config('role', "we", true);
pgsql:     END LOOP;
pgsql: END
pgsql: $$;
pgsql: DROP TABLE "fairmill_moved";
pgsql: DROP TABLE "fairmill_former";
