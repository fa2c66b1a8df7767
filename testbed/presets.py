"""Secured clusters that the audit is proved on, whole and faulty: ``bed.cluster("3.9.1", **incident_004())``."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from testbed.brokers import Options, Properties
from testbed.certificates import Certificate
from testbed.errors import BedError
from testbed.security import ADMIN, BROKER, Listener, Security, without_super_user

BROKERS = 3
MAPPING_RULES = "ssl.principal.mapping.rules"
SCRAM = Listener(protocol="SASL_PLAINTEXT", mechanisms=("SCRAM-SHA-512",))
PLAIN = Listener(protocol="SASL_PLAINTEXT", mechanisms=("PLAIN",))
SSL = Listener(protocol="SSL")


class Preset(Options, total=False):
    """Arguments of `Bed.cluster`, with the number of brokers."""

    brokers: int


def scram() -> Preset:
    """Three brokers, SCRAM for clients and between brokers, an authorizer; nothing wrong."""
    return {"security": Security(listeners=(SCRAM,), inter_broker=SCRAM.label, authorizer=True)}


def split() -> Preset:
    """Three brokers with a listener for clients and another between brokers, as for `faults.cross_forwards`; nothing wrong."""
    client, internal = Listener(name="CLIENT"), Listener(name="INTERNAL", port=Listener().port + 2)
    return {"security": Security(listeners=(client, internal), inter_broker=internal.label)}


def incident_004() -> Preset:
    """One broker whose controller speaks PLAINTEXT to it, as ANONYMOUS, which the authorizer denies."""
    plaintext = Listener()
    login = Listener(protocol="SASL_PLAINTEXT", port=plaintext.port + 1, mechanisms=("SCRAM-SHA-512",))
    security = Security(listeners=(plaintext, login), authorizer=True, super_users=(f"User:{ADMIN}",))
    return {"brokers": 1, "security": security, "settle": ()}


def no_super_user(broker: int) -> Preset:
    """Three brokers as in `scram`, of which one lacks the inter-broker user in super.users."""
    security = Security(listeners=(SCRAM,), inter_broker=SCRAM.label, authorizer=True)
    return {"security": security, "per_broker": {broker: without_super_user(security)}, **_aside(broker)}


def wrong_san(broker: int) -> Preset:
    """Three brokers with SSL between them, of which one shows a certificate for another host."""
    return _certificate(broker, Certificate(san=("other.example", "192.0.2.7")))


def expired(broker: int) -> Preset:
    """Three brokers with SSL between them, of which one shows a certificate that expired an hour ago.

    That one trusts its own certificate (see `Authority.issue`): as the controller it would still reach itself.
    """
    return _certificate(broker, Certificate(valid_for=-timedelta(hours=1)))


def foreign_issuer(broker: int) -> Preset:
    """Three brokers with SSL between them, of which one shows a certificate by an authority that the others do not trust."""
    return _certificate(broker, Certificate(foreign=True))


def renewed_issuer(broker: int) -> Preset:
    """Three brokers with SSL between them, of which one shows a certificate by another key of the authority's name."""
    return _certificate(broker, Certificate(foreign=True, renamed=False))


def tls_versions(broker: int) -> Preset:
    """Three brokers with SSL between them, of which one has only TLSv1.3 and the others only TLSv1.2."""
    security = Security(listeners=(SSL,), inter_broker=SSL.label)
    versions = {number: "TLSv1.3" if number == broker else "TLSv1.2" for number in range(BROKERS)}
    own: dict[int, Properties] = {
        version: {"ssl.enabled.protocols": name, "ssl.protocol": name} for version, name in versions.items()
    }
    return {"security": security, "per_broker": own, **_aside(broker)}


def for_servers(broker: int) -> Preset:
    """Three brokers with SSL between them, of which one demands client certificates; the others have server certificates only."""
    certificates = {other: Certificate(for_servers=True) for other in range(BROKERS) if other != broker}
    security = Security(listeners=(SSL,), inter_broker=SSL.label, certificates=certificates)
    return {"security": security, "per_broker": {broker: {"ssl.client.auth": "required"}}, **_aside(broker)}


def other_mechanism(broker: int) -> Preset:
    """Three brokers with SCRAM-SHA-512 between them, of which one has only SCRAM-SHA-256 on that listener."""
    both = ("SCRAM-SHA-512", "SCRAM-SHA-256")
    client, internal = replace(SCRAM, name="CLIENT"), replace(SCRAM, name="INTERNAL", port=SCRAM.port + 2, mechanisms=both)
    only = {"listener.name.internal.sasl.enabled.mechanisms": both[1], "sasl.mechanism.inter.broker.protocol": both[1]}
    security = Security(listeners=(client, internal), inter_broker=internal.label, asked=client.label)
    return {"security": security, "per_broker": {broker: only}, **_aside(broker)}


def unknown_password(broker: int) -> Preset:
    """Three brokers that log in to each other with PLAIN, of which one does not know the user they log in as."""
    security = Security(listeners=(PLAIN,), inter_broker=PLAIN.label, forgets={broker: (BROKER,)})
    return {"security": security, **_aside(broker)}


def unmapped(broker: int) -> Preset:
    """Three brokers that know each other by certificates, of which one lacks the rule that makes ``broker-0`` of a subject."""
    internal = Listener(name="INTERNAL", protocol="SSL", port=SCRAM.port + 2)
    security = Security(
        listeners=(SCRAM, internal),
        inter_broker=internal.label,
        client_auth="required",
        authorizer=True,
        super_users=(f"User:{ADMIN}", *(f"User:broker-{number}" for number in range(BROKERS))),
    )
    return {
        "security": security,
        "properties": {MAPPING_RULES: "RULE:^CN=([^,]+),.*$/$1/"},
        "per_broker": {broker: {MAPPING_RULES: None}},
        **_aside(broker),
    }


def unmatched(broker: int) -> Preset:
    """Three brokers as in `unmapped`, of which one has a rule that matches the certificates of none."""
    return {**unmapped(broker), "per_broker": {broker: {MAPPING_RULES: "RULE:^CN=client-([^,]+),.*$/$1/"}}}


def _certificate(broker: int, certificate: Certificate) -> Preset:
    security = Security(listeners=(SSL,), inter_broker=SSL.label, certificates={broker: certificate})
    return {"security": security, **_aside(broker)}


def _aside(broker: int) -> Preset:
    """Keep the faulty broker from becoming the controller, and from being waited for."""
    others = tuple(other for other in range(BROKERS) if other != broker)
    return {"settle": others, "controller": others[0]}


REPAIR_004 = {
    "inter.broker.listener.name": SCRAM.label,
    "sasl.mechanism.inter.broker.protocol": SCRAM.mechanisms[0],
    "super.users": f"User:{ADMIN};User:{BROKER}",
}
WHOLE: dict[str, Callable[[], Preset]] = {"004": incident_004, "scram": scram, "split": split}
AT_ONE: dict[str, Callable[[int], Preset]] = {
    "no-super-user": no_super_user,
    "wrong-san": wrong_san,
    "expired": expired,
    "foreign-issuer": foreign_issuer,
    "renewed-issuer": renewed_issuer,
    "for-servers": for_servers,
    "tls-versions": tls_versions,
    "other-mechanism": other_mechanism,
    "unknown-password": unknown_password,
    "unmapped": unmapped,
    "unmatched": unmatched,
}


def named(text: str) -> Preset:
    """Return a preset by its name, for those with one faulty broker followed by its id: ``wrong-san:2``.

    Raises:
        BedError: there is no such preset or broker.
    """
    name, _, at = text.partition(":")
    if name in WHOLE and not at:
        return WHOLE[name]()
    if name in AT_ONE and at in map(str, range(BROKERS)):
        return AT_ONE[name](int(at))
    known = ", ".join([*WHOLE, *(f"{preset}:2" for preset in AT_ONE)])
    message = f"no security {text!r}; there are {known} (or another broker's id)"
    raise BedError(message)
