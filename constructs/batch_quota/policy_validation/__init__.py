"""The policy engine as a validation plugin of the CDK: rules, and replays of traces, at synthesis."""

from batch_quota.policy_validation.options import TraceReplay
from batch_quota.policy_validation.plugin import QuotaPolicyValidation

__all__ = ["QuotaPolicyValidation", "TraceReplay"]
