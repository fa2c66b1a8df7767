"""What there is to tell of one audit: its incidents as far as they keep the gate shut, and what kept it from judging."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from kafka_audit import audit
from kafka_audit.model.finding import Lifecycle, Severity, Status
from kafka_audit.model.tables import Snapshot
from kafka_audit.model.text import counted

INCIDENT, COVERAGE, AUDIT = "incident", "coverage", "audit"
NOT_COLLECTED = "KA001"
REGISTRY = ("zookeeper", "zookeeper /brokers/ids")
"""Observer and operation without which nobody knows who should be there."""


@dataclass(frozen=True, kw_only=True)
class Audited:
    """One cluster in one run.

    Attributes:
        cluster: its name; of several, when none of them was audited, the DAG's.
        document: its report. None with a reason: it was not audited; None without: audits run, and each cluster has its own.
        why: why there is no report.
    """

    cluster: str
    document: Mapping[str, Any] | None = None
    why: str = ""

    @property
    def is_blind(self) -> bool:
        """Whether nothing was judged."""
        return bool(self.why) if self.document is None else is_blind(self.document)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When somebody must be told. `fail_on` and `min_coverage` are the gate's; `remind` None means never again."""

    fail_on: str = "high"
    min_coverage: float = 1.0
    remind: timedelta | None = timedelta(hours=24)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One thing that an audit has to tell.

    Attributes:
        kind: incident; coverage: too few reads were answered; audit: nothing was judged.
        headline: as it came, to be made safe by whoever shows it.
        cause: a check's code, "" where it is no finding.
        severity: of the worst failure.
        findings: code and resource of each failure that keeps the gate shut. Unlike fingerprints they survive a cluster id that
            nobody told.
        parties: the brokers among the resources, else the topics.
    """

    kind: str
    headline: str
    cause: str = ""
    severity: str = Severity.HIGH.name
    findings: tuple[tuple[str, str], ...] = ()
    parties: tuple[str, ...] = ()


def seen(audited: Audited, limits: Limits) -> tuple[Seen, ...]:
    """Return what an audit has to tell, worst first; nothing where all is well."""
    document = audited.document
    if document is None:
        return (Seen(kind=AUDIT, headline=audited.why),) if audited.why else ()
    blind = audited.is_blind
    least = audit.severity(limits.fail_on)
    failed = {f["fingerprint"]: f for f in document["findings"] if audit.counts(f, least)}
    found: list[Seen] = []
    unread: list[str] = []
    for incident in document["incidents"]:
        own = [failed.pop(fingerprint) for fingerprint in incident["findings"] if fingerprint in failed]
        if blind and incident["cause"] == NOT_COLLECTED:
            unread.append(incident["headline"])
        elif own:
            found.append(_of(incident["headline"], incident["cause"], own))
    alone = [f for f in failed.values() if not (blind and f["code"] == NOT_COLLECTED)]
    if alone:
        worst = max(alone, key=lambda f: Severity[f["severity"]])
        more = f" and {counted(len(alone) - 1, 'more finding')}" if len(alone) > 1 else ""
        found.append(_of(f"{worst['message']}{more}", worst["code"], alone))
    code, sentence = audit.gate(document, limits.fail_on, limits.min_coverage)
    if blind:
        found.append(Seen(kind=AUDIT, headline=unread[0] if unread else sentence, cause=NOT_COLLECTED))
    elif not found and code == audit.UNCOVERED:
        found.append(Seen(kind=COVERAGE, headline=sentence))
    return tuple(found)


def _of(headline: str, cause: str, failed: Sequence[Mapping[str, Any]]) -> Seen:
    names = [f["resource"]["name"] for f in failed]
    return Seen(
        kind=INCIDENT,
        headline=headline,
        cause=cause,
        severity=max((f["severity"] for f in failed), key=lambda name: Severity[name]),
        findings=tuple((f["code"], f["resource"]["name"]) for f in failed),
        parties=_parties(names),
    )


def _parties(resources: Iterable[str]) -> tuple[str, ...]:
    """Return who is concerned; partitions come and go by the thousand while the same broker is gone."""
    short = dict.fromkeys("/".join(name.split("/")[:2]) for name in resources)
    of_brokers = tuple(sorted(name for name in short if name.startswith("broker/")))
    return of_brokers or tuple(sorted(short))


def is_blind(document: Mapping[str, Any]) -> bool:
    """Tell whether a report judges nothing: nobody told the cluster's id, or who is registered."""
    unread = {(read["observer"], read["operation"]) for read in document["coverage"]["unknown"]}
    return str(document["cluster_id"]).startswith(Snapshot.UNKNOWN_ID) or REGISTRY in unread


def is_over(was: Seen, document: Mapping[str, Any], limits: Limits) -> bool:
    """Tell whether a judged report shows that all of what was seen before has ended."""
    if was.kind == COVERAGE:
        coverage = document["coverage"]
        return bool(coverage["answered"] >= limits.min_coverage * coverage["asked"])
    now = {(f["code"], f["resource"]["name"]): f for f in document["findings"]}
    least = audit.severity(limits.fail_on)
    return all(_has_ended(finding, now, document, least) for finding in was.findings)


def _has_ended(
    finding: tuple[str, str], now: Mapping[tuple[str, str], Mapping[str, Any]], document: Mapping[str, Any], least: Severity
) -> bool:
    code, resource = finding
    found = now.get(finding)
    compared = document["previous_snapshot_id"] is not None
    if found is not None:
        if found["status"] == Status.FAIL:
            return not audit.counts(found, least)
        # Where there is a report before this one, an earlier failure that is not known now is marked as such.
        return found["lifecycle"] != Lifecycle.INCOMPARABLE and (found["status"] != Status.UNKNOWN or compared)
    others = (f["resource"]["name"] for f in now.values() if f["code"] == code and f["status"] == Status.UNKNOWN)
    return compared or not any(_concerns(other, resource) for other in others)


def _concerns(other: str, resource: str) -> bool:
    return other == "cluster" or resource.startswith(f"{other}/") or other.startswith(f"{resource}/")


def verdict(found: Sequence[Seen]) -> str:
    """Return a judgement in a few words."""
    incidents = [one for one in found if one.kind == INCIDENT]
    if incidents:
        return counted(len(incidents), "incident")
    return "too few answers" if found else "clear, as far as was asked"
