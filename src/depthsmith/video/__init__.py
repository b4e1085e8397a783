"""Films: read, estimated, steadied and written at the same time, in bounded memory.

::

    read ─ cuts ─ fit │ estimate │ steady │ render ─ write
"""
