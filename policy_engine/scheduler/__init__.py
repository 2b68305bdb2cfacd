"""The scheduling model: replay a trace on a topology."""
