"""The fault corpus: faults and healthy controls as data, run on real clusters, and the record of what was seen."""
