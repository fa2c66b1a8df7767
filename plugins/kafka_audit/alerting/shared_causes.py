"""Causes that several clusters of one run share: a ZooKeeper ensemble, a host, a network, a login. Pure.

One alert names such a cause with its clusters. A cluster that has it sends no alert of its own about it.
"""

import ipaddress
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from kafka_audit.alerting.conditions import (
    AUDIT,
    INCIDENT,
    NOT_COLLECTED,
    REGISTRY,
    SHARED,
    AlertLimits,
    AuditResult,
    Condition,
    conditions,
)
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.compare.addresses import canonical_host, ip_address_of
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.finding import Severity
from kafka_audit.model.read_failure import CLOSED_BY_PEER, LOGIN_REFUSALS, UNREACHABLE, ReadFailure
from kafka_audit.model.report import Report, UnansweredRead
from kafka_audit.model.text import clean, listing

Mark = tuple[str, str]
"""What clusters have in common if they share a cause: its kind and its name, e.g. ("ZooKeeper", "zk1:2181")."""

ZOOKEEPER, LOGIN, NETWORK, HOST = "ZooKeeper", "login", "network", "host"
_KINDS = (ZOOKEEPER, LOGIN, NETWORK, HOST)
"""The more likely cause first, for clusters that share two."""

_SILENT = UNREACHABLE | {ReadFailure.TIMEOUT}
_NO_ANSWER = _SILENT | CLOSED_BY_PEER | {ReadFailure.REFUSED}
_MOST_MARKS = 10
_FEWEST_LABELS = 3  # of a name whose domain says more than `com`
_NETWORK_BITS = {4: 24, 6: 64}
_LONGEST = 120


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """What is wrong with one cluster, for a reason that other clusters may share.

    Attributes:
        cluster: its name.
        headline: of the condition that it explains.
        severity: of that condition.
        text: the reason, without the cluster.
        marks: what it has in common with other clusters of the same reason.
    """

    cluster: str
    headline: str
    severity: str
    text: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, kw_only=True)
class SharedCause:
    """One reason, and the troubles that it explains; `marks` is what they have in common."""

    text: str
    marks: tuple[Mark, ...]
    troubles: tuple[Trouble, ...]

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names of the clusters, each once."""
        return tuple(dict.fromkeys(trouble.cluster for trouble in self.troubles))

    @property
    def condition(self) -> Condition:
        """What to alert about; the clusters are what is affected."""
        severity = max((trouble.severity for trouble in self.troubles), key=lambda name: Severity[name])
        return Condition(kind=SHARED, headline=self.text, severity=severity, findings=self.marks, affected=self.clusters)


@dataclass(frozen=True, kw_only=True)
class RunTroubles:
    """What one run found.

    Attributes:
        troubles: of all its clusters.
        audited: clusters with a report that judges something, or names the reason why not.
        known: clusters of the cluster file.
        ended: when the newest of its audits ended, ISO 8601.
    """

    troubles: tuple[Trouble, ...]
    audited: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    ended: str = ""

    def to_json(self) -> str:
        """Return the text that `from_json` reads."""
        return json.dumps(msgspec.to_builtins(self))

    @classmethod
    def from_json(cls, text: str) -> "RunTroubles":
        """Read what `to_json` wrote; raises `ValueError` for anything else."""
        try:
            return msgspec.convert(json.loads(text), cls)
        except (ValueError, RecursionError) as error:
            msg = f"what the clusters of this run share is unreadable: {error}"
            raise ValueError(msg) from error


def run_troubles(documents: Sequence[Report], clusters: Mapping[str, Cluster], limits: AlertLimits) -> RunTroubles:
    """Return what the reports of one run have that other clusters may share.

    Args:
        documents: the reports.
        clusters: the cluster file, which names the logins.
        limits: a condition without an alert explains none.
    """
    documents = sorted(documents, key=lambda document: str(document.cluster))  # as people look for a cluster in a message
    hosts = frozenset(host for document in documents for host in _answering_hosts(document))
    answering = hosts | {_network(host) for host in hosts}
    return RunTroubles(
        troubles=tuple(
            trouble
            for document in documents
            for trouble in _troubles(document, clusters.get(document.cluster), answering, limits)
        ),
        audited=tuple(document.cluster for document in documents),
        known=tuple(clusters),
        ended=max((str(document.finished_at or "") for document in documents), default=""),
    )


def shared_causes(troubles: Iterable[Trouble], open_marks: Collection[Mark] = ()) -> list[SharedCause]:
    """Return the causes that at least two clusters share, and those of an open alert; each trouble in at most one of them.

    Args:
        troubles: of the clusters of one run.
        open_marks: of alerts that are not over: their cause goes on while one cluster has it.
    """
    groups = [group for kind in _KINDS for group in _joined([trouble for trouble in troubles if trouble.marks[0][0] == kind])]
    groups.sort(key=lambda group: -len({trouble.cluster for trouble in group}))  # stable: the order of kinds remains
    taken: set[tuple[str, str]] = set()
    causes = []
    for group in groups:
        free = [trouble for trouble in group if (trouble.cluster, trouble.headline) not in taken]
        marks = tuple(sorted({mark for trouble in free for mark in trouble.marks}))
        if len({trouble.cluster for trouble in free}) > 1 or any(mark in open_marks for mark in marks):
            taken |= {(trouble.cluster, trouble.headline) for trouble in free}
            causes.append(SharedCause(text=free[0].text, marks=marks, troubles=tuple(free)))
    return causes


def shared_lines(causes: Iterable[SharedCause], cluster: str) -> dict[str, str]:
    """Return for the conditions of a cluster that have a shared cause, by headline, one line that names it."""
    return {
        trouble.headline: f"Shared by {listing(cause.clusters, 5)}: {cause.text}."
        for cause in causes
        for trouble in cause.troubles
        if trouble.cluster == cluster
    }


def _joined(troubles: Sequence[Trouble]) -> list[list[Trouble]]:
    """Return troubles in groups: those that have a mark in common, directly or through others."""
    groups: list[tuple[set[Mark], list[Trouble]]] = []
    for trouble in troubles:
        marks, members = set(trouble.marks), [trouble]
        apart = []
        for group in groups:
            if group[0] & marks:
                marks |= group[0]
                members = [*group[1], *members]
            else:
                apart.append(group)
        groups = [*apart, (marks, members)]
    return [members for _, members in groups]


def _troubles(document: Report, cluster: Cluster | None, answering: Collection[str], limits: AlertLimits) -> Iterator[Trouble]:
    found = conditions(AuditResult(cluster=document.cluster, document=document), limits)
    if not found:
        return
    for text, marks, brokers in _reasons(document, cluster, answering):
        for condition in found:
            if marks and _explains(marks[0][0], brokers, condition):
                yield Trouble(
                    cluster=document.cluster,
                    headline=clean(condition.headline),
                    severity=condition.severity,
                    text=clean(text),
                    marks=marks[:_MOST_MARKS],
                )


def _explains(kind: str, brokers: Collection[str], condition: Condition) -> bool:
    """Return whether a condition has no other reason: what was not audited, or an incident of these brokers alone."""
    if condition.kind == AUDIT:
        return kind != HOST
    if condition.kind != INCIDENT or (kind == LOGIN and condition.cause != NOT_COLLECTED):
        return False
    return bool(condition.affected) and set(condition.affected) <= set(brokers)


def _reasons(
    document: Report, cluster: Cluster | None, answering: Collection[str]
) -> Iterator[tuple[str, tuple[Mark, ...], frozenset[str]]]:
    """Yield reasons as text, marks, and the resources of the brokers that they concern."""
    failed = [read for read in document.coverage.unknown if read.target]
    yield from _zookeeper(failed, cluster)
    of_brokers = [read for read in failed if read.observer.startswith(("broker:", "broker@"))]
    refused = [read for read in of_brokers if _failure(read) in LOGIN_REFUSALS]
    login = _login(cluster)
    if refused and login:
        yield f"brokers refuse the login {login}", ((LOGIN, clean(login, _LONGEST)),), frozenset(map(_root, refused))
    if document.coverage.answered == 0 and failed and all(_failure(read) in _SILENT for read in failed):
        networks = {(_network(host), read.kind) for read in failed for host, _ in addresses_of(read.target)}
        silent = sorted((network, kind) for network, kind in networks if network and network not in answering)
        if silent:
            text = "; ".join(f"nothing in {network} answers ({kind})" for network, kind in silent[:2])
            yield text, tuple((NETWORK, f"{network}: {kind}") for network, kind in silent), frozenset(map(_root, of_brokers))
    hosts: dict[str, list[UnansweredRead]] = defaultdict(list)
    for read in of_brokers:
        if _failure(read) in UNREACHABLE:
            for host, _ in addresses_of(read.target):
                hosts[canonical_host(host)].append(read)
    for host in sorted(hosts.keys() - answering):
        name = clean(host, _LONGEST)
        yield f"host {name} is unreachable ({hosts[host][0].kind})", ((HOST, name),), frozenset(map(_root, hosts[host]))


def _failure(read: UnansweredRead) -> ReadFailure:
    """Return why a read of a report failed; reports of earlier versions have only its text."""
    return ReadFailure.of(read.reason or None, read.kind)


def _zookeeper(
    failed: Sequence[UnansweredRead], cluster: Cluster | None
) -> Iterator[tuple[str, tuple[Mark, ...], frozenset[str]]]:
    registry = next((read for read in failed if (read.observer, read.operation) == REGISTRY), None)
    if registry is None:
        return
    access = cluster.zookeeper if cluster else None
    if _failure(registry) in LOGIN_REFUSALS:
        if access is not None and access.username is not None:
            login = clean(f"{access.username} ({access.password_env})", _LONGEST)
            yield f"ZooKeeper refuses the login {login}", ((LOGIN, f"ZooKeeper: {login}"),), frozenset()
    elif _failure(registry) in _NO_ANSWER:
        servers = sorted({clean(f"{canonical_host(host)}:{port}", _LONGEST) for host, port in addresses_of(registry.target)})
        text = f"ZooKeeper {listing(servers, 3)} does not answer ({registry.kind})"
        yield text, tuple((ZOOKEEPER, server) for server in servers), frozenset()


def _login(cluster: Cluster | None) -> str:
    """Return the account of the auditor, as the cluster file names it; "" where it is unknown or differs by listener."""
    if cluster is None:
        return ""
    if cluster.kafka_conn_id is not None:
        return f"of the Airflow connection {cluster.kafka_conn_id}"
    logins = {
        f"{security.username or security.mechanism} ({security.password_env})"
        if security.password_env
        else str(security.mechanism)
        for security in (cluster.security, *cluster.listeners.values())
        if security is not None and security.mechanism is not None
    }
    return next(iter(logins)) if len(logins) == 1 else ""


def _root(read: UnansweredRead) -> str:
    """Return the resource of the broker that a read is about, as findings have it."""
    broker = read.broker
    return f"broker/{read.observer[len('broker:') :] if broker is None else broker}"


def _answering_hosts(document: Report) -> Iterator[str]:
    """Yield hosts of brokers that answered every read: a network or a host with one of them is not unreachable."""
    silent = {str(read.broker) for read in document.coverage.unknown}
    for broker, address in document.matrix.endpoints.items():
        if broker not in silent and document.coverage.answered:
            yield from (canonical_host(host) for host, _ in addresses_of(str(address)))


def _network(host: str) -> str:
    """Return the /24 or /64 of an address, or the domain of a name; "" for a name that has none of its own."""
    host = canonical_host(host)
    address = ip_address_of(host)
    if address is None:
        _, _, domain = host.partition(".")
        return clean(domain, _LONGEST) if host.count(".") + 1 >= _FEWEST_LABELS else ""
    return str(ipaddress.ip_network((address, _NETWORK_BITS[address.version]), strict=False))
