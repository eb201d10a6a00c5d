"""The runtime's log: one logger, and nothing is logged that holds a secret (``PROD-8``)."""

from __future__ import annotations

import logging

from .redaction import redact

_FORMATTER = logging.Formatter()


class _Redacting(logging.Filter):
    """Makes a record's text, and its traceback's, and redacts both before any handler has it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact a record; all of them pass."""
        record.msg, record.args = redact(record.getMessage()), None
        if record.exc_info:
            record.exc_text = redact(_FORMATTER.formatException(record.exc_info))
            record.exc_info = None  # or a handler would make a text of its own
        return True


log = logging.getLogger("circlet")
"""Each event at the level DEBUG, and what went wrong around a run at ERROR."""
if not any(isinstance(one, _Redacting) for one in log.filters):
    log.addFilter(_Redacting())
