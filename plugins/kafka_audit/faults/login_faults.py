"""Reasons for failed logins between brokers: the presented certificate, the offered mechanisms, the known users."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kafka_audit.cluster.answers.log_lines import says
from kafka_audit.cluster.listeners.inter_broker import Listener
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence
from kafka_audit.model.log_signatures import HANDSHAKE, login_fault
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import brokers

_OF_HANDSHAKES = {
    "invalid_certificate": ("certificate", "give broker {broker} a certificate that is accepted by {sources}"),
    "untrusted_certificate": (
        "issuer",
        "give broker {broker} a certificate of an issuer that is in the truststore of {sources}, or add its issuer there",
    ),
    "tls_versions_differ": (
        "versions",
        "set ssl.enabled.protocols and ssl.cipher.suites so that broker {broker} and {sources} have a value of each in common",
    ),
    "client_certificate_refused": (
        "client",
        "give {sources} certificates that are valid for clients too, of an issuer that broker {broker} trusts",
    ),
}
"""What a failed handshake is called, and what repairs it, by the cause."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One reason for which a login from `sources` at a broker's listener fails, for a sentence; `repair` is the remedy."""

    kind: str  # certificate, issuer, versions, client, handshake, clock, mechanism, credential, scram_user, principal
    text: str
    repair: str
    sources: tuple[int, ...]
    confidence: Confidence = Confidence.MEASURED
    name_differs: bool = False  # the certificate has another name than the one that is dialled


def login_faults(view: ClusterView, broker: int, listener: Listener) -> tuple[Fault, ...]:
    """Return every reason that files, probes and certificates show for a login at a broker's listener to fail."""
    faults: list[Fault] = []
    if listener.encrypted:
        faults.extend(_certificate(view, broker, listener))
    if listener.logs_in:
        faults.extend(_mechanism(view, broker, listener))
        faults.extend(_credential(view, broker, listener))
    faults.extend(_principal(view, broker, listener))
    return tuple(faults)


def fault_of_line(line: LogLine, refused: tuple[int, ...]) -> Fault:
    """Return the fault that a line of a log reports of a login of these brokers."""
    broker, kind = line.about_broker, login_fault(line)
    kind = "handshake" if kind == HANDSHAKE else kind  # the line does not say whose certificate it is, or if it is one
    repair = {
        "handshake": f"find the reason in the logs of both sides: the certificate of broker {broker}, its issuer, TLS versions, "
        "or the certificates of clients",
        "mechanism": f"add the mechanism of broker {line.broker_id} to sasl.enabled.mechanisms of broker {broker}",
        "credential": f"add the user and password of broker {line.broker_id} at broker {broker}",
        "principal": _rule_for(refused, broker),
    }[kind]
    return Fault(kind=kind, text=says(line), repair=repair, sources=refused)


def fault_of_handshake(cause: str, broker: int, refused: tuple[int, ...], *shown: str) -> Fault | None:
    """Return the fault of a handshake that fails for a cause, as what was read shows it; None for causes of other kinds."""
    if cause not in _OF_HANDSHAKES:
        return None
    kind, template = _OF_HANDSHAKES[cause]
    repair = template.format(broker=broker, sources=brokers(refused) if refused else "the other brokers")
    return Fault(kind=kind, text="; ".join(shown), repair=repair, sources=refused)


def fault_of_clock(text: str, sources: tuple[int, ...]) -> Fault:
    """Return the fault that the clocks of these brokers' hosts are."""
    repair = f"set the clock{'' if len(sources) == 1 else 's'} of {brokers(sources)} by a time server, and keep it running (NTP)"
    return Fault(kind="clock", text=text, repair=repair, sources=sources)


def _rule_for(sources: Collection[int], broker: int | None) -> str:
    return f"add a rule that maps {brokers(sources)}, or DEFAULT at the end, to the rules of broker {broker}"


def _certificate(view: ClusterView, broker: int, listener: Listener) -> Iterator[Fault]:
    shown, now, broker_ids = (
        view.logins.certificate(broker, listener.name),
        view.started_ms,
        view.inter_broker.users.get(listener.name, ()),
    )
    if shown is None:
        return
    renew = f"give broker {broker} a certificate"
    if shown.not_after_ms < now:
        yield Fault(kind="certificate", text="its certificate has expired", repair=f"{renew} that is valid", sources=broker_ids)
    if shown.not_before_ms > now:
        yield Fault(
            kind="certificate", text="its certificate is not valid yet", repair=f"{renew} that is valid", sources=broker_ids
        )
    names = [view.logins.checks_names(broker, listener.name) for broker in broker_ids]
    if not shown.name_matches and False not in names:
        sure = bool(names) and None not in names
        text = f"its certificate does not name {shown.host} (it names {', '.join(shown.sans) or 'no host'})"
        confidence = Confidence.MEASURED if sure else Confidence.INFERRED
        repair = f"{renew} with {shown.host} among its subject alternative names"
        yield Fault(kind="certificate", text=text, repair=repair, sources=broker_ids, confidence=confidence, name_differs=True)


def _mechanism(view: ClusterView, broker: int, listener: Listener) -> Iterator[Fault]:
    offered = view.logins.offered_mechanisms(broker, listener.name)
    wanted: dict[str, list[int]] = {}
    for kind in view.inter_broker.kinds:
        used, mechanism = view.inter_broker.listener(kind[0]), view.inter_broker.mechanism(kind[0]).value
        if used is not None and used.name == listener.name and mechanism is not None:
            wanted.setdefault(mechanism, []).extend(kind)
    for mechanism, broker_ids in wanted.items() if offered else ():
        if mechanism not in (offered or ()):
            text = f"it offers {', '.join(sorted(offered or ()))}, not {mechanism}"
            repair = f"add {mechanism} to sasl.enabled.mechanisms of broker {broker}"
            # A probe heard the running broker; settings may be newer than what runs.
            confidence = Confidence.MEASURED if view.logins.probed_mechanisms(broker, listener.name) else Confidence.INFERRED
            yield Fault(kind="mechanism", text=text, repair=repair, sources=tuple(broker_ids), confidence=confidence)


def _credential(view: ClusterView, broker: int, listener: Listener) -> Iterator[Fault]:
    wrong: dict[str, list[int]] = {}
    absent: dict[str, tuple[str, str]] = {}
    clients = view.inter_broker.logins.get(listener.name, {})
    users = {name: view.logins.known_users(broker, listener.name, name) for name in {mechanism for mechanism, _, _ in clients}}
    for (mechanism, username, digest), sources in clients.items():
        known = users[mechanism]
        if known is not None and username not in known:
            text = f"it does not know user {username} ({mechanism})"
            wrong.setdefault(text, []).extend(sources)
            absent |= {text: (username, mechanism)} if mechanism.startswith("SCRAM-") else {}
        elif known is not None and known[username] not in {None, digest}:
            wrong.setdefault(f"it has a different password for user {username} ({mechanism})", []).extend(sources)
    for text, sources in wrong.items():
        kind, repair = "credential", f"add the user and password of the other brokers at broker {broker}"
        if text in absent:  # one credential for all brokers, and no file
            username, mechanism = absent[text]
            kind, repair = "scram_user", f"give user {username} its {mechanism} credential again"
        yield Fault(kind=kind, text=text, repair=repair, sources=tuple(sorted(set(sources))))


def _principal(view: ClusterView, broker: int, listener: Listener) -> Iterator[Fault]:
    """Yield what the broker's rules have no name for; the names shown by a server are taken for those of the same as a client."""
    nameless: dict[str, list[int]] = {}
    for kind in view.inter_broker.kinds:
        used = view.inter_broker.listener(kind[0])
        if used is not None and used.name == listener.name and (fails := view.inter_broker.principal(kind[0], broker).fails):
            nameless.setdefault(fails, []).extend(kind)
    for fails, sources in nameless.items():
        repair = _rule_for(sources, broker)
        yield Fault(kind="principal", text=fails, repair=repair, sources=tuple(sources), confidence=Confidence.INFERRED)
