"""Features in an answer to ApiVersions: which levels a broker supports, and which the cluster has finalized (KIP-584)."""

from collections.abc import Iterator
from typing import Any

from kafka_audit.collect.brokers import answers
from kafka_audit.model.tables import BrokerFeature

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
