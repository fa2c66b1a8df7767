"""What differs: a dozen `.sql` files over partition-sized tables, the columns that each returns, and the runner.

The only package that uses Spark. SQL here counts and compares; it contains no status, severity or sentence.
"""
