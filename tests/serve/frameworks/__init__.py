"""Agents of others, unmodified, in an environment of their own: all that changes is the address."""
