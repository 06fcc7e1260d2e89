"""The runtime graph: record types, their canonical form, and `Graph`, the fold that says what each record does.

Knows no store, no provider, no clock and no randomness.
"""
