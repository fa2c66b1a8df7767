"""What each party says of the others: the matrix of edges, the views side by side, probes, the quorum, and where all agree."""
