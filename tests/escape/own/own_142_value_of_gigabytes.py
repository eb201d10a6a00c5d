# kind=dos; source: a turn's value whose text or encoding is far larger than itself
row = ["x" * 1000] * 1000
table = [row] * 1000
class Long:
    def __repr__(self):
        return "y" * 30_000_000
value = [[table] * 1000, {"a": Long()}]
value
