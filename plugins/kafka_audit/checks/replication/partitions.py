"""Checks of partitions as one flat SELECT over `replica_state`: what fails at each partition, else one PASS of the cluster."""

_EMPTY = """
                     CASE WHEN j.mode = 'kraft' AND c.snapshot_id IS NULL THEN 'no view lists a topic' END"""

_NOTHING_FOUND = """
        SELECT j.snapshot_id, '{code}', 'cluster', if({error} IS NULL, 'PASS', 'UNKNOWN'), NULL, 'measured',
               map('total', string(coalesce(c.partitions, 0)), 'error', {error}, 'needs', {needs})
        FROM judged AS j
        LEFT JOIN partition_count AS c ON c.snapshot_id = j.snapshot_id
        LEFT JOIN min_isr_gap AS g ON g.snapshot_id = j.snapshot_id
        LEFT JOIN (SELECT DISTINCT snapshot_id FROM replica_state WHERE {fails}) AS f ON f.snapshot_id = j.snapshot_id
        WHERE f.snapshot_id IS NULL OR {error} IS NOT NULL"""


def partitions(  # noqa: PLR0913 -- what the checks of the family differ in
    code: str, fails: str, *, severity: str = "NULL", lasts: str = "settled", more: str = "", min_isr: bool = False
) -> str:
    """Return the SELECT of a check of partitions.

    Args:
        code: of the check.
        fails: condition over `replica_state` under which a partition fails.
        severity: expression over it; NULL for the check's own.
        lasts: condition without which the failure is in motion.
        more: further entries of the evidence, each ended by a comma.
        min_isr: whether the check cannot pass where min.insync.replicas is not known.
    """
    error = f"coalesce({_EMPTY}{', g.error' if min_isr else ''}, NULL)"
    needs = f"if(c.snapshot_id IS NULL, 'Describe on Topic, where there are topics', {'g.needs' if min_isr else 'NULL'})"
    return f"""
        SELECT snapshot_id, '{code}' AS code, resource, if({lasts}, 'FAIL', 'UNKNOWN') AS status, {severity} AS severity,
               'measured' AS confidence,
               map({more} 'partition', name, 'replicas', array_join(replicas, ', '), 'factor', string(factor),
                   'isr', coalesce(nullif(array_join(isr, ', '), ''), 'none'), 'in_sync', string(size(isr)),
                   'missing', array_join(missing, ', '), 'leader', coalesce(string(nullif(leader, -1)), 'none'),
                   'min_isr', string(min_isr),
                   'error', concat(name, ' changed between two looks, or was looked at once'), 'needs',
                       'another audit') AS evidence
        FROM replica_state WHERE {fails}
        UNION ALL{_NOTHING_FOUND.format(code=code, fails=fails, error=error, needs=needs)}
    """  # noqa: S608 -- our own text
