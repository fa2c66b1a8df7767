"""Causes that ZooKeeper, the controller and the metadata quorum show."""
