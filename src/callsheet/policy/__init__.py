"""Policy sets and verdicts: pure functions of a record, a boundary and a set."""
