"""Messages of Kafka's protocol that kafka-python does not define: only the fields and versions, in Kafka's own notation."""

from kafka.protocol.api_message import ApiMessage


class ConsumerGroupDescribeRequest(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg] # kafka-python is untyped
    """API 69: groups of the consumer protocol (KIP-848), which DescribeGroups does not know."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=__name__):  # type: ignore[misc, call-arg] # see above
    """Its answer, which registers itself with kafka-python's parser."""
