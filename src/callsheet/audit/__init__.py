"""What is done with a store as a whole: verify it, rebuild it, back it up, carry conversations in and out of it."""
