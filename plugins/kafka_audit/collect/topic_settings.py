"""What topics set for themselves, in KRaft mode: DescribeConfigs of all topics, a page at a time, from one broker."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from kafka.protocol.admin import DescribeConfigsRequest

from kafka_audit.collect import answers
from kafka_audit.collect.columns import table
from kafka_audit.collect.reads import ReadError
from kafka_audit.collect.targets import Target
from kafka_audit.collect.wire import Conversation, error_name
from kafka_audit.model.tables import TopicConfig
from kafka_audit.model.tables.fitting import MOST_TEXT

TOPIC_CONFIGS = "DescribeConfigs TOPIC"
MAY_DESCRIBE_CONFIGS = "DescribeConfigs on Topic"
KEYS = (
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "min.insync.replicas",
    "unclean.leader.election.enable",
)
"""What checks judge by; a topic's other settings are nobody's business here."""

MOST = 1000
"""Characters of a value that are kept: a list of throttled replicas names each of them."""

_TOPIC_RESOURCE = 2
_DYNAMIC_TOPIC_CONFIG = 1
_PAGE = 500
_GONE = "UNKNOWN_TOPIC_OR_PARTITION"


class TopicConfigs:
    """What topics set for themselves, as columns that grow."""

    def __init__(self, observer: str) -> None:
        """Start without any; `observer` reports them."""
        self._observer = observer
        self._topics: list[str] = []
        self._keys: list[str] = []
        self._values: list[str] = []

    def add(self, topic: str, key: str, value: object) -> None:
        """Add one key, its value cut after `MOST` characters."""
        self._topics.append(topic)
        self._keys.append(key)
        self._values.append(str(value)[:MOST])

    def table(self) -> pa.Table:
        """Return them; raises ReadError where a text is none that a table can hold."""
        observers = pa.repeat(self._observer, len(self._topics))
        found = table(TopicConfig, observer=observers, topic=self._topics, key=self._keys, value=self._values)
        if max(map(len, self._topics), default=0) > MOST_TEXT:
            answers.refuse("a topic's name of more characters than a text may have")
        return found


def ask(talk: Conversation, target: Target, topics: Sequence[str]) -> pa.Table:
    """Ask the broker at the open connection what these topics set for themselves; raises ReadError where one does not tell."""
    settings = TopicConfigs(target.observer)
    refused: list[str] = []
    for start in range(0, len(topics), _PAGE):
        for result in _page(talk, topics[start : start + _PAGE]):
            error = error_name(result.error_code) if result.error_code else None
            if error is None:
                own = [*_own(result)]
                talk.add_rows(len(own))
                for key, value in own:
                    settings.add(result.resource_name, key, value)
            elif error != _GONE:  # it was deleted since it was listed
                refused.append(error)
    if refused:
        message = f"{len(refused)} of {len(topics)} topics do not tell their configuration"
        raise ReadError(refused[0], message, MAY_DESCRIBE_CONFIGS)
    return settings.table()


def _page(talk: Conversation, topics: Sequence[str]) -> Sequence[Any]:
    kind = DescribeConfigsRequest.DescribeConfigsResource
    resources = [kind(resource_type=_TOPIC_RESOURCE, resource_name=one, configuration_keys=list(KEYS)) for one in topics]
    version = talk.version(DescribeConfigsRequest)
    found = answers.each(talk.ask(DescribeConfigsRequest(version=version, resources=resources)).results, "results")
    answers.once((answers.name(one.resource_name, "a topic") for one in found), "a topic")
    if missing := len({*topics} - {one.resource_name for one in found}):
        answers.refuse(f"nothing about {missing} of {len(topics)} topics")
    return found


def _own(result: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 -- kafka-python's messages are untyped
    """Yield keys and values that the topic sets itself."""
    for one in answers.each(result.configs, f"settings of topic {result.resource_name}"):
        if one.config_source == _DYNAMIC_TOPIC_CONFIG and one.name in KEYS and one.value is not None:
            yield one.name, one.value
