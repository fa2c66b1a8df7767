"""Addresses that files advertise, judged as those of a cluster are: by themselves (KA303) and beside each other (KA304). Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kafka_audit.checks import Check
from kafka_audit.checks.broker_settings import Settings
from kafka_audit.checks.hosts import means_itself
from kafka_audit.engine import rows
from kafka_audit.model.advertised_listeners import INSTEAD, KEY
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Snapshot, SnapshotInfo

CHECKS = ("KA303", "KA304")


def judgements(snapshot: Snapshot, checks: Mapping[str, Check]) -> Iterator[Judgement]:
    """Yield what files tell of addresses.

    A name without a dot may be a whole address in the network of a compose file, so it is nobody's fault here; an address that is
    each host's own may be meant for one machine, so it is MEDIUM.

    Args:
        snapshot: files alone; nobody registers them, so they are read as in KRaft.
        checks: all checks by code.
    """
    settings = Settings(snapshot)
    told = [replace(row, mode="kraft") if isinstance(row, SnapshotInfo) else row for row in snapshot.rows]
    for one in rows.judge_rows(replace(snapshot, rows=tuple(told)), {code: checks[code] for code in CHECKS}):
        evidence = dict(one.evidence)
        if one.resource.startswith("broker/"):
            evidence["key"] = settings.first_set(int(one.resource.split("/")[1]), KEY, INSTEAD)
        else:
            evidence |= {"error": "no file names one", "needs": f"`{KEY}` in the files"}
        severity = one.severity
        if one.code == "KA303" and one.status is Status.FAIL:
            if not means_itself(evidence["host"]):
                continue
            severity = Severity.MEDIUM
        yield replace(one, evidence=evidence, severity=severity)
