from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import NO_QUORUM, no_quorum
from kafka_audit.cluster.releases import does
from kafka_audit.cluster.voters import usual_voters
from kafka_audit.model.addresses.voters import SERVERS, VOTERS, named_voters
from kafka_audit.model.text import counted

_FEWEST = 3


@check(code="KA217", severity=Severity.MEDIUM, by_files=True)
def quorum_size_weak(view: ClusterView) -> Judgements:
    """The metadata quorum has too few voters to lose one, or an even number."""
    if not view.inter_broker.asked:
        yield _by_files(view)
        return
    yield from no_quorum(view, "a controller")
    now = view.quorum.now
    if now.newest is None:
        return
    if view.info is not None and view.info.expect_single_broker:
        yield view.not_applicable("cluster", "the cluster file expects a single broker")
        return
    yield _of_voters(view, now.voters)


def _of_voters(view: ClusterView, voters: tuple[int, ...], key: str | None = None) -> Judgement:
    count, spare = len(voters), (len(voters) - 1) // 2
    evidence: dict[str, object] = {"size": counted(count, "voter"), "voters": voters, "spare": spare, "key": key}
    if count >= _FEWEST and count % 2:
        return view.judge("cluster", Status.PASS, evidence)
    alone = "no leader can be elected while it is down"
    either = "no leader can be elected while either of them is down"
    even = f"{count - 1} voters tolerate the same number of failures ({spare})"
    evidence["why"] = even if spare else alone if count == 1 else either
    nodes = {*view.settings.every_file, *view.inter_broker.brokers}
    never = nodes and all(does(view, node, "tool_voters") is False for node in nodes)
    evidence["advice"] = "static" if never else "dynamic"
    return view.judge("cluster", Status.FAIL, evidence, severity=Severity.LOW if spare else None)


def _by_files(view: ClusterView) -> Judgement:
    """Judge the voters that most files name."""
    if not view.kraft:
        return view.not_applicable("cluster", NO_QUORUM)
    settings = view.settings
    voters = usual_voters(named_voters(settings.get(node, VOTERS).value) for node in settings.every_file)
    if voters:
        return _of_voters(view, voters, VOTERS)
    dynamic = any(settings.get(node, SERVERS).state == "set" for node in settings.every_file)
    key = SERVERS if dynamic else VOTERS
    error = "the voters are in the metadata log" if dynamic else f"no file has a {VOTERS} that is known"
    needs = "an audit of the running cluster" if dynamic else "the file as the node gets it"
    return view.unknown("cluster", error, needs, key=key)
