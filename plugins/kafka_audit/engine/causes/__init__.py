"""Join findings to incidents: one cause, one headline.

`TABLE` is read from top to bottom. A row takes the findings of its code that nothing above explained, splits them into faults,
and takes each fault's symptoms with it. What is left tells its own symptom: views as "not decided", the rest grouped by code.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kafka_audit.cluster.view import ClusterView
from kafka_audit.engine.causes import (
    addresses,
    behind,
    cut_off,
    dead_disk,
    exposure,
    grouped,
    inside_names,
    quorum,
    refused,
    registry,
    replicas,
    undecided,
    unread,
)
from kafka_audit.engine.causes.rule import (
    REPLICATION,
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    at_the_endpoint,
    everywhere,
    in_partitions_of,
    together,
)
from kafka_audit.model.finding import Change, Evidence, Finding, Incident, Lifecycle, Severity, Status

_LOST_REPLICAS = Explains(codes=REPLICATION, where=in_partitions_of)

TABLE: tuple[Cause, ...] = (
    Cause(
        codes=("KA001",),
        meaning="ZooKeeper gives no answer",
        cases=registry.zookeeper_unread,
        tell=registry.tell_zookeeper_unread,
        explains=(Explains(codes=("KA802",), where=everywhere),),
    ),
    Cause(
        codes=("KA201",),
        meaning="nobody is controller, so nobody tells the brokers anything",
        cases=together,
        tell=registry.tell_no_controller,
        explains=(
            Explains(codes=(*VIEW, "KA203", "KA209", "KA210", "KA211", "KA212", "KA601", "KA602"), where=everywhere),
            Explains(codes=("KA001",), where=quorum.about_the_quorum),
        ),
    ),
    Cause(
        codes=("KA209", "KA211"),
        meaning="controllers of the metadata quorum are down, or out of this worker's reach",
        cases=together,
        tell=quorum.tell_voters,
        explains=(Explains(codes=("KA001", "KA202"), where=quorum.at_a_controller),),
    ),
    Cause(
        codes=("KA202",),
        meaning="who was asked for the metadata quorum does not name one leader",
        cases=quorum.torn,
        tell=quorum.tell_torn,
    ),
    Cause(
        codes=dead_disk.CODES,
        meaning="a disk of a broker died, and with it what lay there",
        cases=dead_disk.cases,
        tell=dead_disk.tell,
        explains=(
            Explains(codes=(*dead_disk.CODES, "KA502"), where=at_the_broker),
            Explains(codes=REPLICATION, where=dead_disk.on_the_disk),
        ),
    ),
    Cause(
        codes=("KA110",),
        meaning="a broker belongs to another cluster",
        cases=together,
        tell=registry.tell_foreign,
        explains=(Explains(codes=(*VIEW, "KA111", "KA301", "KA302"), where=at_the_broker),),
    ),
    Cause(
        codes=("KA304",),
        meaning="two brokers advertise one address",
        cases=addresses.by_address,
        tell=addresses.tell_shared,
        explains=(
            Explains(codes=("KA111", "KA301", "KA302", "KA303"), where=at_the_endpoint),
            Explains(codes=(*VIEW, "KA001"), where=at_the_broker),
        ),
    ),
    Cause(
        codes=("KA111",),
        meaning="an address leads to another broker than the one that advertises it",
        cases=together,
        tell=addresses.tell_wrong_answer,
        explains=(
            Explains(codes=("KA315",), where=addresses.on_the_same_way),
            Explains(codes=("KA106",), where=addresses.as_a_proxy_says),
            Explains(codes=("KA301", "KA302", "KA303"), where=at_the_endpoint),
            Explains(codes=(*VIEW, "KA001"), where=at_the_broker),
        ),
    ),
    Cause(
        codes=("KA113",),
        meaning="a broker is registered no more",
        cases=together,
        tell=registry.tell_gone,
        explains=(
            Explains(codes=(*VIEW, "KA001", "KA111", "KA208", "KA301", "KA302", "KA303"), where=at_the_broker),
            Explains(codes=("KA001",), where=registry.at_an_address_left),
            _LOST_REPLICAS,
        ),
    ),
    Cause(
        codes=("KA301",),
        meaning="clients and brokers alike miss an endpoint of a broker that says nothing: down, or a dead address",
        cases=exposure.dead_for_everybody,
        tell=exposure.tell_dead,
        explains=(
            Explains(codes=("KA302", "KA303"), where=at_the_endpoint),
            Explains(codes=("KA001", "KA301", "KA302"), where=at_the_broker),
            _LOST_REPLICAS,
        ),
    ),
    Cause(
        codes=("KA302",),
        meaning="the controller, or another broker, cannot reach what a living broker advertises",
        cases=cut_off.cases,
        tell=cut_off.tell,
        explains=(
            Explains(codes=VIEW, where=cut_off.views_concerned),
            Explains(codes=("KA301", "KA303"), where=at_the_endpoint),
            _LOST_REPLICAS,
        ),
    ),
    *(
        Cause(
            codes=(code,),
            meaning=meaning,
            cases=together,
            tell=refused.tell,
            explains=(
                Explains(codes=(*VIEW, "KA302", *kin), where=at_the_broker),
                Explains(codes=("KA402",), where=refused.concerns_its_user),
                _LOST_REPLICAS,
            ),
        )
        for code, meaning, kin in (
            ("KA403", "an ACL denies the controller", ("KA401", "KA404")),
            ("KA401", "the controller has no right at a broker", ("KA404", "KA407")),
            # The auditor's own handshake fails at the same certificate.
            ("KA412", "the controller cannot log in to a broker", ("KA001", "KA301", "KA307", "KA404", "KA405", "KA406")),
        )
    ),
    Cause(
        codes=("KA001",),
        meaning="the cluster file does not trust the addresses of brokers, so that no login was tried",
        cases=unread.untrusted,
        tell=unread.tell_untrusted,
    ),
    Cause(
        codes=("KA001",),
        meaning="what answers as a broker asks for a weak SCRAM proof, or does not prove that it knows the user",
        cases=unread.doubtful,
        tell=unread.tell_doubtful,
        explains=(Explains(codes=("KA301", "KA002"), where=at_the_broker),),
    ),
    Cause(
        codes=("KA001",),
        meaning="brokers do not accept the auditor's login",
        cases=unread.logins,
        tell=unread.tell_login,
        explains=(Explains(codes=("KA301", "KA002"), where=at_the_broker),),
    ),
    Cause(
        codes=("KA301",),
        meaning="brokers advertise names that resolve only inside a network where these clients are not",
        cases=inside_names.by_network,
        tell=inside_names.tell,
        explains=(
            Explains(codes=("KA303",), where=at_the_endpoint),
            Explains(codes=("KA001",), where=at_the_broker),
        ),
    ),
    Cause(
        codes=("KA301",),
        meaning="clients do not reach what brokers advertise",
        cases=together,
        tell=exposure.tell_exposure,
        explains=(
            Explains(codes=("KA303",), where=at_the_endpoint),
            Explains(codes=("KA001",), where=at_the_broker),
        ),
    ),
    Cause(
        codes=behind.CODES,
        meaning="a KRaft broker does not follow its controllers any more",
        cases=behind.cases,
        tell=behind.tell,
        explains=(
            Explains(codes=(*VIEW, "KA210", "KA212", "KA303"), where=at_the_broker),
            Explains(codes=("KA302",), where=behind.on_its_ways),
            Explains(codes=("KA001",), where=behind.passes_no_question_on),
            _LOST_REPLICAS,
        ),
    ),
    Cause(
        codes=("KA001",),
        meaning="brokers give no view, and no other reason is known",
        cases=unread.silent,
        tell=unread.tell_silent,
    ),
    Cause(
        codes=VIEW,
        meaning="views differ, and what would tell the candidates apart was not read: the symptom is told",
        cases=undecided.cases,
        tell=undecided.tell,
        explains=(Explains(codes=("KA302", "KA303"), where=at_the_broker), _LOST_REPLICAS),
    ),
    Cause(
        codes=replicas.CODES,
        meaning="partitions lack a broker, and why it does not follow was not found",
        cases=replicas.cases,
        tell=replicas.tell,
    ),
)
"""Causes in the order in which they may claim symptoms: the registry, addresses, reach, rights, the auditor's eyes, no cause."""


def incidents(view: ClusterView, findings: Sequence[Finding], changes: Sequence[Change]) -> tuple[Incident, ...]:
    """Return the incidents of an audit, worst first; every unmuted FAIL of HIGH and above is in exactly one of them.

    A muted finding may still be the cause that explains others; it is in no incident itself, as lower findings are not.
    """
    found = [_incident(case, story, cause) for case, story, cause in _told(view, findings, changes)]
    return tuple(
        sorted(
            (incident for incident in found if incident.findings),
            key=lambda incident: (-incident.severity, -len(incident.findings), incident.headline),
        )
    )


def _told(view: ClusterView, findings: Sequence[Finding], changes: Sequence[Change]) -> Iterator[tuple[Case, Story, str]]:
    left = [finding for finding in findings if finding.status is Status.FAIL and finding.severity >= Severity.HIGH]
    whole = Case(view=view, changes=changes, findings=findings, roots=())
    for cause in TABLE:
        start = replace(whole, roots=tuple(finding for finding in left if finding.code in cause.codes))
        for fault in cause.cases(start) if start.roots else ():
            taken = {finding.fingerprint for finding in (*fault.roots, *_symptoms(fault, cause, left))}
            case = replace(fault, explained=tuple(finding for finding in left if finding.fingerprint in taken))
            left = [finding for finding in left if finding.fingerprint not in taken]
            yield case, cause.tell(case), fault.roots[0].code
    by_code: dict[str, list[Finding]] = defaultdict(list)
    for finding in left:
        if not finding.muted:
            by_code[finding.code].append(finding)
    for code, roots in by_code.items():
        case = replace(whole, roots=tuple(roots), explained=tuple(roots))
        yield case, grouped.tell(case), code


def _symptoms(fault: Case, cause: Cause, left: Sequence[Finding]) -> Iterable[Finding]:
    for explains in cause.explains:
        for finding in left:
            if finding.code in explains.codes and explains.where(fault, finding):
                yield finding


def _incident(case: Case, story: Story, cause: str) -> Incident:
    unmuted = [finding for finding in case.explained if not finding.muted]
    states = {finding.lifecycle for finding in unmuted}
    return Incident(
        headline=story.headline,
        cause=story.cause or cause,
        severity=max((finding.severity for finding in unmuted), default=Severity.INFO),
        confidence=story.confidence,
        findings=tuple(finding.fingerprint for finding in unmuted),
        evidence_for=_distinct(story.speaks_for),
        evidence_against=_distinct(story.against),
        not_known=story.not_known,
        remediation=story.steps,
        lifecycle=Lifecycle.ONGOING if Lifecycle.ONGOING in states else Lifecycle.NEW,
        impact=story.impact,
        confidence_why=story.why,
    )


def _distinct(lines: Iterable[Evidence]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(lines))
