"""KA001."""

from collections.abc import Iterator, Sequence

from kafka_audit.checks import check
from kafka_audit.cluster.answers.reads import (
    addresses_of,
    failed_texts,
    source_name,
)
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import is_among
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.read_failure import AS_IN_A_RESTART, LOGIN_REFUSALS, NOT_ASKED, ReadFailure
from kafka_audit.model.tables import BrokerView, SourceRead

_JUDGED_ELSEWHERE = frozenset({ReadFailure.NOT_AUTHORIZED, ReadFailure.JAAS_REFUSED})
"""A missing right is KA002; a text that brokers cannot parse either is KA414."""
_NOT_LET_IN = LOGIN_REFUSALS | {ReadFailure.SCRAM_WEAK, ReadFailure.SCRAM_NOT_VERIFIED}


@check(
    code="KA001",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "{source} {gave}: {failed} of {asked} reads failed ({reads}); first error: {error}",
        Status.PASS: "{source} answered all {asked} reads (reads denied by authorization are not counted)",
        Status.UNKNOWN: "Cannot determine whether {source} can be read completely ({error})",
    },
)
def source_not_collected(view: ClusterView) -> Iterator[Judgement]:
    """A source could not be read, or only in part.

    ## Why it matters
    Every check that depends on this source is UNKNOWN instead of PASS. An audit without findings is meaningful only if the
    audit could read the cluster.

    ## Fails when
    ZooKeeper could not be read, or a registered broker (without ZooKeeper: a listed broker) returned no view on any listener,
    or another read failed. A read that was denied is KA002; a JAAS configuration that cannot be parsed is KA414. A broker that
    refuses connections counts if two samples agree, so a restart does not raise an alarm. LOW if it is an address in `bootstrap`
    at which no broker answers, although all brokers of `expect.brokers` are registered.

    ## Not known when
    A broker refused the connection in one sample only. Or the cluster file has no login for one of its listeners or does not
    trust its address (`not trusted`), and another listener returned a view. Or no source was read.

    ## Passes only when
    The source answered every read.

    ## What to do
    Required: {needs}. Repeat the read from this machine: `nc -vz -w 3 HOST PORT`, then for a broker
    `kafka-broker-api-versions.sh --bootstrap-server HOST:PORT --command-config client.properties`, for
    ZooKeeper `echo srvr | nc HOST 2181`. To exclude a listener permanently, set `listeners: {NAME: skip}` in the cluster
    file. If a broker was removed from the cluster, delete its address from `bootstrap`.

    `not trusted`: the auditor did not log in, because only the cluster lists this address, and any client that may write a
    znode can list an address. Add the hosts that may receive the password to `trusted_hosts` in the cluster file. `weak SCRAM`
    and `SCRAM not verified`: do not trust the process at this address with the password. Find out whose process it is before
    you change a password.

    `SASL_AUTHENTICATION_FAILED`: the broker refuses the login. If other brokers accept the same user and password, they are
    right, and the fault is at this broker: find out which process listens there. `login paused`: the login was not tried, because
    three other brokers refused it and none accepted it, and more attempts could lock the account.

    `no token` and `token refused`: the auditor received no access token (OAUTHBEARER), so it did not log in. The message
    contains the response of the token endpoint; `security` in the cluster file contains its URL and the client ID.

    `no Kerberos ticket`: the auditor has no valid ticket for the broker (GSSAPI), so it did not log in. The message comes from
    the Kerberos library: the ticket has expired, the KDC does not know a principal, or the KDC does not answer.

    `contradicts ZooKeeper`: the broker offers APIs of KRaft mode only, but ZooKeeper has it registered or records no migration.
    The audit does not stop reading ZooKeeper because of one broker. Find out which process answers at this address. A broker
    that has just changed to KRaft mode is correct as soon as its ZooKeeper session has ended.

    ## References
    Kafka documentation, "Authorization and ACLs": the right that each request requires.
    """
    reads, silent = view.reads.by_resource, view.reads.silent_brokers
    if not reads:
        nothing = {"source": "the cluster", "error": "no source was read", "needs": "a source to read"}
        yield view.judge("KA001", "cluster", Status.UNKNOWN, nothing)
    for resource, asked in reads.items():
        failed = [read for read in asked if read.outcome == "failed" and read.failure not in _JUDGED_ELSEWHERE]
        name = source_name(resource, failed or asked)
        source = "ZooKeeper" if name == "zookeeper" else f"{name[0].upper()}{name[1:]}"
        evidence: dict[str, object] = {"source": source, "asked": len(asked), "failed": len(failed)}
        if not failed:
            yield view.judge("KA001", resource, Status.PASS, evidence)
            continue
        if resource not in silent and all(read.failure in NOT_ASKED for read in failed):
            yield view.judge("KA001", resource, Status.UNKNOWN, {**evidence, **failed_texts(failed)})
            continue
        part = "returned no view" if resource in silent else "returned only a part"
        evidence |= {"gave": "returned nothing" if len(failed) == len(asked) else part, **failed_texts(failed)}
        evidence |= _accepted_elsewhere(view, resource, failed)
        settled = view.samples[1] is not None and view.reads.failed_before(failed)
        if resource != "cluster" and not settled and all(read.failure in AS_IN_A_RESTART for read in failed):
            evidence["error"] = f"in motion: {evidence['error']}, in one sample"
            yield view.judge("KA001", resource, Status.UNKNOWN, evidence)
        elif _is_left_behind(view, resource, failed):
            evidence["needs"] = "nothing, if the broker was removed: delete its address from bootstrap in the cluster file"
            yield view.judge("KA001", resource, Status.FAIL, evidence, severity=Severity.LOW)
        else:
            yield view.judge("KA001", resource, Status.FAIL, evidence)


def _is_left_behind(view: ClusterView, resource: str, failed: Sequence[SourceRead]) -> bool:
    """Return whether it is an address of the cluster file where nothing answers, while every expected broker is registered."""
    is_address = resource.startswith("broker/") and not resource.removeprefix("broker/").isdecimal()
    expected = None if view.info is None else view.info.expect_brokers
    return (
        is_address
        and expected is not None
        and len(view.brokers) >= expected
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
