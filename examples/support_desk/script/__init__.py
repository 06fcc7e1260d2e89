"""The scripted day, one file a customer: what the desk agent and the assistant say, and what is asked of the tools."""
