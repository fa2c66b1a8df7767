"""Whether one sample is enough: the differences in it, and the rows that two samples share."""
