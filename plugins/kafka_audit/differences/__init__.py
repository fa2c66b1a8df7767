"""What differs: a dozen `.sql` files over partition-sized tables, the columns that each returns.

SQL here counts and compares; it contains no status, severity or sentence. The engines run it: `spark` and `embedded`.
"""
