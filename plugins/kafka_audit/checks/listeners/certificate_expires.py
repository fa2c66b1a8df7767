"""KA307."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from kafka_audit.checks import advertised, row_check
from kafka_audit.checks.inter_broker import TLS, InterBroker
from kafka_audit.checks.logins import DAY_MS, certificate, fault_of, started_ms
from kafka_audit.checks.rows import endpoint_name, judge
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Certificate, RegisteredEndpoint, Snapshot
from kafka_audit.model.text import brokers


@row_check(
    code="KA307",
    severity=Severity.MEDIUM,
    needs=(Certificate,),
    says={
        Status.FAIL: "Clients of broker {broker} on {listener} will not accept its certificate: {fault}",
        Status.PASS: "Broker {broker} shows on {listener} a certificate for {host} that is valid for {days} days more",
        Status.UNKNOWN: "Not known: how long the certificate of {who} is valid ({error})",
        Status.NOT_APPLICABLE: "No certificates to look at: {reason}",
    },
)
def certificate_expires(snapshot: Snapshot) -> Iterator[Judgement]:
    """A certificate has expired, is about to, or does not name the advertised host.

    ## Why it matters
    At that hour every new connection fails, between brokers too where they use the listener; open ones last until they break.

    ## Fails when
    It has expired or is not yet valid: CRITICAL. Less than 7 days are left: HIGH; less than 30: MEDIUM; of a short-lived
    certificate less than a tenth, and a third, of its lifetime. The advertised host is not among its names: HIGH, as clients
    compare names unless told otherwise.

    ## Not known when
    No handshake of the auditor's came so far that a certificate was shown.

    ## Passes only when
    It was shown, names the advertised host and is valid long enough. Whether its issuer is trusted is KA412's question.

    ## What to do
    See it:
    `openssl s_client -connect {host}:{port} -servername {host} </dev/null | openssl x509 -noout -dates -ext subjectAltName`.

    Renew it with {host} among its names. A keystore is read anew without a restart:
    `kafka-configs.sh --bootstrap-server <broker>:9092 --alter --entity-type brokers --entity-name {broker} --add-config <config>`
    with `listener.name.<listener>.ssl.keystore.location=<path>`.

    ## References
    KIP-226 (dynamic keystores); RFC 6125.
    """
    between = InterBroker(snapshot)
    endpoints = advertised.endpoints(snapshot)
    shown_at = {(row.broker_id, row.listener) for row in snapshot.of(Certificate)}
    ends = [e for e in endpoints if e.protocol in TLS or (e.broker_id, e.listener) in shown_at]
    for end in ends:
        shown = certificate(between, end.broker_id, end.listener)
        words = {"broker": str(end.broker_id), "listener": end.listener, "host": end.host, "port": str(end.port)}
        words["who"] = f"broker {end.broker_id} on {end.listener}"
        if shown is None:
            missing = {
                "error": "no certificate was shown",
                "needs": f"a TLS handshake from this worker with {end.host}:{end.port}",
            }
            yield judge(snapshot, "KA307", endpoint_name(end), Status.UNKNOWN, **words, **missing)
            continue
        fault = fault_of(shown, started_ms(between))
        words["days"] = str((shown.not_after_ms - started_ms(between)) // DAY_MS)
        words["fault"] = fault[0] if fault else "none"
        told = judge(snapshot, "KA307", endpoint_name(end), Status.FAIL if fault else Status.PASS, **words)
        yield replace(told, severity=fault[1]) if fault else told
    if not ends:
        missing = _missing(between, endpoints)
        if not missing:
            yield judge(snapshot, "KA307", "cluster", Status.NOT_APPLICABLE, reason="no listener uses TLS")
        else:
            yield judge(snapshot, "KA307", "cluster", Status.UNKNOWN, who="any broker", **missing)


def _missing(between: InterBroker, endpoints: Collection[RegisteredEndpoint]) -> dict[str, str]:
    """Return what keeps the audit from saying that no listener uses TLS; nothing where it may."""
    if not endpoints:
        who = "broker" if between.kraft else "ZooKeeper"
        return {"error": "nobody told the brokers' addresses", "needs": f"a {who} that answers"}
    advertising = {one.broker_id for one in endpoints}
    silent = sorted(advertising - set(advertised.by_settings(between))) if between.kraft else []
    if not silent:
        return {}
    needs = "DescribeConfigs on Cluster, or `properties` in the cluster file"
    return {"error": f"{brokers(silent)} did not tell what other listeners there are", "needs": needs}
