"""What AWS Batch refuses, or documents a limit for."""
