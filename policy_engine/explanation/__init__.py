"""Why what a replay predicts happened: a job's life, each preemption's reason, and what would have prevented them."""
