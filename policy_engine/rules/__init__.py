"""What is checked about a topology: one rule, one small class, one id."""
