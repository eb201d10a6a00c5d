"""The modules that a program can import: read-only faces with a list of public names each.

A raw module of the standard library is a way out (``re.enum.sys``), and so are some public
functions. A facade holds exactly the names listed in ``names.py``. None of them is a module, a
mutable container, or a function that reads attributes named in a text, evaluates a text, or
makes a class of names that it doesn't check; where a module's own function does, ours stands in.
The other modules here are what stands in, or is mended in place, one for each matter.
"""
