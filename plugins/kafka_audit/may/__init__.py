"""May a step be taken now: gates, findings and losses that exist, brought together to one answer. It judges nothing itself."""
