"""Log dirs that take no new replica (cordoned.log.dirs, Kafka 4.3)."""

from kafka_audit.cluster.view import ClusterView

CORDONED = "cordoned.log.dirs"


def cordoned(view: ClusterView, broker: int) -> frozenset[str]:
    """Return the log dirs of a broker that are cordoned; all that were read where it says `*`."""
    text = view.settings.running(broker, CORDONED).value or ""
    paths = {part.strip() for part in text.split(",") if part.strip()}
    return frozenset(view.log_dirs(broker)) if "*" in paths else frozenset(paths)
