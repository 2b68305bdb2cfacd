"""What a deployment does to jobs, and why it would fail. `batch-quota diff` checks these, `validate` does not."""
