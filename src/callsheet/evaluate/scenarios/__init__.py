"""Scenarios as data: a document says what happens and what the next request must hold; it is played and judged."""
