-- SPDX-License-Identifier: MIT
--
-- Returns a row if fairmill_fairshare is a table.

mysql: SELECT 1 FROM information_schema.tables
mysql: WHERE table_schema = DATABASE() AND table_name = 'fairmill_fairshare' AND table_type = 'BASE TABLE'
pgsql: SELECT 1 FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass('"fairmill_fairshare"') AND relkind = 'r'
sqlite: SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'fairmill_fairshare'
