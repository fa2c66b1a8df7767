"""server.properties as a source: files read as Kafka reads them, secrets left behind, the rest as rows."""
