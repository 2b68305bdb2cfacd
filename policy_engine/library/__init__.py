"""What `from policy_engine import …` gives: reading, replaying, comparing and explaining, with polars data frames."""
