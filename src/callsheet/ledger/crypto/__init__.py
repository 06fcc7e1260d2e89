"""Sealing what was said, and signing where a stream stands."""
