"""DescribeConfigs: what a broker or controller is set to, and who it is, asked itself; what topics set, in KRaft mode."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from kafka.protocol.admin import DescribeConfigsRequest

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.secrets.secret_keys import LONGEST_KEY, is_secret
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.rows.secret_filter import is_free_text
from kafka_audit.collect.rows.source_reads import CLUSTER_DENIED
from kafka_audit.collect.rows.topic_config_columns import KEYS, TopicConfigs
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import ControllerConfig
from kafka_audit.model.tables.views import DEFAULT_SOURCE, STATIC_SOURCE

CONFIGS = "DescribeConfigs BROKER"
MAY_DESCRIBE_CONFIGS = "DescribeConfigs on Cluster"
MOST_SETTINGS, MOST_SETTINGS_TEXT = 10_000, 1024 * 1024
"""Settings of one node that are taken, and characters of all their names and values: Kafka's 300 have 20,000 together, and each
listener adds 50 of its own."""

UNNAMED = -1
"""The id of a server that does not name its id."""

_RESOURCE = 4
_NOBODY = "2147483647"  # no node has this id, and error 42 names the id of the one that was asked
_EXPECTED = re.compile(r"expected (\d{1,10}) or empty")


def describe_node(conversation: Conversation, name: str) -> Any:  # noqa: ANN401 -- kafka-python's messages are untyped
    """Ask for the configuration of the node of that name; raises ReadError."""
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=_RESOURCE, resource_name=name, configuration_keys=None
    )
    version = conversation.version(DescribeConfigsRequest)
    results = answers.each(conversation.ask(DescribeConfigsRequest(version=version, resources=[resource])).results, "results")
    if len(results) != 1:
        raise ReadError(ReadFailure.UNEXPECTED_ANSWER, f"{len(results)} results for one broker")
    return checked(results[0])


def checked(message: Any) -> Any:  # noqa: ANN401 -- see describe_node
    """Return an answer without error; raises ReadError with Kafka's name of the error and the missing right."""
    demand(message.error_code, message.error_message, {CLUSTER_DENIED: MAY_DESCRIBE_CONFIGS})
    return message


def id_of_node(conversation: Conversation) -> int:
    """Return the id in the refusal of one that no node has, `UNNAMED` for none; raises ReadError if it was not answered.

    Servers that speak Kafka's protocol and are not Kafka refuse in other words, or answer for whatever id they are asked.
    """
    try:
        describe_node(conversation, _NOBODY)
    except ReadError as error:
        if error.error != "INVALID_REQUEST":
            raise
        match = _EXPECTED.search(error.message or "")
        return UNNAMED if match is None else answers.int32(int(match[1]), "the broker's id")
    return UNNAMED


def settings_of_node(conversation: Conversation, name: str) -> Sequence[Any]:
    """Return a node's settings; raises ReadError. One without a name may be any, so then none of them is known."""
    entries = answers.each(describe_node(conversation, name).configs, "settings")
    answers.once((answers.checked_name(entry.name, "a setting") for entry in entries), "a setting")
    conversation.add_rows(len(entries), _honest_size(entries))
    return entries


def _honest_size(entries: Sequence[Any]) -> int:
    """Return how many characters settings have; raises ReadError for more than any broker has, before any of them is read."""
    longest = max((len(entry.name) for entry in entries), default=0)
    if longest > LONGEST_KEY:
        answers.refuse_answer(f"a setting with a name of {longest} characters")
    size = sum(len(entry.name) + len(entry.value or "") for entry in entries)
    if len(entries) > MOST_SETTINGS or size > MOST_SETTINGS_TEXT:
        message = f"{len(entries)} settings of {size} characters, more than {MOST_SETTINGS} or {MOST_SETTINGS_TEXT}"
        raise ReadError(ReadFailure.TOO_LARGE, message, "fewer and shorter settings of this broker")
    return size


def columns_of(entry: Any) -> dict[str, Any]:  # noqa: ANN401 -- see describe_node
    """Return a setting's columns. A setting that a node calls harmless may still be a secret, or a text that no check reads."""
    default = bool(getattr(entry, "is_default", False))
    text = entry.value or ""
    sensitive = bool(entry.is_sensitive) or is_secret(entry.name, text) or is_free_text(entry.name, text)
    return {
        "key": entry.name,
        "value": None if sensitive else entry.value,
        "source": entry.config_source if entry.config_source >= 0 else DEFAULT_SOURCE if default else STATIC_SOURCE,
        "sensitive": sensitive,
        "read_only": bool(entry.read_only),
    }


def controller_settings(conversation: Conversation, observer: str) -> tuple[ControllerConfig, ...]:
    """Return what a controller is set to, of Kafka 3.7 or later (KIP-919); nothing from a server that does not name its id.

    Raises:
        ReadError: it refused, or did not answer.
    """
    node = id_of_node(conversation)
    if node == UNNAMED:
        return ()
    entries = settings_of_node(conversation, str(node))
    return tuple(ControllerConfig(observer=observer, node_id=node, **columns_of(entry)) for entry in entries)


TOPIC_CONFIGS = "DescribeConfigs TOPIC"
MAY_DESCRIBE_TOPICS_CONFIGS = "DescribeConfigs on Topic"
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
        demand(refused[0], message, {}, MAY_DESCRIBE_TOPICS_CONFIGS)
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
