"""What deploys well and goes wrong later: capacity idle, jobs that never run or never end. QM3xx."""
