"""Callsheet: durable, explainable context assembly for tool-using AI agents."""
