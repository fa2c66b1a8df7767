"""KA1xx: stale leaders, empty and stale views."""
