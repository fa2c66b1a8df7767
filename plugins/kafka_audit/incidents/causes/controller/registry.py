"""ZooKeeper gives no answer."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks.repair import reconnect_commands
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.incidents.causes.rule import (
    Case,
    Cause,
    Explains,
    Story,
    everywhere,
    evidence_of,
    evidence_of_reads,
)
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.read_failure import LOGIN_REFUSALS
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import clean


def zookeeper_unread(case: Case) -> Iterable[Case]:
    """Take KA001 of the cluster where it is ZooKeeper that gave nothing; a read of it that failed alone is no outage."""
    down = not case.view.zookeeper_read and _failed_zookeeper_reads(case)
    roots = tuple(root for root in case.roots if root.resource.name == "cluster") if down else ()
    return (replace(case, roots=roots),) if roots else ()


def _failed_zookeeper_reads(case: Case) -> list[SourceRead]:
    return [r for r in case.view.last_reads if r.observer == "zookeeper" and r.outcome == "failed"]


def zookeeper_unread_story(case: Case) -> Story:
    """Return the story that nothing which rests on ZooKeeper could be judged."""
    failed = _failed_zookeeper_reads(case)
    first = failed[0] if failed else None
    target = clean(first.target, 60) if first else "its address"
    at = (target, *(clean(f"{host}:{port}") for read in failed[:1] for host, port in addresses_of(read.target)[:1]))
    return told(
        case,
        "controller/registry zookeeper_unread",
        evidence=evidence_of_reads(failed) or evidence_of(case.roots),
        addresses=at,
        refused=first is not None and first.failure in LOGIN_REFUSALS,
        error=clean(first.error or "failed", 30) if first else "failed",
        needs=clean((first and first.needs) or "a login", 300),
        reconnect=reconnect_commands(failed),
    )


ZOOKEEPER_UNREAD = Cause(
    codes=("KA001",),
    tier="registry",
    meaning="ZooKeeper gives no answer",
    cases=zookeeper_unread,
    story=zookeeper_unread_story,
    explains=(Explains(codes=("KA802",), where=everywhere),),
)
