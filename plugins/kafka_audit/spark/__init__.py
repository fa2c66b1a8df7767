"""The engine Spark: its session, what makes it start faster, and the measuring. No other package uses Spark."""
