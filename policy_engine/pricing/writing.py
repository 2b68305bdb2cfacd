"""Prices as a file that `read_prices` reads."""

import json
from decimal import Decimal

from policy_engine.pricing.prices import Prices


def prices_text(prices: Prices) -> str:
    """YAML, one instance type a line, by name."""
    head = {
        "currency": prices.currency,
        "region": prices.region,
        "date": prices.date.isoformat(),
        "source": prices.source,
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items() if value]
    lines.append("prices: # of one instance, for an hour")
    lines += [f"  {unit}: {Decimal(str(price)):f}" for unit, price in sorted(prices.per_hour.items())]
    return "\n".join(lines) + "\n"
