"""The conditions of a login between brokers: presented certificates, offered mechanisms, known users."""

from collections.abc import Mapping
from functools import cached_property

from kafka_audit.cluster.listeners.inter_broker import InterBroker
from kafka_audit.cluster.samples import Samples
from kafka_audit.compare.listener_names import same_listener
from kafka_audit.model.tables import Certificate, Probe, ScramUser

IDENTIFICATION = "ssl.endpoint.identification.algorithm"

_SCRAM_READS = frozenset({"zookeeper /config/users", "DescribeUserScramCredentials"})
"""Reads of SCRAM users; the second one, in KRaft, reads the users that files name for brokers."""


class InterBrokerLogins:
    """What one snapshot shows of logins between brokers."""

    def __init__(self, samples: Samples, between: InterBroker) -> None:
        """Keep the snapshot and its inter-broker listeners; nothing is read yet."""
        self._samples, self._between = samples, between

    def certificate(self, broker: int, listener: str) -> Certificate | None:
        """Return the certificate that a listener presented last."""
        return self._shown.get((broker, listener))

    @cached_property
    def _shown(self) -> Mapping[tuple[int, str], Certificate]:
        found: dict[tuple[int, str], Certificate] = {}
        for row in self._samples.of(Certificate):
            key = (row.broker_id, row.listener)
            if key not in found or row.sample > found[key].sample:
                found[key] = row
        return found

    def checks_names(self, broker: int, listener: str) -> bool | None:
        """Return whether a broker, as a client on a listener, compares names with certificates; None where that is unknown."""
        settings = self._between.settings
        setting = settings.running_at(broker, listener, IDENTIFICATION)
        if setting.state == "set":
            return (setting.value or "").lower() == "https"
        tables = (settings.files, settings.answers)
        row = next(
            (settings_of[broker][IDENTIFICATION] for settings_of in tables if IDENTIFICATION in settings_of.get(broker, {})), None
        )
        if row is not None and row.value is not None and not setting.value:
            return False  # set to nothing, which turns the comparison off
        # Unset means https since 2.0, where DescribeConfigs names the default; 1.1 has none.
        return True if setting.state == "unset" and setting.source == "server.properties" else None

    def offered_mechanisms(self, broker: int, listener: str) -> frozenset[str] | None:
        """Return the SASL mechanisms of a broker's listener: by a probe, otherwise by its settings; None if unknown."""
        if (probe := self._sasl_probes.get((broker, listener))) is not None:
            return frozenset(probe.mechanisms)
        enabled = self._between.settings.running_at(broker, listener, "sasl.enabled.mechanisms")
        if not enabled.known:
            return None
        return frozenset(part.strip() for part in (enabled.value or "GSSAPI").split(",") if part.strip())

    def probed_mechanisms(self, broker: int, listener: str) -> bool:
        """Return whether a probe read the mechanisms of the running broker; settings may be newer than the running ones."""
        return (broker, listener) in self._sasl_probes

    @cached_property
    def _sasl_probes(self) -> Mapping[tuple[int, str], Probe]:
        found: dict[tuple[int, str], Probe] = {}
        for row in self._samples.of(Probe):
            key = (row.broker_id, row.listener)
            newer = key not in found or row.sample > found[key].sample
            if (row.layer, row.outcome) == ("sasl", "ok") and row.mechanisms and newer:
                found[key] = row
        return found

    def known_users(self, broker: int, listener: str, mechanism: str) -> Mapping[str, str | None] | None:
        """Return the users that a listener accepts, with password digests (None: only the name is known); None: not read."""
        if mechanism.startswith("SCRAM"):
            names = [row.user for row in self._samples.of(ScramUser) if row.mechanism == mechanism]
            return dict.fromkeys(names) if self._scram_read or names else None
        own_logins = [row for row in self._between.settings.logins_of.get(broker, ()) if same_listener(row.listener, listener)]
        if mechanism != "PLAIN" or not any(row.mechanism == "PLAIN" for row in own_logins):
            return None
        return {row.username: row.password_digest for row in own_logins if row.side == "server" and row.mechanism == "PLAIN"}

    @cached_property
    def _scram_read(self) -> bool:
        return any(read.operation in _SCRAM_READS and read.outcome == "answered" for read in self._samples.last_reads)
