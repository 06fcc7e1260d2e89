"""From raw artifacts to what a model can read. Knows no provider and no store."""
