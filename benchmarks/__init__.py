"""What `make bench` measures: see docs/performance.md."""
