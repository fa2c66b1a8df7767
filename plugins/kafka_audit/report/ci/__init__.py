"""What build servers read: SARIF, JUnit, annotations of lines."""
