"""What programs that hold a conversation are told: answers from stored reports, and the server that gives them."""
