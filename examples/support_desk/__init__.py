"""A support desk for an outdoor shop: a shop that is built, tools that work on it, a scripted day, and its recorder."""
