"""Advertised addresses in files, judged like those of a cluster: each (KA303, KA316), and compared with others (KA304)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from kafka_audit.checks import Check
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.host_kinds import means_itself
from kafka_audit.model.addresses.advertised_listeners import INSTEAD, KEY
from kafka_audit.model.finding import Judgement, Resource, Severity, Status
from kafka_audit.model.tables import BrokerProperty, Snapshot, SnapshotInfo

NETWORK = "the network of the compose file"
CHECKS = ("KA303", "KA304", "KA316")


def address_judgements(
    snapshot: Snapshot, checks: Mapping[str, Check], neighbours: Mapping[int, frozenset[str]] = MappingProxyType({})
) -> Iterator[Judgement]:
    """Yield the judgements of the addresses in files.

    A name without a dot may be a whole address in the network of a compose file, so it is no fault of KA303 here; an address
    that is each host's own may be meant for one machine, so it is MEDIUM.

    Args:
        snapshot: files only; they have no registrations, so they are read as in KRaft.
        checks: all checks by code.
        neighbours: by broker, the names that resolve only in the network that its file makes.
    """
    rows = [replace(row, mode="kraft") if isinstance(row, SnapshotInfo) else row for row in snapshot.rows]
    hidden = any(isinstance(row, BrokerProperty) and row.key == KEY and row.value is None for row in rows)
    view = ClusterView.of_files(replace(snapshot, rows=tuple(rows)))
    for judgement in judge(view, {code: checks[code] for code in CHECKS}):
        evidence = dict(judgement.evidence)
        broker = Resource.of(judgement.resource).broker
        if broker is not None:
            evidence["key"] = view.settings.first_set(broker, KEY, INSTEAD)
        else:
            evidence |= {
                "error": f"{KEY} contains a placeholder" if hidden else "no file sets it",
                "needs": f"`{KEY}` in the files",
            }
        severity = judgement.severity
        if judgement.code == "KA303" and judgement.status is Status.FAIL:
            if not means_itself(str(evidence["host"])):
                continue
            severity = Severity.MEDIUM
        own = view.endpoints.of(broker) if broker is not None else ()
        if judgement.code == "KA316" and own and {endpoint.host for endpoint in own} <= neighbours.get(broker or 0, frozenset()):
            evidence |= {"place": NETWORK, "listeners": tuple(sorted(endpoint.listener for endpoint in own))}
            judgement = replace(judgement, status=Status.FAIL)  # noqa: PLW2901 -- the same, as the file shows more
        yield replace(judgement, evidence=evidence, severity=severity)
