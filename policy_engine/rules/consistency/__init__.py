"""What contradicts itself within a topology, or has no effect."""
