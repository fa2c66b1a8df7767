"""Ask one broker itself, at every address it advertises: one connection at a time, a deadline for every read.

What ApiVersions does not offer is not asked. What the broker, the network or a missing right refuses is a `SourceRead` row.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kafka.protocol.admin import DescribeClusterRequest, DescribeConfigsRequest, DescribeQuorumRequest

from kafka_audit.clients.credentials import NotAsked
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation, demand
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import PLAINTEXT, UNREGISTERED, Target
from kafka_audit.collect.brokers import answers, configs
from kafka_audit.collect.brokers.configs import CONFIGS, MAY_DESCRIBE_CONFIGS, TOPIC_CONFIGS
from kafka_audit.collect.brokers.discovery import metadata_version
from kafka_audit.collect.brokers.metadata import MetadataError
from kafka_audit.collect.brokers.privileged_reads import ProtectedReads
from kafka_audit.collect.brokers.quorum import FENCED_FROM, fenced
from kafka_audit.collect.brokers.views import View, ViewBook
from kafka_audit.collect.probes import endpoint_probes
from kafka_audit.collect.probes.endpoint_probes import ProbeStep
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.source_reads import NOT_LISTED, Asking, not_tried
from kafka_audit.model.read_failure import CLOSED_BY_PEER, ReadFailure
from kafka_audit.model.tables import (
    BrokerApi,
    BrokerConfig,
    BrokerFeature,
    BrokerIdentity,
    BrokerView,
    Row,
    SourceRead,
    TopicConfig,
)

_MOST = 1000
_UNKNOWN = -1  # the epoch of a broker that knows no finalized features


def feature_rows(answer: Any, observer: str, broker_id: int) -> Iterator[BrokerFeature]:  # noqa: ANN401 -- kafka-python is untyped
    """Yield each feature that is supported or finalized; raises ReadError for what is no answer of Kafka's."""
    epoch = getattr(answer, "finalized_features_epoch", _UNKNOWN)
    supported = _by_name(getattr(answer, "supported_features", None))
    finalized = _by_name(getattr(answer, "finalized_features", None)) if epoch > _UNKNOWN else {}
    for name in sorted(supported.keys() | finalized):
        offered, level = supported.get(name), finalized.get(name)
        yield BrokerFeature(
            observer=observer,
            broker_id=broker_id,
            feature=name,
            min_supported=None if offered is None else answers.at_least(0, offered.min_version, f"the lowest level of {name}"),
            max_supported=None if offered is None else answers.at_least(0, offered.max_version, f"the highest level of {name}"),
            finalized=None if level is None else answers.at_least(0, level.max_version_level, f"the finalized level of {name}"),
            finalized_epoch=None if epoch == _UNKNOWN else epoch,
        )


def _by_name(listed: Any) -> dict[str, Any]:  # noqa: ANN401 -- see above
    found = list(listed or ())
    if len(found) > _MOST:
        answers.refuse_answer(f"{len(found)} features, but Kafka has fewer than twenty")
    named = [answers.checked_name(feature.name, "a feature") for feature in found]
    answers.once(named, "a feature")
    return dict(zip(named, found, strict=True))


API_VERSIONS, METADATA, CLUSTER = "ApiVersions", "Metadata", "DescribeCluster"
IDENTITY = "DescribeConfigs identity"
PLANNED = (API_VERSIONS, METADATA, IDENTITY)
"""What every address is asked for; each broker is asked for its configuration as well, once."""

_NEEDS_KAFKA = "a broker that names its id in the error, as Apache Kafka does"
_DESCRIBE_CONFIGS_OPERATION = 10
_MOST_APIS = 1000


class BrokerAsker:
    """Asks one broker at its addresses, one after the other; each address returns a view, the first also all other data."""

    def __init__(self, targets: Sequence[Target], sample: int, options: ClientOptions, book: ViewBook) -> None:
        """Take the addresses of one broker; `options.read_s` bounds every read, the contents of views go into the book."""
        # As ANONYMOUS an auditor may less than as itself: what is asked once is asked where it logs in.
        self._targets = sorted(targets, key=lambda target: target.protocol == PLAINTEXT)
        self._sample = sample
        self._options = options
        self._book = book
        self._rows: list[Row] = []
        self._of_topics = Collected()
        self._common_read = False  # what is the same at every address: APIs, rights, configuration
        self._unreached: tuple[Asking, ReadError] | None = None
        self._may_describe_configs = True
        self._operations: frozenset[int] | None = None  # own rights on the cluster, None if the broker did not report them
        self._answered_by: int | None = None

    def ask(self) -> Collected:
        """Ask at every address; a broker that does not answer is rows, never an exception."""
        for target in self._targets:
            asking = Asking(sample=self._sample, observer=target.observer, target=target.address)
            steps = endpoint_probes.probe_from_here(
                target,
                self._options.read_s,
                self._options.logins,
                self._options.budget,
                thorough=target.broker_id != UNREGISTERED,
            )
            try:
                self._options.logins.demand_known(target)
                last = endpoint_probes.last_of_connection(steps)
                if last.outcome != "ok":
                    raise endpoint_probes.read_error_of_probe(last, target.address)
                with any_answer():
                    steps += self._converse(asking, target, self._options.at(target))
                    steps.sort(key=lambda step: step.layer in {"packets", "address"})
            except NotAsked as failure:
                self._rows.append(asking.failed(METADATA, failure))
            except ReadError as failure:  # also between the probe and the conversation
                self._fail_all(asking, target, failure)
            if target.broker_id != UNREGISTERED:
                self._rows += endpoint_probes.worker_rows(self._sample, target, steps, self._options.logins)
        if self._unreached is not None and not self._common_read:
            asking, error = self._unreached
            self._rows.append(asking.failed(CONFIGS, error))
        return replace(self._of_topics, rows=tuple(self._rows))

    def _fail_all(self, asking: Asking, target: Target, error: ReadError) -> None:
        """Give a row to every read that would have been asked if the connection had opened."""
        self._rows += [asking.failed(operation, error) for operation in PLANNED]
        if target.broker_id != UNREGISTERED and self._unreached is None:
            self._unreached = (asking, error)

    def _converse(self, asking: Asking, target: Target, options: ClientOptions) -> list[ProbeStep]:
        """Open the one connection and ask everything; return the probe's step for the identity. Raises ReadError."""
        host, port = target.dialled
        started = time.monotonic()
        with Conversation(host, port, options) as conversation:
            apis = asking.read(self._rows, API_VERSIONS, lambda: self._apis(target, conversation), started)
            view = self._ask_metadata(asking, conversation, target)
            first, self._common_read = not self._common_read, True
            if first:
                self._rows += apis or ()
                self._ask_rights(asking, conversation)
                self._ask_configs(asking, conversation, target)
            if not first and not self._has_same_rights(conversation, target):
                return []
            steps = self._ask_identity(asking, conversation, target, None if view is None else view.kafka_cluster_id)
            if first and target.broker_id != UNREGISTERED:
                self._ask_protected(asking, conversation, target, view)
            return steps

    def _ask_metadata(self, asking: Asking, conversation: Conversation, target: Target) -> View | None:
        view = asking.read(self._rows, METADATA, lambda: self._view(conversation, target))
        if view is not None:
            self._rows.append(
                BrokerView(
                    sample=self._sample,
                    observer=target.observer,
                    broker_id=target.broker_id,
                    listener=target.listener,
                    address=target.address,
                    kafka_cluster_id=view.kafka_cluster_id,
                    controller_id=view.controller_id,
                    brokers_listed=view.brokers_listed,
                    topics_listed=view.topics_listed,
                    brokers_digest=view.brokers_digest,
                    topics_digest=view.topics_digest,
                    metadata_version=view.version,
                )
            )
            if view.refused is not None:
                self._rows.append(asking.failed_names(METADATA, view.refused))
            if view.cut is not None:
                self._rows.append(asking.failed(f"{METADATA} (replicas)", ReadError(ReadFailure.TOO_LARGE, view.cut)))
        return view

    def _view(self, conversation: Conversation, target: Target) -> View:
        version = metadata_version(conversation)
        try:
            with self._options.budget.turn():
                view = self._book.add(conversation.ask_metadata(version), version, target.dialled, self._options.budget)
        except MetadataError as error:
            raise ReadError(ReadFailure.UNREADABLE, str(error)) from error
        except ReadError as error:
            if error.failure in CLOSED_BY_PEER and (wanted := self._login_wanted(target)) is not None:
                conversation.lost = wanted
                raise wanted from error
            raise
        if view.error:
            demand(view.error, None, {})
        return view

    def _login_wanted(self, target: Target) -> ReadError | None:
        """Return what to say of a listener that closes all but ApiVersions: whether it takes a login, where none was sent."""
        logins = self._options.logins
        security = logins.security(target)
        if target.protocol.startswith("SASL_") or (security is not None and security.mechanism is not None):
            return None
        layers = [layer for layer in ("dns", "tcp", "tls", "sasl") if layer != "tls" or target.protocol == "SSL"]
        last = endpoint_probes.probe_endpoint(target, layers, self._options.read_s, logins, self._options.budget)[-1]
        return logins.login_wanted(target, last.detail or "") if (last.layer, last.outcome) == ("sasl", "ok") else None

    @staticmethod
    def _apis(target: Target, conversation: Conversation) -> tuple[BrokerApi | BrokerFeature, ...]:
        """Return the ranges that the broker offers, and its features; raises ReadError for ranges that are none."""
        if len(conversation.apis) > _MOST_APIS:
            answers.refuse_answer(f"{len(conversation.apis)} APIs, but Kafka has fewer than a hundred")
        for key, (lowest, highest) in conversation.apis.items():
            if not 0 <= lowest <= highest:
                answers.refuse_answer(f"API {key} in versions {lowest} to {highest}")
        apis = (
            BrokerApi(observer=target.observer, broker_id=target.broker_id, api_key=key, min_version=lowest, max_version=highest)
            for key, (lowest, highest) in sorted(conversation.apis.items())
        )
        return (*apis, *feature_rows(conversation.api_versions, target.observer, target.broker_id))

    def _ask_rights(self, asking: Asking, conversation: Conversation) -> None:
        """Ask for the auditor's own rights first: what they do not allow is not tried, for the broker logs each refusal."""
        version = conversation.version(DescribeClusterRequest)
        if version is None:
            return
        all_of_them = {"include_fenced_brokers": True} if version >= FENCED_FROM else {}
        request = DescribeClusterRequest(version=version, include_cluster_authorized_operations=True, **all_of_them)
        self._rows += (
            asking.read(
                self._rows,
                CLUSTER,
                lambda: self._rights(conversation, configs.checked(conversation.ask(request)), asking.observer),
            )
            or ()
        )

    def _rights(self, conversation: Conversation, answer: Any, observer: str) -> tuple[Row, ...]:  # noqa: ANN401 -- see _describe
        """Keep the auditor's own rights; return the brokers that are fenced."""
        conversation.add_rows(sum(bool(getattr(entry, "is_fenced", False)) for entry in answers.each(answer.brokers, "brokers")))
        found = tuple(fenced(answer, self._sample, observer, self._targets[0].broker_id))
        self._operations = frozenset(answer.authorized_operations or ())
        # An empty set means that Describe is missing, which says nothing about DescribeConfigs.
        self._may_describe_configs = not self._operations or _DESCRIBE_CONFIGS_OPERATION in self._operations
        return found

    def _has_same_rights(self, conversation: Conversation, target: Target) -> bool:
        """Return whether a further listener may be asked who answers there.

        If the auditor logs in to other listeners and is ANONYMOUS here, ANONYMOUS should need no right for an audit: it
        is asked where that has the right anyway, and else not at all.
        """
        if target.protocol != PLAINTEXT or self._targets[0].protocol == PLAINTEXT or not self._operations:
            return True
        version = conversation.version(DescribeClusterRequest)
        try:
            answer = conversation.ask(DescribeClusterRequest(version=version, include_cluster_authorized_operations=True))
        except ReadError:  # the question that follows will say so
            return True
        return _DESCRIBE_CONFIGS_OPERATION in (answer.authorized_operations or ())

    def _ask_configs(self, asking: Asking, conversation: Conversation, target: Target) -> None:
        if target.broker_id == UNREGISTERED or conversation.version(DescribeConfigsRequest) is None:
            return
        self._rows += asking.read(self._rows, CONFIGS, lambda: self._configs(conversation, target)) or ()

    def _configs(self, conversation: Conversation, target: Target) -> tuple[BrokerConfig, ...]:
        """Return the broker's settings; raises ReadError."""
        self._demand_right()
        entries = configs.settings_of_node(conversation, str(target.broker_id))
        return tuple(self._config(target, entry) for entry in entries)

    def _config(self, target: Target, entry: Any) -> BrokerConfig:  # noqa: ANN401 -- kafka-python's messages are untyped
        self._options.budget.demand_time()  # values are read for secrets
        return BrokerConfig(observer=target.observer, broker_id=target.broker_id, **configs.columns_of(entry))

    def _demand_right(self) -> None:
        """Raise ReadError where the broker has said that this auditor may not ask for settings."""
        if not self._may_describe_configs:
            raise not_tried(NOT_LISTED, MAY_DESCRIBE_CONFIGS, lacks=True)

    def _ask_identity(
        self, asking: Asking, conversation: Conversation, target: Target, cluster_id: str | None
    ) -> list[ProbeStep]:
        """Request a broker that does not exist: the error names the broker at the other end of the connection."""
        if conversation.version(DescribeConfigsRequest) is None:
            return []
        reads: list[Row] = []
        found = asking.read(reads, IDENTITY, lambda: self._refused_as(conversation))
        self._rows += reads
        (read,) = (row for row in reads if isinstance(row, SourceRead))
        unnamed, found = found == configs.UNNAMED, None if found == configs.UNNAMED else found
        if unnamed:
            step = ProbeStep("identity", "unknown", ReadFailure.NOT_SUPPORTED.words, None, _NEEDS_KAFKA, read.elapsed_ms)
        elif found is None:
            outcome = "unknown" if conversation.lost is None else "failed"
            step = ProbeStep("identity", outcome, read.error, None, read.needs, read.elapsed_ms)
        else:
            self._answered_by = found
            step = ProbeStep("identity", "ok", None, str(found), None, read.elapsed_ms)
        self._rows.append(
            BrokerIdentity(
                sample=self._sample,
                broker_id=target.broker_id,
                listener=target.listener,
                address=target.address,
                answered_by=found,
                kafka_cluster_id=cluster_id,
            )
        )
        return [step]

    def _ask_protected(self, asking: Asking, conversation: Conversation, target: Target, view: View | None) -> None:
        """Ask what needs rights, last, for one of these may take long; nothing is noted of a broker that is another."""
        reads = ProtectedReads(conversation, target, self._sample, partial(asking.read, self._rows), self._options.read_s)
        if self._answered_by not in {None, target.broker_id}:
            text = f"broker {self._answered_by} answers at {target.address}"
            reads.refuse(ReadError(ReadFailure.UNEXPECTED_ANSWER, text, f"an address at which broker {target.broker_id} answers"))
            return
        asked = None
        if view is not None:  # in KRaft any broker passes the question on to the controller, so one of them is enough
            listed = self._book.listed(view.brokers_digest)
            asked = (
                view.controller_id if conversation.apis.get(DescribeQuorumRequest.API_KEY) is None else min(listed, default=None)
            )
        reads.ask(self._operations, self._book.acls, self._book.disks, lists_reassignments=asked == target.broker_id)
        self._rows += reads.rows
        if (
            view is not None and asked == target.broker_id and DescribeQuorumRequest.API_KEY in conversation.apis
        ):  # otherwise ZooKeeper has them
            topics = self._book.topics(view.topics_digest)
            settings = asking.read(self._rows, TOPIC_CONFIGS, lambda: configs.ask_topic_configs(conversation, target, topics))
            self._of_topics = Collected(large={} if settings is None else {TopicConfig: settings})
        self._rows += reads.ask_quorum()

    def _refused_as(self, conversation: Conversation) -> int:
        """Return the id that the broker names, `UNNAMED` for none; raises ReadError if it was not answered."""
        self._demand_right()
        return configs.id_of_node(conversation)
