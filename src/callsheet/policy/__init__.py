"""Policy sets and verdicts: pure functions of a candidate, a boundary and a set."""
