"""7xx: settings that differ between brokers, or that are weak."""
