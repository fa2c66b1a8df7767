"""Who may do what between brokers, and how they prove who they are."""
