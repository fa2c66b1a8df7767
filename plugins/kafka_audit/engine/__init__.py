"""Run the checks: views over snapshot tables, one Spark query for all SQL checks, changes between snapshots."""
