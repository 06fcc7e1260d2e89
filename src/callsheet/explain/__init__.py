"""Why a request holds what it holds: sentences and figures made of ids, classes and counts, never of content."""
