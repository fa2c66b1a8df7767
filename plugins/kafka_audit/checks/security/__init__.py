"""KA4xx: security between brokers, logins, ACLs."""
