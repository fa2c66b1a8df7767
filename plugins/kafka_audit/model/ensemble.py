"""Normal values of a ZooKeeper of Kafka."""

from collections.abc import Mapping
from types import MappingProxyType

NOTICES: Mapping[str, int] = MappingProxyType(
    {"/isr_change_notification": 10, "/log_dir_event_notification": 10, "/config/changes": 1000}
)
"""Notification znodes with the number that counts as unprocessed: the controller deletes the first two kinds at once, the
last stay 15 minutes."""
