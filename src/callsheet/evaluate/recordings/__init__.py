"""Recordings that ship with the package.

``support_desk.jsonl``: a day at a support desk. Its words are scripted, its tool results are real; recorded by
``examples/support_desk`` in the repository, whose README describes the format.
"""
