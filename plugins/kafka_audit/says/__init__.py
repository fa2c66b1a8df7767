"""What Kafka and ZooKeeper themselves say: every line that they can log at WARN and above, with its meaning; pure."""
