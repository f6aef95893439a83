"""Prices, in cents."""


def total(prices):
    """Returns the sum of all prices."""
    result = 0
    for price in prices:
        result += price
    return result


def average(prices):
    """Returns the average price; nothing where there is none."""
    return total(prices) / len(prices) if prices else None
