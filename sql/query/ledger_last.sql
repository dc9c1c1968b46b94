-- SPDX-License-Identifier: MIT
-- The id of the newest entry in the ledger.
SELECT COALESCE(MAX("id"), 0) FROM "fairmill_ledger"
