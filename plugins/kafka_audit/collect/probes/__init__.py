"""Probes of endpoints: from this worker, and from the hosts that command vantages name."""
