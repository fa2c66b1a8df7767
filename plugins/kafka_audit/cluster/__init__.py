"""The one model of a cluster as seen: what was read and measured, by the same names with ZooKeeper and KRaft. No verdicts."""
