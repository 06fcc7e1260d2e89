"""Finding and serving what was recorded: ranking, exact matching, slices. Pure functions over values."""
