"""What keeps a broker from logging in at another: the certificate shown there, the mechanisms offered, the users known."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_audit.checks.inter_broker import InterBroker, Listener
from kafka_audit.checks.log_lines import says
from kafka_audit.checks.reads import last_reads
from kafka_audit.model.finding import Confidence, Severity
from kafka_audit.model.tables import Certificate, LogLine, Probe, ScramUser, SnapshotInfo
from kafka_audit.model.text import brokers

DAY_MS = 86_400_000
_SOON, _LATER = 7, 30  # days

_SCRAM_READS = frozenset({"zookeeper /config/users", "DescribeUserScramCredentials"})
"""What tells SCRAM users; the second, in KRaft, tells those by name that files let brokers log in as."""

IDENTIFICATION = "ssl.endpoint.identification.algorithm"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One reason for which a login from `sources` at a broker's listener fails, for a sentence; `repair` is what ends it."""

    kind: str  # certificate, mechanism, credential, principal
    text: str
    repair: str
    sources: tuple[int, ...]
    confidence: Confidence = Confidence.MEASURED


def users_of(between: InterBroker, listener: str) -> tuple[int, ...]:
    """Return the brokers that talk to others on a listener of this name."""
    return between.users.get(listener, ())


def faults(between: InterBroker, broker: int, listener: Listener) -> tuple[Fault, ...]:
    """Return every reason that files, probes and certificates show for a login at a broker's listener to fail."""
    found: list[Fault] = []
    if listener.encrypted:
        found.extend(_certificate(between, broker, listener))
    if listener.logs_in:
        found.extend(_mechanism(between, broker, listener))
        found.extend(_credential(between, broker, listener))
    found.extend(_principal(between, broker, listener))
    return tuple(found)


def written(line: LogLine) -> Fault:
    """Return the fault that a line of a log tells of a login."""
    broker, told = line.about_broker, f"{line.detail or ''} {line.text}".lower()
    kind, repair = "credential", f"make the user and password that broker {line.broker_id} logs in with known at broker {broker}"
    if "ssl handshake" in told or "sslauthentication" in told:
        kind, repair = "certificate", f"give broker {broker} a certificate that broker {line.broker_id} accepts"
    elif "mechanism" in told:
        kind, repair = "mechanism", f"add the mechanism of broker {line.broker_id} to sasl.enabled.mechanisms of broker {broker}"
    return Fault(kind=kind, text=says(line), repair=repair, sources=(line.broker_id,))


def certificate(between: InterBroker, broker: int, listener: str) -> Certificate | None:
    """Return what a listener showed last."""
    shown = [row for row in between.snapshot.of(Certificate) if (row.broker_id, row.listener) == (broker, listener)]
    return max(shown, key=lambda row: row.sample, default=None)


def started_ms(between: InterBroker) -> int:
    """Return when the snapshot began."""
    return min((info.started_ms for info in between.snapshot.of(SnapshotInfo)), default=0)


def checks_names(between: InterBroker, broker: int, listener: str) -> bool | None:
    """Tell whether a broker, as a client on a listener, compares names with certificates; None where that is not known."""
    told = between.settings.at(broker, listener, IDENTIFICATION)
    if told.state == "set":
        return (told.value or "").lower() == "https"
    tables = (between.settings.files, between.settings.answers)
    row = next((table[broker][IDENTIFICATION] for table in tables if IDENTIFICATION in table.get(broker, {})), None)
    if row is not None and row.value is not None and not told.value:
        return False  # set to nothing, which turns the comparison off
    # Unset means https since 2.0, where DescribeConfigs names the default; 1.1 has none.
    return True if told.state == "unset" and told.source == "server.properties" else None


def _certificate(between: InterBroker, broker: int, listener: Listener) -> Iterator[Fault]:
    shown, now, who = certificate(between, broker, listener.name), started_ms(between), users_of(between, listener.name)
    if shown is None:
        return
    renew = f"give broker {broker} a certificate"
    if shown.not_after_ms < now:
        yield Fault(kind="certificate", text="its certificate has expired", repair=f"{renew} that is valid", sources=who)
    if shown.not_before_ms > now:
        yield Fault(kind="certificate", text="its certificate is not valid yet", repair=f"{renew} that is valid", sources=who)
    names = [checks_names(between, one, listener.name) for one in who]
    if not shown.name_matches and False not in names:
        sure = bool(names) and None not in names
        text = f"its certificate does not name {shown.host} (it names {', '.join(shown.sans) or 'nothing'})"
        confidence = Confidence.MEASURED if sure else Confidence.INFERRED
        repair = f"{renew} with {shown.host} among its subject alternative names"
        yield Fault(kind="certificate", text=text, repair=repair, sources=who, confidence=confidence)
    if shown.trusted is False and shown.not_before_ms <= now <= shown.not_after_ms:
        text = f"its certificate is not trusted by the auditor's ca_file ({shown.error or 'no reason told'})"
        repair = f"{renew} of the authority that the other brokers trust, or add its issuer to their truststores"
        yield Fault(kind="certificate", text=text, repair=repair, sources=who, confidence=Confidence.INFERRED)


def offered_mechanisms(between: InterBroker, broker: int, listener: str) -> frozenset[str] | None:
    """Return the SASL mechanisms of a broker's listener: as a probe was told, else by its settings; None where not known."""
    if told := _heard(between, broker, listener):
        return frozenset(re.findall(r"[A-Z0-9-]+", max(told, key=lambda row: row.sample).detail or ""))
    enabled = between.settings.at(broker, listener, "sasl.enabled.mechanisms")
    if not enabled.known:
        return None
    return frozenset(part.strip() for part in (enabled.value or "GSSAPI").split(",") if part.strip())


def _heard(between: InterBroker, broker: int, listener: str) -> list[Probe]:
    probes = (row for row in between.snapshot.of(Probe) if (row.layer, row.outcome) == ("sasl", "ok") and row.detail)
    return [row for row in probes if (row.broker_id, row.listener) == (broker, listener)]


def _mechanism(between: InterBroker, broker: int, listener: Listener) -> Iterator[Fault]:
    offered = offered_mechanisms(between, broker, listener.name)
    wanted: dict[str, list[int]] = {}
    for kind in between.kinds:
        used, mechanism = between.listener(kind[0]), between.mechanism(kind[0]).value
        if used is not None and used.name == listener.name and mechanism is not None:
            wanted.setdefault(mechanism, []).extend(kind)
    for mechanism, who in wanted.items() if offered else ():
        if mechanism not in (offered or ()):
            text = f"it offers {', '.join(sorted(offered or ()))}, not {mechanism}"
            repair = f"add {mechanism} to sasl.enabled.mechanisms of broker {broker}"
            # A probe heard the running broker; settings may be newer than what runs.
            confidence = Confidence.MEASURED if _heard(between, broker, listener.name) else Confidence.INFERRED
            yield Fault(kind="mechanism", text=text, repair=repair, sources=tuple(who), confidence=confidence)


def known_users(between: InterBroker, broker: int, listener: str, mechanism: str) -> dict[str, str | None] | None:
    """Return the users that a listener lets in, with their password digests (None: only the name is known); None: not read."""
    if mechanism.startswith("SCRAM"):
        read = any(r.operation in _SCRAM_READS and r.outcome == "answered" for r in last_reads(between.snapshot))
        names = [row.user for row in between.snapshot.of(ScramUser) if row.mechanism == mechanism]
        return dict.fromkeys(names) if read or names else None
    own = [row for row in between.settings.logins_of.get(broker, ()) if row.listener.upper() == listener.upper()]
    if mechanism != "PLAIN" or not any(row.mechanism == "PLAIN" for row in own):
        return None
    return {row.username: row.password_digest for row in own if row.side == "server" and row.mechanism == "PLAIN"}


def _credential(between: InterBroker, broker: int, listener: Listener) -> Iterator[Fault]:
    wrong: dict[str, list[int]] = {}
    clients = between.logins.get(listener.name, {})
    users = {one: known_users(between, broker, listener.name, one) for one in {mechanism for mechanism, _, _ in clients}}
    for (mechanism, username, digest), sources in clients.items():
        known = users[mechanism]
        if known is not None and username not in known:
            wrong.setdefault(f"it does not know user {username} ({mechanism})", []).extend(sources)
        elif known is not None and known[username] not in {None, digest}:
            wrong.setdefault(f"it knows another password for user {username} ({mechanism})", []).extend(sources)
    for text, sources in wrong.items():
        yield Fault(
            kind="credential",
            text=text,
            repair=f"make the user and password that the others log in with known at broker {broker}",
            sources=tuple(sorted(set(sources))),
        )


def _principal(between: InterBroker, broker: int, listener: Listener) -> Iterator[Fault]:
    """Yield what the broker's rules have no name for; the names shown by a server are taken for those of the same as a client."""
    nameless: dict[str, list[int]] = {}
    for kind in between.kinds:
        used = between.listener(kind[0])
        if used is not None and used.name == listener.name and (fails := between.principal(kind[0], broker).fails):
            nameless.setdefault(fails, []).extend(kind)
    for fails, sources in nameless.items():
        repair = f"add a rule, or DEFAULT at the end, that names {brokers(sources)} to the rules of broker {broker}"
        yield Fault(kind="principal", text=fails, repair=repair, sources=tuple(sources), confidence=Confidence.INFERRED)


def fault_of(shown: Certificate, now: int) -> tuple[str, Severity] | None:
    """Return what is wrong with a certificate at a time, as any client sees it; None where nothing is."""
    left = (shown.not_after_ms - now) // DAY_MS
    if shown.not_after_ms < now:
        return f"it expired {-left} days ago", Severity.CRITICAL
    if shown.not_before_ms > now:
        return "it is not valid yet", Severity.CRITICAL
    if not shown.name_matches:
        return f"it does not name {shown.host}, but {', '.join(shown.sans) or 'nothing'}", Severity.HIGH
    # Certificates of a few hours or days are renewed by machines: late is what is late for their own lifetime.
    lifetime, rest = shown.not_after_ms - shown.not_before_ms, shown.not_after_ms - now
    if rest >= min(_LATER * DAY_MS, lifetime // 3):
        return None
    severity = Severity.HIGH if rest < min(_SOON * DAY_MS, lifetime // 10) else Severity.MEDIUM
    return f"it expires in {left} days" if left else f"it expires in {rest // 3_600_000} hours", severity
