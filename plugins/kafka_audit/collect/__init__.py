"""Ask every party: ZooKeeper, each broker itself, the network. Rows only, never a verdict."""
