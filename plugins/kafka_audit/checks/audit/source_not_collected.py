from collections.abc import Sequence

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.answers.reads import addresses_of, failed_texts, source_name
from kafka_audit.compare.addresses import address_text, is_among
from kafka_audit.model.finding import Resource
from kafka_audit.model.read_failure import AS_IN_A_RESTART, LOGIN_REFUSALS, NOT_ASKED, OTHER_LISTENER, ReadFailure
from kafka_audit.model.tables import BrokerView, SourceRead

_JUDGED_ELSEWHERE = frozenset({ReadFailure.NOT_AUTHORIZED, ReadFailure.JAAS_REFUSED})
"""A missing right is KA002; a text that brokers cannot parse either is KA414."""
_NOT_LET_IN = (LOGIN_REFUSALS - OTHER_LISTENER) | {ReadFailure.SCRAM_WEAK, ReadFailure.SCRAM_NOT_VERIFIED}


@check(code="KA001", severity=Severity.HIGH)
def source_not_collected(view: ClusterView) -> Judgements:
    """A source could not be read, or only in part."""
    reads, silent = view.reads.by_resource, view.reads.silent_brokers
    if not reads:
        yield view.unknown("cluster", "no source was read", "a source to read", source="the cluster")
    for resource, asked in reads.items():
        failed = [read for read in asked if read.outcome == "failed" and read.failure not in _JUDGED_ELSEWHERE]
        failed = [read for read in failed if read.was_tried] or failed  # it was not tried because of another one
        name = source_name(resource, failed or asked)
        source = "ZooKeeper" if name == "zookeeper" else f"{name[0].upper()}{name[1:]}"
        evidence: dict[str, object] = {"source": source, "asked": len(asked), "failed": len(failed)}
        if not failed:
            yield view.judge(resource, Status.PASS, evidence)
            continue
        if resource not in silent and all(read.failure in NOT_ASKED or not read.was_tried for read in failed):
            yield view.judge(resource, Status.UNKNOWN, {**evidence, **failed_texts(failed)})
            continue
        part = "returned no view" if resource in silent else "returned only a part"
        answered = [read for read in asked if read.outcome != "failed" or read.failure in _JUDGED_ELSEWHERE]
        if resource != "cluster" and answered and all(map(_is_file, answered)) and not all(map(_is_file, failed)):
            part = "gave no answer, and only its files were read"
        evidence |= {"gave": "returned nothing" if len(failed) == len(asked) else part, **failed_texts(failed)}
        evidence |= _accepted_elsewhere(view, resource, failed)
        settled = view.samples[1] is not None and view.reads.failed_before(failed)
        if resource != "cluster" and not settled and all(read.failure in AS_IN_A_RESTART for read in failed):
            evidence["error"] = f"in motion: {evidence['error']}, in one sample"
            yield view.judge(resource, Status.UNKNOWN, evidence)
        elif lacking := _without_listener(view, resource, failed):
            evidence |= {"lacking": lacking[0], "needs": f"listener {lacking[1]} of broker {lacking[0]}, which lacks it (KA305)"}
            yield view.judge(resource, Status.FAIL, evidence, severity=Severity.LOW)
        elif _is_left_behind(view, resource, failed):
            evidence["needs"] = "nothing, if the broker was removed: delete its address from bootstrap in the cluster file"
            yield view.judge(resource, Status.FAIL, evidence, severity=Severity.LOW)
        else:
            yield view.judge(resource, Status.FAIL, evidence)


def _is_file(read: SourceRead) -> bool:
    return read.observer.startswith(("logs:", "properties:"))


def _without_listener(view: ClusterView, resource: str, failed: Sequence[SourceRead]) -> tuple[int, str] | None:
    """Return who had an address of the cluster file, with the listener that this broker lacks now; None where no broker does."""
    address = Resource.of(resource).address
    if address is None or not all(read.failure in AS_IN_A_RESTART for read in failed):
        return None
    held = [row.broker_id for row in view.addresses_earlier if address_text(row.host, row.port) == address]
    return next(((broker, name) for name, brokers in sorted(view.lacking.items()) for broker in held if broker in brokers), None)


def _is_left_behind(view: ClusterView, resource: str, failed: Sequence[SourceRead]) -> bool:
    """Return whether it is an address of the cluster file where nothing answers, while every expected broker is registered."""
    is_address = resource.startswith("broker/") and all(read.observer.startswith("broker@") for read in failed)
    expected = None if view.info is None else view.info.expect_brokers
    return (
        is_address
        and expected is not None
        and len(view.brokers.keys() | view.unlisted) >= expected
        and all(read.failure in AS_IN_A_RESTART for read in failed)
    )


def _accepted_elsewhere(view: ClusterView, resource: str, failed: Sequence[SourceRead]) -> dict[str, object]:
    """Return as evidence who let the auditor in with the same user and password, on the listeners where a broker did not."""
    if not resource.startswith("broker/") or not any(read.failure in _NOT_LET_IN for read in failed):
        return {}
    listeners = _listeners(view, resource, failed)
    views = [row for row in view.newest(BrokerView) if row.listener in listeners and row.broker_id >= 0]
    others = tuple(sorted({row.broker_id for row in views if f"broker/{row.broker_id}" != resource}))
    return {"accepted_by": others, "accepted_at": tuple(sorted(listeners))} if others else {}


def _listeners(view: ClusterView, resource: str, failed: Sequence[SourceRead]) -> set[str]:
    """Return the listeners at which reads failed."""
    tried = {place for read in failed for place in addresses_of(read.target)}
    own = [endpoint for endpoint in view.endpoints.by_resource.values() if f"broker/{endpoint.broker_id}" == resource]
    found = {endpoint.listener for endpoint in own if is_among((endpoint.host, endpoint.port), tried)}
    # Behind `reach` another address is dialled.
    return found or {endpoint.listener for endpoint in own if (endpoint.protocol or "").startswith("SASL_")}
