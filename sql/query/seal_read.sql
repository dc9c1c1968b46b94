-- SPDX-License-Identifier: MIT
-- What is known of the sums that are kept for a cluster.
SELECT "as_of", "full_as_of", "cutoff", "sealed_to", "counts_from", "jobs_from", "oldest_end",
    "first_charge", "newest_end", "sums_hash", "open_hash", "source", "basis", "hash"
FROM "fairmill_seal"
WHERE "cluster" = ?
