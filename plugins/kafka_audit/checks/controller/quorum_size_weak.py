"""KA217."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import NO_QUORUM, no_quorum
from kafka_audit.cluster.view import ClusterView
from kafka_audit.cluster.voters import usual_voters
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import counted
from kafka_audit.model.voters import SERVERS, VOTERS, named_voters

_FEWEST = 3


@check(
    code="KA217",
    severity=Severity.MEDIUM,
    by_files=True,
    says={
        Status.FAIL: "The metadata quorum has {size}: {why}",
        Status.PASS: "The metadata quorum has {size}, of which {spare} can fail",
        Status.UNKNOWN: "Cannot determine how many voters the metadata quorum has ({error})",
        Status.NOT_APPLICABLE: "The size of a metadata quorum is not judged: {reason}",
    },
)
def quorum_size_weak(view: ClusterView) -> Iterator[Judgement]:
    """The metadata quorum has too few voters to lose one, or an even number.

    ## Why it matters
    Without a majority of its voters no partition leader is elected, no topic is created and no broker starts. One voter is a
    single point of failure. Two voters are worse than one: both are required, so either one that fails stops the quorum. Four
    tolerate one failure, as three do.

    ## Fails when
    The leader of the quorum lists one or two voters: MEDIUM. It lists another even number: LOW. Observers do not vote and do not
    count. `lint` counts the ids in `controller.quorum.voters`, as most files name them.

    ## Not known when
    DescribeQuorum was denied or not answered; for `lint`, the files name `controller.quorum.bootstrap.servers` only (a dynamic
    quorum, Kafka 3.9 and later), because the voters are in the metadata log then. The check does not apply to a cluster of which
    the cluster file says `expect: {single_broker: true}`.

    ## Passes only when
    The leader lists three voters or more, and an odd number. KA209 reports voters that do not follow.

    ## What to do
    Run three controllers on hosts that fail independently, or five if one can be down for maintenance while another fails. In a
    dynamic quorum (kraft.version 1) format and start the new controller, and add it on its host once it has caught up:
    `kafka-metadata-quorum.sh --command-config controller.properties --bootstrap-controller CONTROLLER:9093 add-controller`. A
    voter too many is removed with `remove-controller`. A static quorum (`controller.quorum.voters`) becomes dynamic from Kafka
    4.1 on: `kafka-features.sh --bootstrap-server BROKER:9092 upgrade --feature kraft.version=1`.

    ## References
    KIP-595 (quorum), KIP-853 (dynamic quorum); Kafka documentation, "KRaft", "Controllers".
    """
    if not view.inter_broker.asked:
        yield _by_files(view)
        return
    yield from no_quorum(view, "KA217", "a controller")
    now = view.quorum.now
    if now.newest is None:
        return
    if view.info is not None and view.info.expect_single_broker:
        yield view.judge("KA217", "cluster", Status.NOT_APPLICABLE, reason="the cluster file expects a single broker")
        return
    yield _judged(view, now.voters)


def _judged(view: ClusterView, voters: tuple[int, ...], key: str | None = None) -> Judgement:
    count, spare = len(voters), (len(voters) - 1) // 2
    evidence: dict[str, object] = {"size": counted(count, "voter"), "voters": voters, "spare": spare, "key": key}
    if count >= _FEWEST and count % 2:
        return view.judge("KA217", "cluster", Status.PASS, evidence)
    alone = "no leader can be elected while it is down"
    either = "no leader can be elected while either of them is down"
    even = f"{count - 1} voters tolerate the same number of failures ({spare})"
    evidence["why"] = even if spare else alone if count == 1 else either
    return view.judge("KA217", "cluster", Status.FAIL, evidence, severity=Severity.LOW if spare else None)


def _by_files(view: ClusterView) -> Judgement:
    """Judge the voters that most files name."""
    if not view.kraft:
        return view.judge("KA217", "cluster", Status.NOT_APPLICABLE, reason=NO_QUORUM)
    settings = view.settings
    voters = usual_voters(named_voters(settings.get(node, VOTERS).value) for node in settings.every_file)
    if voters:
        return _judged(view, voters, VOTERS)
    dynamic = any(settings.get(node, SERVERS).state == "set" for node in settings.every_file)
    key = SERVERS if dynamic else VOTERS
    error = "the voters are in the metadata log" if dynamic else f"no file has a {VOTERS} that is known"
    needs = "an audit of the running cluster" if dynamic else "the file as the node gets it"
    return view.judge("KA217", "cluster", Status.UNKNOWN, error=error, needs=needs, key=key)
