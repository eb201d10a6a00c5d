# kind=cap; source: environment and system calls by the names that os is shown with
import os, os.path, io, pathlib
found = []
for name in "system popen fork kill getpid listdir open scandir stat environb execv _exit dup".split():
    if hasattr(os, name):
        found.append(name)
for name in "exists getsize isfile realpath genericpath os".split():
    if hasattr(os.path, name):
        found.append("path." + name)
for act in (
    lambda: pathlib.Path("/etc/passwd").read_text(),
    lambda: list(pathlib.Path("/").iterdir()),
    lambda: io.open("/etc/passwd"),
    lambda: io.FileIO(0),
    lambda: io.TextIOWrapper(io.FileIO("/etc/passwd")).read(),
    lambda: pathlib.Path(target["file"]).read_text(),
    lambda: os.environ["CIRCLET_CANARY"],
):
    try:
        found.append(act())
    except Exception:
        pass
print(dict(os.environ))
escaped = found
