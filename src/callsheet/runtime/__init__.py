"""The public face and the one imperative room: it alone reads the clock, mints ids and writes to a store."""
