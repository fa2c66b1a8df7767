"""What differs: a dozen `.sql` files over partition-sized tables, the columns that each returns, and the runner.

The only room that knows Spark. SQL here counts and compares; it knows no status, no severity and no sentence.
"""
