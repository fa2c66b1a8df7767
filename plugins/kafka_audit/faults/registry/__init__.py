"""What keeps a broker from ZooKeeper, or its registration from being right."""
