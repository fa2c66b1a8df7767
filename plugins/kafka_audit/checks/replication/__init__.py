"""KA6xx: replicas and reassignments."""
