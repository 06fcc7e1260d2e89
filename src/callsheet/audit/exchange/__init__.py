"""Conversations as lines of JSON, into a store and out of it. One format both ways; `lines` describes it."""
