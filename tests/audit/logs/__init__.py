"""Tests of reading the logs of agents."""
