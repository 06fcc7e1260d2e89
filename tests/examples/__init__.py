"""The programs under ``examples/``."""
