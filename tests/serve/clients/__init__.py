"""The providers' own clients, unmodified: all that changes is the address."""
