"""Why an edge of the cluster is broken: who must reach whom, what was observed, which causes fit, and which are ruled out."""
