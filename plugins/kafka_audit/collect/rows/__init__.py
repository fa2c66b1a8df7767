"""What is collected, as rows and columns, without secrets."""
