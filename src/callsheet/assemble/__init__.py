"""From a boundary and the records of a cut to the blocks of one request. Pure: no store, no clock, no randomness."""
