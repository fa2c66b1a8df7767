"""What topics set for themselves, in KRaft mode: DescribeConfigs of all topics, a page at a time, from one broker."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from kafka.protocol.admin import DescribeConfigsRequest

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.rows.topic_config_columns import KEYS, TopicConfigs

TOPIC_CONFIGS = "DescribeConfigs TOPIC"
MAY_DESCRIBE_CONFIGS = "DescribeConfigs on Topic"
_TOPIC_RESOURCE = 2
_DYNAMIC_TOPIC_CONFIG = 1
_PAGE = 500
_GONE = 3  # UNKNOWN_TOPIC_OR_PARTITION


def ask_topic_configs(conversation: Conversation, target: Target, topics: Sequence[str]) -> pa.Table:
    """Read the settings of these topics from the broker at the open connection; raises ReadError if one is not reported."""
    settings = TopicConfigs(target.observer)
    refused: list[int] = []
    for start in range(0, len(topics), _PAGE):
        for result in _page(conversation, topics[start : start + _PAGE]):
            if not result.error_code:
                own = [*_own(result)]
                conversation.add_rows(len(own))
                for key, value in own:
                    settings.add(result.resource_name, key, value)
            elif result.error_code != _GONE:  # it was deleted since it was listed
                refused.append(result.error_code)
    if refused:
        message = f"{len(refused)} of {len(topics)} topics returned no configuration"
        demand(refused[0], message, {}, MAY_DESCRIBE_CONFIGS)
    return settings.table()


def _page(conversation: Conversation, topics: Sequence[str]) -> Sequence[Any]:
    kind = DescribeConfigsRequest.DescribeConfigsResource
    resources = [kind(resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=list(KEYS)) for topic in topics]
    version = conversation.version(DescribeConfigsRequest)
    found = answers.each(conversation.ask(DescribeConfigsRequest(version=version, resources=resources)).results, "results")
    answers.once((answers.checked_name(entry.resource_name, "a topic") for entry in found), "a topic")
    if missing := len({*topics} - {entry.resource_name for entry in found}):
        answers.refuse_answer(f"nothing about {missing} of {len(topics)} topics")
    return [entry for entry in found if entry.resource_name in {*topics}]


def _own(result: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 -- kafka-python's messages are untyped
    """Yield keys and values that the topic sets itself."""
    for entry in answers.each(result.configs, f"settings of topic {result.resource_name}"):
        if entry.config_source == _DYNAMIC_TOPIC_CONFIG and entry.name in KEYS and entry.value is not None:
            yield entry.name, entry.value
