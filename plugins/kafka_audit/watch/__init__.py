"""Known within a minute: small readings of a cluster every few seconds, and what they make suspicious."""
