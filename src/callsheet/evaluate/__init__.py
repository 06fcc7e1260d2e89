"""Measuring: recordings are replayed, and what a candidate would have sent is compared with what was used next."""
