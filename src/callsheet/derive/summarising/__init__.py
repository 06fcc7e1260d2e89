"""Extracts that stand for a stretch of a conversation: its most telling sentences, unchanged, with who said each."""
