"""What is said of the brokers of one cluster: the audit's own checks over their files, and KafkaConfig's word on each."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

from kafka_audit.checks import Check
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import StartRule
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.setting_names import Form
from kafka_audit.configuration.starts import StartRefusal
from kafka_audit.incidents import findings
from kafka_audit.incidents.tools import Tools
from kafka_audit.lint import addresses, against, members, places, remedies, senses, starts, surroundings, versions
from kafka_audit.lint.ignores import Ignore
from kafka_audit.lint.members import Group, Member
from kafka_audit.lint.starts import StartVerdict
from kafka_audit.lint.versions import JudgedRelease
from kafka_audit.model.cluster import Mute
from kafka_audit.model.finding import Confidence, Finding, Judgement, Status, Value, fingerprint
from kafka_audit.model.linted import Linted, LintedFinding, Remark
from kafka_audit.model.tables import Snapshot
from kafka_audit.model.text import listing

REFUSED = "KA310"
_ROLES = "process.roles"
_FACTOR = "offsets.topic.replication.factor"
_CHROOT = "KA716"
_ABOUT_KEYS = "KA719"
_MOST_REFUSALS = 5  # of one file, beside the first
_OWN_PAGE = {StartRule.NOT_ADVERTISED: "KA311", StartRule.NOT_MAPPED: "KA311", StartRule.MECHANISM_NOT_ENABLED: "KA406"}
"""Refusals with their own check, which reports them instead of KA310."""

_OF_QUORUM = frozenset({"KA217"})
"""Checks of the cluster that its controllers alone decide; others say of it that no broker is known."""

_QUIET = frozenset({Status.PASS, Status.NOT_APPLICABLE})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """By what is judged, the same for all files."""

    checks: Mapping[str, Check]
    mutes: Sequence[Mute]
    today: date
    version: str | None = None
    against: ClusterView | None = None
    on_host: bool = False  # the files are of a broker of this host, so key stores that they name are looked up here
    show_all: bool = True  # what passes or does not apply, too; words for a thousand files take their time


@dataclass(frozen=True, kw_only=True)
class _JudgedMember:
    """One broker with KafkaConfig's word."""

    member: Member
    release: JudgedRelease
    verdict: StartVerdict


def configuration_checks(checks: Mapping[str, Check]) -> Mapping[str, Check]:
    """Return the checks that files can answer."""
    return {code: check for code, check in checks.items() if check.by_files}


def linted(group: Group, rules: Rules, others: Group = ()) -> list[tuple[Member, Linted]]:
    """Return the findings of each broker of a group; findings of the group are listed with the first.

    Args:
        group: the nodes of a cluster.
        rules: by what is judged.
        others: nodes that have the same ZooKeeper, and another chroot.
    """
    judged = [_of_member(member, rules) for member in group]
    releases = {judged_member.member.broker_id: judged_member.release.version for judged_member in judged}
    snapshot = members.snapshot_from_files(group, secrets.token_bytes(32), releases)
    view = ClusterView.of_files(snapshot)
    chroots = [*_chroots(group, others, rules)]
    elsewhere = {judgement.resource for judgement in chroots}
    alone = _by_files(group, snapshot, view, rules)
    by_files = [judgement for judgement in alone if judgement.code != _CHROOT or judgement.resource not in elsewhere] + chroots
    judged = [_with_own_page(judged_member, by_files) for judged_member in judged]
    judgements = [*_one_word(judged, by_files), *(_started(judgement, by_files) for judgement in judged)]
    if rules.against is not None:
        broken = against.change_judgements(rules.against, group, rules.checks, secrets.token_bytes(32))
        # The cluster says more than the files alone.
        answered = {(fault.code, fault.resource) for fault in broken}
        judgements = [
            judgement
            for judgement in judgements
            if judgement and (judgement.status is not Status.UNKNOWN or (judgement.code, judgement.resource) not in answered)
        ]
        judgements += [replace(judgement, snapshot_id=snapshot.snapshot_id) for judgement in broken]
    found = findings.findings_with_lifecycle(
        view,
        [judgement for judgement in judgements if judgement is not None and (rules.show_all or judgement.status not in _QUIET)],
        mutes=rules.mutes,
        previous_report=None,
        today=rules.today,
        checks=rules.checks,
    )
    about, tools = _about(group, found), Tools.of(view)
    sources = {member.source.path: member.source for member in group}
    lines = {path: places.file_lines(source.data) for path, source in sources.items()}  # once for all brokers of a file
    return [
        (member, _linted(judged_member, about[member.broker_id], rules.checks, tools, lines[member.source.path]))
        for judged_member in judged
        for member in (judged_member.member,)
    ]


def _by_files(group: Group, snapshot: Snapshot, view: ClusterView, rules: Rules) -> Iterator[Judgement]:
    """Yield the judgements of nodes; without a broker, those of controllers and of their quorum alone."""
    found = judge(view, configuration_checks(rules.checks))
    if not any(member.serves for member in group):
        yield from (judgement for judgement in found if judgement.resource != "cluster" or judgement.code in _OF_QUORUM)
        return
    neighbours = {member.broker_id: member.broker.neighbours for member in group}
    more = {(judgement.code, judgement.resource): judgement for judgement in surroundings.surrounding_faults(group)}
    for judgement in (*found, *addresses.address_judgements(snapshot, rules.checks, neighbours)):
        if (judgement.code, judgement.resource) not in more:
            yield judgement
    yield from more.values()


def _chroots(group: Group, others: Group, rules: Rules) -> Iterator[Judgement]:
    """Yield in what chroots differ from those of other nodes: they are no cluster together, and compared in nothing else."""
    if not others:
        return
    view = ClusterView.of_files(members.snapshot_from_files((*group, *others), secrets.token_bytes(32)))
    own = {f"broker/{member.broker_id}" for member in group}
    yield from (
        judgement
        for judgement in judge(view, {_CHROOT: rules.checks[_CHROOT]})
        if judgement.resource in own and judgement.status is Status.FAIL
    )


def _with_own_page(judged_member: _JudgedMember, by_files: Sequence[Judgement]) -> _JudgedMember:
    """Return a broker with the verdict of a check that reports its refusal: it knows that no placeholder decides."""
    verdict, resource = judged_member.verdict, f"broker/{judged_member.member.broker_id}"
    if verdict.starts is None and _page_of(verdict.refused, resource, by_files):
        return replace(judged_member, verdict=replace(verdict, starts=False))
    return judged_member


def _of_member(member: Member, rules: Rules) -> _JudgedMember:
    running = None if rules.against is None else against.running_release(rules.against, member.broker_id)
    release = versions.chosen(member.broker, rules.version, running)
    return _JudgedMember(
        member=member, release=release, verdict=starts.start_verdict(member.broker, release.version, release.neighbour_of)
    )


def _started(judged_member: _JudgedMember, by_files: Iterable[Judgement]) -> Judgement | None:
    """Return KA310 on one broker; None where another check says the same of it."""
    verdict, resource = judged_member.verdict, f"broker/{judged_member.member.broker_id}"
    if verdict.starts is False and _page_of(verdict.refused, resource, by_files):
        return None
    status = {True: Status.PASS, False: Status.FAIL, None: Status.UNKNOWN}[verdict.starts]
    status = Status.FAIL if verdict.later else status
    evidence: dict[str, Value] = {
        "broker": judged_member.member.broker_id,
        "who": f"broker {judged_member.member.broker_id}",
        "version": judged_member.release.version,
    }
    refused = verdict.refused
    if refused is not None:
        evidence["kafka_says"] = places.masked_refusal(refused, judged_member.member.broker)
        evidence |= {"key": refused.key} if refused.key else {}
    if verdict.starts is None:
        evidence["error"] = f"{listing(sorted(judged_member.member.broker.unknown), 3)} contains a placeholder"
        evidence["needs"] = f"the file as broker {judged_member.member.broker_id} gets it"
    # What the JVM is given may allow it.
    sure = Confidence.INFERRED if verdict.later and judged_member.member.broker.jvm is None else Confidence.MEASURED
    return Judgement(snapshot_id="lint", code=REFUSED, resource=resource, status=status, evidence=evidence, confidence=sure)


def _page_of(refused: StartRefusal | None, resource: str, by_files: Iterable[Judgement]) -> bool:
    return refused is not None and any(other.resource == resource and _is_of(other, refused) for other in by_files)


def _is_of(judgement: Judgement, refused: StartRefusal) -> bool:
    """Return whether a judgement is a refusal's own."""
    own = None if refused.rule is None else _OWN_PAGE.get(refused.rule)
    return judgement.code == own and judgement.status is Status.FAIL


def _one_word(judged: Iterable[_JudgedMember], by_files: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield what checks say, with start-up refusals in the words of the judged release."""
    by_resource = {f"broker/{judged_member.member.broker_id}": judged_member for judged_member in judged}
    for judgement in by_files:
        member = by_resource.get(judgement.resource)
        refused = member.verdict.refused if member else None
        if member and refused and _is_of(judgement, refused):
            yield replace(
                judgement, evidence={**judgement.evidence, "kafka_says": places.masked_refusal(refused, member.member.broker)}
            )
        else:
            yield judgement


def _about(group: Group, found: Iterable[Finding]) -> Mapping[int, list[Finding]]:
    """Return the findings of each broker; those of no broker in the group are listed with the first."""
    by_name = {f"{kind}/{member.broker_id}": member.broker_id for member in group for kind in ("broker", "controller")}
    about: dict[int, list[Finding]] = {member.broker_id: [] for member in group}
    for finding in found:
        node = "/".join(finding.resource.name.split("/", 2)[:2])
        about[by_name.get(node, group[0].broker_id)].append(finding)
    return about


def _linted(
    judged_member: _JudgedMember, findings: Sequence[Finding], checks: Mapping[str, Check], tools: Tools, text: Sequence[str]
) -> Linted:
    member, broker = judged_member.member, judged_member.member.broker
    ignored = {ignore.code: ignore for ignore in reversed(member.source.ignores)}
    verdict = judged_member.verdict
    refused = verdict.refused if verdict.starts is False and not verdict.by_image else None
    hidden = places.secrets(broker) if findings else ()
    return Linted(
        path=member.source.path,
        inside=broker.inside if len(member.source.brokers) > 1 else "",
        kafka_version=judged_member.release.version,
        version_why=judged_member.release.why,
        neighbour_of=judged_member.release.neighbour_of,
        starts=judged_member.verdict.starts,
        kafka_says=places.masked_refusal(refused, broker) if refused else None,
        linted_findings=tuple(
            _placed(_in_names_of_file(finding, judged_member, checks, tools), member, ignored, text, hidden)
            for finding in findings
        ),
        remarks=(
            *broker.remarks,
            *(senses.sense_remarks(broker) if broker is _like_it(member) else ()),
            *_next_refusals(judged_member),
        ),
    )


def _like_it(member: Member) -> Described:
    """Return the first node of the resource that has the settings of a node, and its lines."""
    broker = member.broker
    same = (one for one in member.source.brokers if (one.cluster, one.value(_ROLES)) == (broker.cluster, broker.value(_ROLES)))
    return next(same, broker) if broker.cluster else broker


def _next_refusals(judged_member: _JudgedMember) -> Iterator[Remark]:
    broker, release = judged_member.member.broker, judged_member.release
    found = starts.next_refusals(broker, judged_member.verdict, release.version, release.neighbour_of)
    first = judged_member.verdict.refused
    others = (refused for refused in found if first is None or refused.message != first.message)  # a default is refused alike
    for refused in islice(others, _MOST_REFUSALS):
        text = f"once the above is corrected, Kafka refuses this: {places.masked_refusal(refused, broker)}"
        yield Remark(line=broker.properties[refused.key or ""].line, text=text)


def _in_names_of_file(finding: Finding, judged_member: _JudgedMember, checks: Mapping[str, Check], tools: Tools) -> Finding:
    member = judged_member.member
    version = judged_member.release.version
    remedy = remedies.remedy_in_file(checks[finding.code], finding, member.broker, path=member.source.path, version=version)
    return replace(remedies.words_in_file(checks[finding.code], finding, member.broker), remedy=tools.prose(remedy))


def _placed(
    finding: Finding, member: Member, ignored: Mapping[str, Ignore], text: Sequence[str], hidden: Sequence[str]
) -> LintedFinding:
    key = finding.evidence.get("key") if finding.status in {Status.FAIL, Status.UNKNOWN} else None
    ends = {end.key: replace(end, key="", value="") for end in member.broker.ends} if finding.code == REFUSED else {}
    setting = {**member.broker.properties, **ends}.get(key) if isinstance(key, str) else None
    at = finding.evidence.get("line")
    written = member.broker.image or member.broker.container or member.broker.names.form in {Form.BITNAMI, Form.CONFLUENT}
    place = None
    if at is None and setting is None and key and written and finding.status is Status.FAIL:
        first = min(one.line for one in member.broker.properties.values() if one.line)  # where a line is missing
        like = member.broker.properties.get(_FACTOR) if member.broker.names.form is Form.CONFLUENT else None
        place = places.line_to_add(like.line if like is not None and str(key).startswith("transaction.") else first)
    if isinstance(at, int):
        setting = Property(str(key), "", at)
    if setting is not None and setting.line <= len(text):
        place = places.line_of_property(setting, text[setting.line - 1], hidden)
    if place is not None and finding.code == _ABOUT_KEYS:
        place = places.place_of_key(place, str(key))
    own = replace(
        finding,
        evidence={**finding.evidence, "line": place.line} if place else finding.evidence,
        fingerprint=fingerprint(finding.code, member.source.path, f"{member.broker.inside}/{finding.resource.name}"),
    )
    ignore = ignored.get(finding.code)
    if ignore is None:
        return LintedFinding(finding=own, place=place)
    return LintedFinding(finding=replace(own, muted=True), place=place, muted_because=ignore.reason, muted_here=True)
