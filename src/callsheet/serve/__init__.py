"""What answers over a network: the proxy that stands before a provider."""
