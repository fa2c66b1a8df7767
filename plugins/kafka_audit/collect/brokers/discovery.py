"""Brokers without ZooKeeper: those that the bootstrap addresses list. A minimum: listeners' names stay unknown."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial

from kafka.protocol.metadata import MetadataRequest

from kafka_audit.clients.parallel import Running
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.targets import Target, behind_proxies, bootstrap_targets, listed_endpoints
from kafka_audit.collect.brokers.metadata import VERSIONS, ListedBroker, MetadataError, decode_metadata_answer
from kafka_audit.collect.brokers.views import MOST_LISTED, as_advertised
from kafka_audit.collect.probes import endpoint_probes
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import RegisteredEndpoint

_LANES = 16
_MOMENT_S = 2.0


class Discovery:
    """Asks all bootstrap addresses at once which brokers there are.

    An address that does not answer is asked again with all others later, and gets its rows there.

    Attributes:
        claims: the ids that each address listed, as far as they were read.
    """

    def __init__(
        self, cluster: Cluster, sample: int, options: ClientOptions, deadline: float, also: Iterable[Target] = ()
    ) -> None:
        """Begin to ask.

        Args:
            cluster: its bootstrap addresses are asked.
            sample: number of this sample.
            options: how to ask.
            deadline: seconds of `time.monotonic()`.
            also: further addresses to ask.
        """
        behind = behind_proxies(cluster)
        targets = [*bootstrap_targets(cluster, ()), *also]
        jobs = [partial(_listed_by, target, options, behind if target.dialled in behind else {}) for target in targets]
        self._parties = [target.address for target in targets]
        self.claims: dict[str, frozenset[int]] = {}
        # Half of what is left at the most: to learn who is there must not cost what there is to ask of them.
        until = time.monotonic() + max(0.0, deadline - time.monotonic()) / 2
        self._asked = Running(jobs, _LANES, until)
        self._sample = sample
        self._protocol = cluster.security.protocol

    def listed(self) -> tuple[RegisteredEndpoint, ...]:
        """Return the brokers that any address lists, as endpoints of a listener without name."""
        return self._endpoints(self._asked.results())

    def listed_soon(self) -> tuple[RegisteredEndpoint, ...]:
        """Return them as soon as one address has listed brokers and the others had a moment: one that hangs is not waited for."""
        return self._endpoints(self._asked.results_soon(bool, _MOMENT_S))

    def _endpoints(self, answers: Iterable[tuple[ListedBroker, ...] | ReadError | None]) -> tuple[RegisteredEndpoint, ...]:
        by_party = zip(self._parties, answers, strict=True)
        answered = {party: answer or () for party, answer in by_party if not isinstance(answer, ReadError)}
        self.claims = {party: frozenset(broker.broker_id for broker in answer) for party, answer in answered.items()}
        # A broker that many list comes before one that a single answer names.
        listed = Counter(
            place for answer in answered.values() for place in {(broker.broker_id, broker.host, broker.port) for broker in answer}
        )
        return listed_endpoints(sorted(listed, key=lambda broker: (-listed[broker], broker)), self._sample, self._protocol)


def _listed_by(
    target: Target, options: ClientOptions, behind: Mapping[tuple[str, int], tuple[str, int]]
) -> tuple[ListedBroker, ...]:
    if endpoint_probes.probe_from_here(target, options.read_s, options.logins, options.budget)[-1].outcome != "ok":
        return ()
    try:
        with Conversation(*target.dialled, options.at(target)) as conversation:
            body, version = ask_for_brokers(conversation)
            listed = decode_metadata_answer(body, version, most_brokers=MOST_LISTED * options.budget.limits.brokers).brokers
            return tuple(as_advertised(broker, behind) for broker in listed)
    except (ReadError, MetadataError):
        return ()


def ask_for_brokers(conversation: Conversation) -> tuple[bytes, int]:
    """Return the answer to Metadata without topics, which lists the brokers, and its version; raises ReadError."""
    version = metadata_version(conversation)
    return bytes(conversation.ask_metadata(version, topics=[])), version


_OF_CONTROLLERS = 63  # BrokerHeartbeat: only the listener of controllers has it (KIP-631)


def metadata_version(conversation: Conversation) -> int:
    """Return the version of Metadata to ask; raises ReadError where both sides have none in common."""
    version = min(conversation.version(MetadataRequest, VERSIONS[0]) or 0, VERSIONS[1])
    if not version and _OF_CONTROLLERS in conversation.apis:
        needs = "the address of a broker in `bootstrap`; those of controllers belong in `controllers` of the cluster file"
        raise ReadError(ReadFailure.A_CONTROLLER, "it takes the heartbeats of brokers", needs)
    if not version:
        raise ReadError(ReadFailure.UNSUPPORTED_VERSION, "no version of Metadata is supported by both sides")
    return version
