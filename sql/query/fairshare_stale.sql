-- SPDX-License-Identifier: MIT
-- Rows that this run did not write: of associations that are gone.
DELETE FROM "fairmill_fairshare" WHERE "cluster" = ? AND "run_id" <> ?
