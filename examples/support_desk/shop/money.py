"""Amounts as people write them, "129.90", and as the shop stores them, in cents."""


def euros(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def cents(amount: str) -> int:
    """The cents of an amount with exactly two decimals."""
    whole, _, fraction = amount.partition(".")
    return int(whole) * 100 + int(fraction)


def share(amount: int, percent: int) -> int:
    """``percent`` of an amount in cents, half a cent rounded up."""
    return (amount * percent + 50) // 100
