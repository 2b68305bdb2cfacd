"""Batch Quota's policy engine: validate a team topology, and replay job traces through the scheduling model."""
