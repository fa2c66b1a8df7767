"""Access tokens (OAUTHBEARER): of a token endpoint, and of cloud providers, one module each."""
