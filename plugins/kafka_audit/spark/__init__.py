"""The engine Spark: its session, its submission, and the measuring. No other package uses Spark."""
