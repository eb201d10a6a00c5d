"""Sets of programs, and what runs them: on plain CPython, and in a sandbox."""
