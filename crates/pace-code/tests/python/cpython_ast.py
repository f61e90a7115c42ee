"""CPython's own syntax trees, to compare ours with.

Reads requests from standard input, one JSON object per line, and answers each with one line:

    {"source": "..."}                      -> {"trees": [[facts, [node, ...], [node, ...]]]}
    {"source": "...", "functions": true}   -> the same, one tree per function instead of one for the module

The facts are [name, line, number of lines, has docstring]. The nodes are [type, attribute or null, parent or -1, depth], first as this interpreter has them, then as Python 3.7 would.
No Python 3.7 is asked: its nodes are derived from ours by what its documentation says about them. A source that does not
parse is answered with {"error": "..."}. With the argument --library the folder of the standard library is printed instead.
"""

import ast
import json
import sys
import sysconfig
import warnings

MASK = "_mask_"
FIELDS = ("name", "arg", "s", "n", "id", "attr")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Made:
    """A node that Python 3.7 has and this interpreter has not."""

    def __init__(self, kind, children=()):
        self.kind = kind
        self.children = children


def children(node):
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            yield field, value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    yield field, item


def current(node):
    """Type, attribute and children as this interpreter has them."""
    attribute = None
    if isinstance(node, ast.Constant):
        # What the aliases `s` and `n` give, which Python 3.14 has no more.
        attribute = None if node.value is None else str(node.value)
    else:
        for field in FIELDS:
            value = getattr(node, field, None)
            if value is not None and not isinstance(value, ast.AST):
                attribute = str(value)
                break
    return type(node).__name__, attribute, [child for _, child in children(node)]


def index(node):
    """What stands in a subscript in Python 3.7."""
    if isinstance(node, ast.Slice):
        return node
    if isinstance(node, ast.Tuple) and any(isinstance(item, ast.Slice) for item in node.elts):
        return Made("ExtSlice", [index(item) for item in node.elts])
    return Made("Index", [node])


def legacy(node):
    """Type, attribute and children as Python 3.7 has them."""
    if isinstance(node, Made):
        return node.kind, None, node.children
    if isinstance(node, ast.Constant):
        value = node.value
        if value is None or isinstance(value, bool):
            return "NameConstant", None, []
        if value is ...:
            return "Ellipsis", None, []
        kind = {str: "Str", bytes: "Bytes"}.get(type(value), "Num")
        return kind, str(value), []
    kind, attribute, below = current(node)
    if isinstance(node, ast.Subscript):
        below = [index(child) if field == "slice" else child for field, child in children(node)]
    return kind, attribute, below


def walk(root, describe, masked=None):
    nodes = []
    stack = [(root, -1, 0)]
    while stack:
        node, parent, depth = stack.pop()
        kind, attribute, below = describe(node)
        if isinstance(node, FUNCTIONS) and attribute == masked:
            attribute = MASK
        if attribute is not None:
            # UTF-8 cannot hold half of a surrogate pair.
            attribute = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in attribute)
        number = len(nodes)
        nodes.append([kind, attribute, parent, depth])
        stack.extend((child, number, depth + 1) for child in reversed(below))
    return nodes


def functions(module):
    """Every function in the order of the source, without its decorators."""
    stack = [module]
    while stack:
        node = stack.pop()
        if isinstance(node, FUNCTIONS):
            decorators, node.decorator_list = node.decorator_list, []
            alone = ast.Module(body=[node], type_ignores=[])
            n_lines = node.end_lineno - node.lineno + 1
            facts = [node.name, node.lineno, n_lines, ast.get_docstring(node, clean=False) is not None]
            yield [facts, walk(alone, current, node.name), walk(alone, legacy, node.name)]
            node.decorator_list = decorators
        stack.extend(child for _, child in reversed(list(children(node))) if not isinstance(child, ast.expr))


def answer(request):
    try:
        module = ast.parse(request["source"])
        if request.get("functions"):
            return {"trees": list(functions(module))}
        return {"trees": [[["", 0, 0, False], walk(module, current), walk(module, legacy)]]}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    if "--library" in sys.argv:
        print(sysconfig.get_paths()["stdlib"])
        return
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))))


if __name__ == "__main__":
    main()
