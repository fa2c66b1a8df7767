"""KA9xx: blockers of a migration."""
