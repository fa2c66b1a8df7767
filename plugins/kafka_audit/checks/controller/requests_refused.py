from collections.abc import Sequence

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import controller_logs
from kafka_audit.cluster.answers.log_lines import when
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import counted, listing, named_nodes
from kafka_audit.says.signs import NO_ACL_READ

_REFUSES = "controller_refuses"


@check(code="KA220", severity=Severity.CRITICAL, mode="kraft")
def requests_refused(view: ClusterView) -> Judgements:
    """A controller rejects the requests of other controllers or of brokers, because their principal may not act there."""
    rows = view.logs.of_nodes("KA220")
    alive, counting = _alive(view), set(rows)
    refusals = [row for row in rows if row.signature == _REFUSES]
    # A node that exits repeats nothing: of one that is not seen since then, its only request counts.
    refusals += [
        row
        for row in view.logs.since_start("KA220")
        if row.signature == _REFUSES and row not in counting and row.about_broker not in alive
    ]
    refusing = {row.broker_id for row in refusals}
    for controller in sorted(refusing):
        yield _refused_by(view, controller, [row for row in refusals if row.broker_id == controller])
    ended = {row.broker_id: row for row in rows if row.signature != _REFUSES}
    for node in sorted(ended.keys() - {row.about_broker for row in refusals}):
        yield _ended(view, ended[node])
    yield from controller_logs(view, refusing | ended.keys())


def _refused_by(view: ClusterView, controller: int, lines: Sequence[LogLine]) -> Judgement:
    sources = sorted({row.about_broker for row in lines if row.about_broker is not None})
    principals = sorted({row.detail for row in lines if row.detail})
    newest = max(lines, key=lambda row: row.last_ms or 0)
    early = all(NO_ACL_READ in (row.exception or row.text) for row in lines)
    often = counted(sum(row.since_start or 0 for row in lines), "time")
    evidence = _evidence(controller, sources, principals) | {
        "subject": f"Controller {controller}",
        "whom": _parties(view, sources) or "other nodes",
        "cause": "is not in its super.users and it has read no ACL" if early else "has no ClusterAction",
        "why": f"its log reports it {often}, last {when(newest)}",
    }
    return view.judge(f"controller/{controller}", Status.FAIL, evidence)


def _ended(view: ClusterView, row: LogLine) -> Judgement:
    party = view.party(row.broker_id)
    evidence = _evidence(row.broker_id, [row.broker_id], []) | {
        "subject": "A controller",
        "whom": party,
        "cause": "may not act there",
        "why": f"{party} exited, last {when(row)}",
    }
    return view.judge(party.replace(" ", "/"), Status.FAIL, evidence)


def _evidence(node: int, sources: Sequence[int], principals: Sequence[str]) -> dict[str, object]:
    principal = listing(principals, 2) or "its principal"
    return {"node": node, "from": tuple(sources), "principals": tuple(principals), "principal": principal, "key": "super.users"}


def _alive(view: ClusterView) -> frozenset[int]:
    """Return the nodes that follow the metadata log, or answer."""
    now = view.quorum.now
    return frozenset(now.replicas.keys() - now.late) | now.answering


def _parties(view: ClusterView, nodes: Sequence[int]) -> str:
    kinds = {"controller": [node for node in nodes if node in view.controller_nodes]}
    kinds["broker"] = [node for node in nodes if node not in view.controller_nodes]
    return " and ".join(named_nodes(kind, nodes) for kind, nodes in kinds.items() if nodes)
