"""KA2xx: the controller and the KRaft quorum."""
