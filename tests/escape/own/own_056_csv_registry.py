# kind=leak; source: dialects and readers of csv hold what they were given
import csv, io
class D(csv.Dialect):
    delimiter = ","
    quoting = csv.QUOTE_ALL
    lineterminator = "\n"
    quotechar = '"'
    def __init__(self):
        seen.append(self)
seen = []
class File:
    def write(self, text):
        seen.append(text)
        return text
csv.register_dialect("own", D)
csv.writer(File(), "own").writerow([1, "x"])
reader = csv.DictReader(iter(["a,b", "1,2"]))
next(reader)
for thing in (reader, reader.reader, csv.get_dialect("own"), csv.Sniffer()):
    for name in ("reader", "__globals__", "_fieldnames", "__self__", "dialect"):
        try:
            found = getattr(thing, name)
            escaped = escaped or getattr(found, "__globals__", None)
        except Exception:
            pass
