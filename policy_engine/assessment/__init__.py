"""What is concluded from one replay: its figures, what it costs, and whether it shows what its topology expects."""

from policy_engine.assessment.assessing import Assessment, assess
from policy_engine.assessment.summary import Summary, summarize
from policy_engine.assessment.verdicts import Verdict

__all__ = ["Assessment", "Summary", "Verdict", "assess", "summarize"]
