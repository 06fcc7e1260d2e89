"""Memories of users: kept in a stream of their own for each user, over all conversations of that user."""
