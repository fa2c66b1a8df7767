"""The report of one audit as structs: what `findings.json` holds. `report.schema` makes the JSON Schema of it.

A field without a default is in every report that this version can read. One with a default was added later: a report of an
earlier version lacks it. `UNSET` is what JSON leaves out. A reader ignores fields that it does not know.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from kafka_audit.model.finding import Address, Confidence, Evidence, Lifecycle, SeverityName, Status
from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.text import LONGEST_HEADLINE

SCHEMA_VERSION: Final = 3
"""Of `findings.json`."""

_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]+")

READABLE = (2, SCHEMA_VERSION)
"""Version 2 has the same fields."""

LARGEST = 2**53 - 1
"""Beyond it a reader of JSON may take a number for another one."""


def one_of(*words: str | None) -> Meta:
    """Return what the schema says of a text that is one of a few words."""
    return Meta(extra_json_schema={"enum": [*words]})


# What `extra_json_schema` says, a reader of a stored report need not hold: only the import of another party's report demands it.
Count = Annotated[int, Meta(ge=0, le=LARGEST)]
CheckCode = Annotated[str, Meta(extra_json_schema={"pattern": "^KA[0-9]{3}$"})]
Time = Annotated[str | None, Meta(extra_json_schema={"format": "date-time", "pattern": "Z$"})]
Fingerprint = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9a-f]{16}$"})]
Fingerprints = Annotated[tuple[Fingerprint, ...], Meta(extra_json_schema={"uniqueItems": True})]
Layer = Annotated[str, one_of("dns", "tcp", "tls", "sasl", "api", "identity", "packets")]
Cells = Annotated[str, Meta(extra_json_schema={"pattern": "^[DTLSARIPE?.-]*$"})]

_Scalar = str | int | float | bool
_Record = Mapping[str, _Scalar]
_KINDS = ({"type": "integer"}, {"type": "string"}, {"type": "object"})
EvidenceValue = Annotated[
    _Scalar | _Record | tuple[_Scalar | _Record, ...],
    Meta(extra_json_schema={"if": {"type": "array"}, "then": {"anyOf": [{"items": kind} for kind in _KINDS]}}),
]
"""A value of evidence. Only the schema says that the parts of a list are of one kind."""


class SettingValue(Struct, frozen=True, kw_only=True):
    """A line of a configuration.

    Attributes:
        file: server.properties, or the cluster file, where a value may be a list.
    """

    key: str
    value: str | tuple[str, ...]
    file: Annotated[str, one_of("properties", "yaml")]

    def __post_init__(self) -> None:
        """Raise ValueError for a list in server.properties."""
        if self.file == "properties" and not isinstance(self.value, str):
            msg = "server.properties has no lists"
            raise ValueError(msg)


class RemedyPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a remedy: text, a name, a command, a setting or a comment. Values are not quoted.

    Attributes:
        code: A name of Kafka's, a file or a part of a command.
        remark: The words of a comment.
        command: The words of a command; of several that a pipe joins, the words of each.
        withheld: Placeholders that stand for values which cannot be printed.
        own_line: The command has a line of its own in the text.
    """

    text: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    remark: tuple[str, ...] | UnsetType = UNSET
    command: Annotated[tuple[Annotated[tuple[str, ...], Meta(min_length=1)], ...], Meta(min_length=1)] | UnsetType = UNSET
    setting: SettingValue | UnsetType = UNSET
    withheld: tuple[str, ...] = ()
    own_line: bool = False


class UnansweredRead(Struct, frozen=True, kw_only=True):
    """A read without an answer.

    Attributes:
        broker: That was asked, or is the read about; null: no broker, or its id is unknown.
        target: The address that was asked.
        reason: Why the read failed.
        kind: The error without its details.
        needs: The exact right, port or file that would make it answer.
        untrusted_host: No login was tried there: the cluster file neither names nor trusts it.
    """

    observer: str
    broker: int | None
    operation: str
    target: str = ""
    error: str
    reason: Annotated[str, one_of(*(member.name for member in ReadFailure))] = ""
    kind: str = ""
    needs: str | None = None
    untrusted_host: str | None = None


class Coverage(Struct, frozen=True, kw_only=True):
    """Reads that were asked, and those with data or a definite no. What is not configured is not asked."""

    asked: Count
    answered: Count
    unknown: tuple[UnansweredRead, ...]


class StatusCounts(Struct, frozen=True, kw_only=True):
    """Findings by status, those not listed included."""

    FAIL: Count
    PASS: Count
    UNKNOWN: Count
    NOT_APPLICABLE: Count


class CodeGroup(Struct, frozen=True, kw_only=True):
    """The findings of one check in an incident.

    Attributes:
        name: The fault in snake_case.
        brokers: By broker id; a partition counts at every broker that it lacks, else at its leader.
        first: Resources of the first findings.
    """

    code: CheckCode
    name: str
    findings: Count
    brokers: Mapping[str, Count]
    first: Annotated[tuple[str, ...], Meta(extra_json_schema={"maxItems": 10})]


class Worse(Struct, frozen=True, kw_only=True):
    """What became worse since the previous report.

    Attributes:
        joined: Brokers, else topics, that it did not affect before.
        more: Further ones that are not listed.
        severity_before: Where it was lower.
    """

    joined: tuple[str, ...]
    more: Count
    severity_before: SeverityName | None


class ReportedCandidate(Struct, frozen=True, kw_only=True):
    """A cause that an incident may have.

    Attributes:
        cause: A kind of causes, such as `address` or `tls`.
        speaks_for: What shows it, or leaves it open.
        decided_by: What would decide; empty where it is decided.
    """

    cause: Annotated[str, Meta(extra_json_schema={"pattern": "^[a-z_]+$"})]
    code: CheckCode
    fault: str
    state: Annotated[str, one_of("measured", "possible", "rare", "ruled_out")]
    speaks_for: tuple[Evidence, ...] = field(name="for")
    against: tuple[Evidence, ...]
    decided_by: str


class ReportedStep(Struct, frozen=True, kw_only=True):
    """A step of a repair.

    Attributes:
        commands: Commands for bash, lines of server.properties or of the cluster file, and comments, as they can be copied.
        lines: The same as values.
        parts: The text as values, where it has commands.
    """

    kind: Annotated[str, one_of("see", "quick", "lasting", "prove", "do_not")]
    text: str
    commands: tuple[str, ...]
    cost: str | None
    lines: tuple[RemedyPart, ...] = ()
    parts: tuple[RemedyPart, ...] | UnsetType = UNSET


FUNCTIONS = (
    "produce_acks_all",
    "produce",
    "consume",
    "commit_offsets",
    "transactions",
    "create_topics",
    "elect_leader",
    "replicate",
    "log_in",
)
"""What clients, operators and brokers do with a cluster; an incident stops some of it."""


class Impact(Struct, frozen=True, kw_only=True):
    """A function that fails while an incident lasts, and for whom. Lists are cut at 1,000 names; null: not known.

    Attributes:
        partitions: As `topic-0`.
        number: How many partitions, those that are not listed as well.
        leaders: The brokers that lead those which are counted and not listed.
    """

    function: Annotated[str, one_of(*FUNCTIONS)]
    topics: tuple[str, ...] | None = None
    partitions: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    clients: tuple[str, ...] | None = None
    number: Count | None = None
    leaders: tuple[int, ...] = ()


class ReportedIncident(Struct, frozen=True, kw_only=True):
    """Findings that one cause explains.

    Attributes:
        confidence_why: One sentence on what the confidence rests on.
        impact: Who suffers now.
        findings: Of severity HIGH and above.
        explains: Findings below HIGH that the same cause explains, for example replicas that fell out of sync a moment ago.
        candidates: Causes of a broken edge, the likeliest first; a measured one alone.
        worse: Missing where nothing became worse.
        groups: Both kinds of findings by code, the cause first: how many, at which brokers how many, and the first names.
        first_seen: When the first audit that found it ended; null: not known.
        not_yet_at: When the previous audit ended, where it judged the cause and found nothing of the incident.
        audits: How many audits in a row have found it, as far as their reports are there. Those for a question do not count.
        impacts: What fails for whom, as far as the findings show.
    """

    headline: Annotated[str, Meta(extra_json_schema={"minLength": 1, "maxLength": LONGEST_HEADLINE})]
    cause: CheckCode
    severity: SeverityName
    confidence: Confidence
    confidence_why: str = ""
    impact: str = ""
    lifecycle: Lifecycle
    findings: Annotated[Fingerprints, Meta(extra_json_schema={"minItems": 1})]
    explains: Fingerprints = ()
    evidence_for: tuple[Evidence, ...]
    evidence_against: tuple[Evidence, ...]
    not_known: tuple[str, ...]
    candidates: tuple[ReportedCandidate, ...] = ()
    remediation: tuple[ReportedStep, ...]
    worse: Worse | UnsetType = UNSET
    groups: Annotated[tuple[CodeGroup, ...], Meta(extra_json_schema={"minItems": 1})] = ()
    first_seen: Time = None
    not_yet_at: Time = None
    audits: Count = 1
    impacts: tuple[Impact, ...] = ()

    @property
    def inside(self) -> tuple[str, ...]:
        """The fingerprints of all findings that it explains."""
        return (*self.findings, *self.explains)


class EarlierIncident(Struct, frozen=True, kw_only=True):
    """An incident of the previous report that is not one of this; `first_seen` and `audits` as they were there."""

    headline: str
    cause: CheckCode
    severity: SeverityName
    findings: tuple[Fingerprint, ...]
    first_seen: Time = None
    audits: Count = 1


class ReportedResource(Struct, frozen=True, kw_only=True):
    """What a finding is about: its kind, and its whole path, as `Resource` takes it."""

    type: str
    name: Annotated[str, Meta(extra_json_schema={"minLength": 1})]


class ReportedFinding(Struct, frozen=True, kw_only=True):
    """What a check says of one resource.

    Attributes:
        name: The fault in snake_case.
        evidence: What was compared: numbers are numbers, brokers lists of ids. What has several parts is an object.
        remediation: What to do, as text whose commands can be copied.
        remedy: The same as values.
        last_known: The message of the audit that judged it last, where this one could not.
    """

    code: CheckCode
    name: str
    status: Status
    severity: SeverityName
    confidence: Confidence
    resource: ReportedResource
    message: str
    evidence: Mapping[str, EvidenceValue]
    remediation: str
    remedy: tuple[RemedyPart, ...] = ()
    fingerprint: Fingerprint
    lifecycle: Lifecycle
    muted: bool
    last_known: str | UnsetType = UNSET


class ReportedChange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A fact that differs from the previous snapshot.

    Attributes:
        addresses_before: Of an endpoint, or of a broker that went.
        addresses_after: Of an endpoint, or of a broker that came.
    """

    kind: str
    resource: str
    before: str | None
    after: str | None
    addresses_before: tuple[Address, ...] = ()
    addresses_after: tuple[Address, ...] = ()


class SingleLoss(Struct, frozen=True, kw_only=True):
    """What becomes of the cluster without one broker, rack or controller.

    Attributes:
        loss: broker:2, rack:a, controller:3000.
        safe: null: not decided; `why` names what is not known.
        offline: Partitions without leader.
        unclean: Partitions whose next leader lacks records.
        unreached: Partitions whose next leader clients do not reach.
        not_writable: Partitions that refuse acks=all.
        at_risk: Partitions with one copy left.
        elects: Whether the metadata quorum has a leader then; null: not known, or it loses no voter.
        quorum_lost: Voters that go.
    """

    loss: str
    safe: bool | None
    offline: Count
    unclean: Count
    unreached: Count = 0
    not_writable: Count
    at_risk: Count
    elects: bool | None
    quorum_lost: Count
    why: str


class MarginStep(Struct, frozen=True, kw_only=True):
    """What would keep partitions that the worst loss stops.

    Attributes:
        lines: The commands as values.
    """

    text: str
    commands: tuple[str, ...]
    lines: tuple[RemedyPart, ...]


class PlannedChange(Struct, frozen=True, kw_only=True):
    """A step of a change, as the reports before a change have it.

    Attributes:
        halfway: What holds, and what breaks, until the next step.
        lines: The commands as values.
    """

    text: str
    halfway: str = ""
    commands: tuple[str, ...]
    lines: tuple[RemedyPart, ...] = ()


class OpenInput(Struct, frozen=True, kw_only=True):
    """What is not known, and what would answer it."""

    what: str
    needs: str


class NextFailure(Struct, frozen=True, kw_only=True):
    """What stops if a single broker, rack or controller goes. No severity: checks judge.

    Attributes:
        worst: null: each loss is safe.
        losses: Brokers, racks (where there are several), and controllers that are no brokers.
        omitted: Losses beyond those listed.
        raises_margin: What would keep the partitions that the worst loss stops.
    """

    sentence: str
    worst: str | None
    losses: tuple[SingleLoss, ...]
    omitted: Count
    raises_margin: tuple[MarginStep, ...]
    not_known: tuple[OpenInput, ...]


class QuorumNode(Struct, frozen=True, kw_only=True):
    """A voter or an observer of the metadata quorum.

    Attributes:
        state: behind: not caught up for 10 s.
        behind_ms: null: never caught up under this leader, or unknown.
    """

    id: int
    voter: bool
    state: Annotated[str, one_of("caught_up", "behind", "unknown")]
    behind_ms: int | None
    behind_records: Annotated[int, Meta(ge=0)] | None


class QuorumState(Struct, frozen=True, kw_only=True):
    """The metadata quorum as its leader reports it.

    Attributes:
        leader: null: DescribeQuorum was not answered; error and needs say why.
        dynamic: Whether the voters are in the metadata log (kraft.version 1).
        replicas: Voters, then observers.
        omitted: Nodes beyond those listed.
    """

    leader: int | None = None
    epoch: int | None = None
    dynamic: bool | None = None
    replicas: tuple[QuorumNode, ...] = ()
    omitted: Count = 0
    error: str | None = None
    needs: str | None = None


class MatrixObserver(Struct, frozen=True, kw_only=True):
    """A row of the matrix.

    Attributes:
        controller: The id of a voter of the quorum.
        reach: A cell for each broker.
        quorum: A cell for each controller: whether it is reached, and followed.
        view: A cell for each broker.
    """

    name: str
    broker: int | None
    controller: int | None = None
    note: str
    reach: Cells
    quorum: Cells = ""
    view: Annotated[str, Meta(extra_json_schema={"pattern": "^[V?.-]*$"})]


class MatrixReason(Struct, frozen=True, kw_only=True):
    """Why cells are what they are.

    Attributes:
        brokers: Empty, as controllers: all brokers.
    """

    letter: Annotated[str, one_of("D", "T", "L", "S", "A", "R", "I", "P", "E", "V", "?")]
    observers: tuple[str, ...]
    brokers: tuple[int, ...]
    controllers: tuple[int | str, ...] = ()
    text: str


class Matrix(Struct, frozen=True, kw_only=True):
    """Observers by brokers and controllers.

    D dns, T tcp, L tls, S sasl, A api, R rights, I identity, P packets, E effect, V view, ? not known, . agrees, - not asked.

    Attributes:
        controllers: Controllers of KRaft: ids, and addresses of those whose id is unknown. A node with both roles is in both.
        controller: By ZooKeeper.
        absent: Brokers that are known and not registered, in KRaft not in service; of those that are no column, too.
        controller_endpoints: Addresses by controller, as the quorum or settings name them, and as they were probed.
    """

    brokers: tuple[int, ...]
    controllers: tuple[int | str, ...] = ()
    controller: int | None
    endpoints: Mapping[str, str]
    controller_endpoints: Mapping[str, str] = {}
    absent: tuple[int, ...] = ()
    observers: tuple[MatrixObserver, ...]
    why: tuple[MatrixReason, ...]


class ReachStop(Struct, frozen=True, kw_only=True):
    """Brokers at which probes of one listener end alike.

    Attributes:
        layer: The first that did not pass.
    """

    layer: Layer
    outcome: Annotated[str, one_of("failed", "unknown")]
    error: str
    brokers: Annotated[tuple[int, ...], Meta(min_length=1)]


class ReachRow(Struct, frozen=True, kw_only=True):
    """How far one place gets to one listener of every broker, layer by layer; brokers that no stop names are open.

    Attributes:
        source: A client vantage, or the broker on whose host the probe ran.
        broker: The broker on whose host the probe ran; null for a client vantage.
        brokers: Brokers probed.
        open: How many of them let every layer pass.
        layers: By layer, how many passed it and how many came to it.
    """

    source: str = field(name="from")
    broker: int | None
    role: Annotated[str, one_of("client", "broker")]
    listener: str
    brokers: tuple[int, ...]
    open: Count
    layers: Mapping[Layer, tuple[Count, Count]]
    stops: tuple[ReachStop, ...]


class ViewColumn(Struct, frozen=True, kw_only=True):
    """Observers that said the same, and what they said, a value for each question."""

    observers: Annotated[tuple[str, ...], Meta(min_length=1)]
    values: tuple[str, ...]


class ReportedViews(Struct, frozen=True, kw_only=True):
    """What each party says of the whole cluster: a value for each row; parties that said the same share a column."""

    rows: tuple[str, ...] = ()
    columns: tuple[ViewColumn, ...] = ()


class Report(Struct, frozen=True, kw_only=True):
    """What one audit of one Kafka cluster found.

    Strings that the cluster supplied are escaped where they stand in messages; resource names are as they are.

    Attributes:
        cluster: Name in the cluster file.
        cluster_id: Kafka's cluster id, or unknown:<cluster> if no party reported it.
        previous_snapshot_id: The snapshot compared with; null: none, and every finding is new.
        passed_checks: Checks that pass wherever they apply: no failure, and nothing that could not be judged.
        lifecycle_counts: Failures new and ongoing; earlier ones resolved, or not judged this time.
        incidents: Worst first; every unmuted FAIL of HIGH and above is in exactly one.
        incomparable_incidents: Incidents of an earlier report that could not be judged now: neither open nor resolved.
        findings: FAIL, UNKNOWN and NOT_APPLICABLE, and what was resolved; PASS only with --all.
        changes: Facts that differ from the previous snapshot.
        changes_omitted: Changes beyond those listed.
        never_asked: What this audit cannot speak for.
        passed_over: Earlier snapshots that were damaged, and why: what changed since them is not known.
        next_failure: null where no broker, rack or controller was read.
        quorum: null where the metadata is in ZooKeeper.
        progress: What is on its way, those that stand still first.
        progress_omitted: Rows of progress beyond those listed.
        origin: Only where a report is shown that was imported: another party wrote its steps and texts.
    """

    schema_version: Literal[2, 3] = SCHEMA_VERSION
    cluster: str
    cluster_id: str
    snapshot_id: str
    previous_snapshot_id: str | None
    started_at: Time = None
    finished_at: Time
    mode: Annotated[str | None, one_of("zookeeper", "kraft", None)] = None
    coverage: Coverage
    counts: StatusCounts
    passed_checks: Annotated[tuple[CheckCode, ...], Meta(extra_json_schema={"uniqueItems": True})] | UnsetType = UNSET
    lifecycle_counts: Mapping[Lifecycle, Count] = {}
    incidents: tuple[ReportedIncident, ...]
    resolved_incidents: tuple[EarlierIncident, ...] = ()
    incomparable_incidents: tuple[EarlierIncident, ...] = ()
    findings: tuple[ReportedFinding, ...]
    changes: tuple[ReportedChange, ...] = ()
    changes_omitted: Count = 0
    never_asked: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    next_failure: NextFailure | None = None
    quorum: QuorumState | None = None
    matrix: Matrix
    reach: tuple[ReachRow, ...] = ()
    views: ReportedViews = ReportedViews()
    progress: tuple[ProgressRow, ...] = ()
    progress_omitted: Count = 0
    origin: Literal["bundle"] | UnsetType = UNSET

    @property
    def unresolved(self) -> tuple["ReportedIncident | EarlierIncident", ...]:
        """The incidents that are open, or were when they could be judged last."""
        return (*self.incidents, *self.incomparable_incidents)

    @property
    def incident_numbers(self) -> dict[str, int]:
        """The number of the incident by the fingerprint of each finding inside one; the first incident is 1."""
        return {fingerprint: number for number, one in enumerate(self.incidents, 1) for fingerprint in one.inside}


def report_text(report: Report) -> str:
    """Return the text of `findings.json`: ASCII, in which no character of a cluster acts on a terminal."""
    try:
        text = msgspec.json.format(msgspec.json.encode(report), indent=2).decode()
    except UnicodeEncodeError:  # half a character, as a name of a cluster may have it
        return json.dumps(msgspec.to_builtins(report), indent=2) + "\n"
    return _BEYOND_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n"


def report_json(part: Struct | tuple[Struct, ...]) -> Any:  # noqa: ANN401 -- what JSON holds
    """Return a report, or a part of one, as what `json` reads of its text."""
    return json.loads(json.dumps(msgspec.to_builtins(part)))
