"""Knowledge: documents that the conversations of a tenant share, in versions, cut into chunks, found and read."""
