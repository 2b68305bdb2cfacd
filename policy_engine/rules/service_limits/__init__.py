"""What AWS refuses, or says that it does: limits of AWS Batch quota management. QM1xx."""
