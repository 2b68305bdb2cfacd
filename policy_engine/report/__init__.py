"""What people and pipelines read."""
