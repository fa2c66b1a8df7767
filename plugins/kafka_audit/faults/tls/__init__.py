"""A TLS handshake that fails."""
