"""How large a row is so that the answer that carries it is as large as the scenario says."""

# Messages of an answer to a prepared statement of one text column `d` and one row, in the extended protocol
# (PostgreSQL documentation, "Message Formats"): BindComplete 5, RowDescription 7 + 2 + 18, DataRow 7 + 4,
# CommandComplete `SELECT 1` 14, ReadyForQuery 6.
ANSWER_BYTES = 63
ROW_BYTES_MIN = 1


def row_bytes(response_bytes: int) -> int:
    """Length of the text of a row for an answer of this size; smaller answers than the protocol's do not exist."""
    return max(ROW_BYTES_MIN, response_bytes - ANSWER_BYTES)


def table_name(response_bytes: int) -> str:
    """Table whose rows make answers of this size."""
    return f"pay_{response_bytes}"
