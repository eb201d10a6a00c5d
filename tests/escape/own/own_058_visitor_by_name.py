# kind=leak; source: visitors look their methods up by the name of a class
import ast, html.parser
def f():
    pass
class V(ast.NodeVisitor):
    def generic_visit(self, node):
        seen.append(node)
        return super().generic_visit(node)
class Fake:
    _fields = ("__class__", "__globals__", "__init__")
    _attributes = ("__dict__",)
Fake.__name__ = "x.__globals__"
seen = []
real = ast.parse("f()").body[0].value
for name, value in (("_fields", ("__class__", "__init__")), ("func", f), ("args", [f, Fake()])):
    try:
        setattr(real, name, value)
    except Exception:
        pass
for thing in (real, Fake(), f):
    for way in (
        lambda: V().visit(thing), lambda: ast.dump(thing, include_attributes=True),
        lambda: list(ast.iter_fields(thing)), lambda: list(ast.iter_child_nodes(thing)),
        lambda: ast.copy_location(real, thing), lambda: ast.unparse(thing),
        lambda: ast.get_docstring(thing), lambda: ast.fix_missing_locations(thing),
        lambda: list(ast.walk(thing)), lambda: ast.NodeTransformer().visit(thing),
    ):
        try:
            seen.append(way())
        except Exception:
            pass
escaped = [each for each in seen if "__builtins__" in str(each) or "wrapper_descriptor" in str(each)]
class H(html.parser.HTMLParser):
    def __getattr__(self, name):
        seen.append(name)
        raise AttributeError(name)
H().feed("<__class__ x=1><!--a--><?b?>")
