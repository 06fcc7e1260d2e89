"""The shop: its data files, its database, its log and its exports. Knows nothing of tools or conversations."""
