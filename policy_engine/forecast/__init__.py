"""Many replays: the same trace on several topologies, or under several assumptions, compared."""

from policy_engine.forecast.comparing import Comparison, compare, compared
from policy_engine.forecast.variants import Variant, replay_variant

__all__ = ["Comparison", "Variant", "compare", "compared", "replay_variant"]
