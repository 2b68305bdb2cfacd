"""Tables as files hold them: CSV, JSON Lines and Parquet behind one protocol that knows where each value stands."""

from policy_engine.trace.tables.opening import Source, open_table
from policy_engine.trace.tables.table import FileFormat, Table, unreadable

__all__ = ["FileFormat", "Source", "Table", "open_table", "unreadable"]
