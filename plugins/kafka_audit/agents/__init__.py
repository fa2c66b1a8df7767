"""Answers from stored reports for programs that hold a conversation, and the server that gives them."""
