"""What a broker configuration means to Kafka, judged without asking anybody."""
