"""What deploys well and goes wrong later: idle capacity, jobs that never run or never end."""
