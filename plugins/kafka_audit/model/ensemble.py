"""What a ZooKeeper of Kafka's looks like at work."""

from collections.abc import Mapping
from types import MappingProxyType

NOTICES: Mapping[str, int] = MappingProxyType(
    {"/isr_change_notification": 10, "/log_dir_event_notification": 10, "/config/changes": 1000}
)
"""Znodes with notices, and how many make a heap: the controller takes the first two away at once, the last stay 15 minutes."""
