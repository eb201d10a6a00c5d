# kind=cap; source: a syntax tree whose lists answer the checker and the compiler differently
import ast
class Body(list):
    def __init__(self, first, second):
        super().__init__(second)
        self.first = first
        self.count = 0
    def __iter__(self):
        self.count += 1
        return iter(self.first if self.count < 9 else list.__iter__(self))
    def __getitem__(self, index):
        return self.first[index]
    def __len__(self):
        return len(self.first)
class Text(str):
    def __str__(self):
        return "x"
good = ast.parse("escaped = 0").body
bad = ast.parse("import os\nescaped = ().__class__.__base__.__subclasses__()").body
for make in (
    lambda: ast.Module(Body(good, bad), []),
    lambda: ast.Module(bad, []),
    lambda: ast.Expression(ast.Attribute(ast.Name("done", ast.Load()), Text("__globals__"), ast.Load())),
    lambda: ast.Interactive(bad),
):
    for mode in ("exec", "eval", "single"):
        try:
            tree = ast.fix_missing_locations(make())
            result = eval(compile(tree, "x", mode))
            escaped = escaped or result
        except Exception:
            pass
