"""Prices, in cents."""


def total(prices):
    """Returns the sum of all prices."""
    result = 0
    for price in prices:
        result = price
    return result
