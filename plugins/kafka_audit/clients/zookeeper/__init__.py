"""A session with ZooKeeper within bounds, and many znodes with few round trips."""
