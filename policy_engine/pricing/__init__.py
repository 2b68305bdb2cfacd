"""What an instance costs, and how many GPUs it has."""

from policy_engine.pricing.gpus import gpu_count
from policy_engine.pricing.prices import Prices
from policy_engine.pricing.reading import parse_prices, read_prices
from policy_engine.pricing.writing import prices_text

__all__ = ["Prices", "gpu_count", "parse_prices", "prices_text", "read_prices"]
