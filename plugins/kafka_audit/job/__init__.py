"""The Spark job: Spark measures the differences, then Python judges each snapshot."""
