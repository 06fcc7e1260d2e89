"""Background work: what is pending is a query over the ledger; nothing is queued, so nothing can be lost."""
