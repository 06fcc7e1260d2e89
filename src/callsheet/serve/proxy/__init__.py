"""A proxy before providers: an agent changes one address, and its requests are assembled."""
