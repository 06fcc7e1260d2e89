"""Provider formats in and out, and the token counters that go with them."""
