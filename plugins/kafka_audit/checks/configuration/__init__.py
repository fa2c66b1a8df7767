"""KA7xx: settings."""
