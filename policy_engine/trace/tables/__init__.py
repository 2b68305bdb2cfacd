"""Tables as files hold them: CSV, JSON Lines and Parquet behind one protocol that knows where each value stands."""

from policy_engine.trace.tables.opening import Source, format_of, open_table, read_text
from policy_engine.trace.tables.table import FileFormat, Table, unreadable

__all__ = ["FileFormat", "Source", "Table", "format_of", "open_table", "read_text", "unreadable"]
