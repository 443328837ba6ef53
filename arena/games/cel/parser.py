"""Parse the text of a rule into a tree by recursive descent, and check its limits.

The grammar, where `{}` encloses repeated and `[]` encloses optional parts:

expression = choice ["?" choice ":" expression]
choice     = operands joined by || && == != < <= > >= in + - * / %
operand    = {"!"} member | {"-"} member
member     = primary {"." name | "." name "(" ... ")" | "[" expression "]"}
primary    = number | string | true | false | name | function "(" expression ")"
           | "(" expression ")" | "[" ... "]" | "{" key ":" value, ... "}"
"""

from typing import Final

from arena.games.cel.tokens import Kind, Token, tokens_of
from arena.games.cel.tree import (
    Binary,
    Conditional,
    FieldAccess,
    FunctionCall,
    Index,
    ListOf,
    Literal,
    Macro,
    MapOf,
    Node,
    Unary,
    Variable,
    children,
)
from arena.games.cel.values import SUIT_ORDER, RuleError

MAX_CHARS: Final = 600
MAX_NODES: Final = 200
MAX_NESTING: Final = 24
"""The maximal depth of the tree; parentheses do not count."""
MAX_INT: Final = 2**63 - 1

VARIABLES: Final = ("card", "last", "line")
FUNCTIONS: Final = ("size", "abs")
MACROS: Final = ("all", "exists", "exists_one", "filter", "map")
_STRENGTH: Final = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
# Words of CEL that cannot be names.
_RESERVED: Final = (
    *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
    *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
    *("void", "while"),
)

_LETTERS: Final[dict[str, tuple[str, ...]]] = {"suit": tuple(SUIT_ORDER), "color": ("R", "B")}


def parse(text: str) -> Node:
    """Return the tree of a rule.

    Raises `RuleError` if the text is not a rule of the language or exceeds its limits.
    """
    if len(text) > MAX_CHARS:
        raise RuleError(f"a rule has at most {MAX_CHARS} characters", MAX_CHARS)
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = tokens_of(text)
        self._closers = _closers(self._tokens)
        self._next = 0
        self._level = 0
        self._nodes = 0
        self._depths: dict[int, int] = {}
        self._variables: list[str] = []

    def whole(self) -> Node:
        node = self._expression()
        if self._token.kind is not Kind.END:
            raise RuleError(f"the rule should end before {self._shown()}", self._token.at)
        return node

    # Tokens.

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _shown(self) -> str:
        token = self._token
        return token.kind.value if token.kind in (Kind.END, Kind.STRING) else repr(token.text)

    def _sees(self, sign: str) -> bool:
        token = self._token
        return token.kind is Kind.SIGN and token.text == sign

    def _take(self, sign: str) -> bool:
        if not self._sees(sign):
            return False
        self._next += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise RuleError(f"{sign!r} expected, not {self._shown()}", self._token.at)

    def _name(self, what: str) -> Token:
        token = self._token
        if token.kind is not Kind.NAME:
            raise RuleError(f"{what} expected, not {self._shown()}", token.at)
        self._next += 1
        return token

    def _made(self, node: Node) -> Node:
        """Count a new node; its children have been counted before."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise RuleError(f"a rule has at most {MAX_NODES} parts", node.at)
        depths = self._depths
        depth = 1 + max((depths[id(child)] for child in children(node)), default=0)
        if depth > MAX_NESTING:
            raise _too_deep(node.at)
        depths[id(node)] = depth
        return node

    # Grammar.

    def _expression(self) -> Node:
        # Each level but the first adds at least one node, as doubled parentheses are one level. So this
        # rejects only trees that are too deep.
        if self._level > MAX_NESTING:
            raise _too_deep(self._token.at)
        self._level += 1
        node = self._choice(1)
        at = self._token.at
        if self._take("?"):
            then = self._choice(1)
            self._expect(":")
            node = self._made(Conditional(node, then, self._expression(), at))
        self._level -= 1
        return node

    def _choice(self, least: int) -> Node:
        left = self._operand()
        while True:
            token = self._token
            strength = _STRENGTH.get(token.text, 0) if self._is_infix(token) else 0
            if strength < least:
                return left
            self._next += 1
            right = self._choice(strength + 1)
            _check_letters(token.text, left, right)
            left = self._made(Binary(token.text, left, right, token.at))

    @staticmethod
    def _is_infix(token: Token) -> bool:
        return token.kind is Kind.SIGN or (token.kind is Kind.NAME and token.text == "in")

    def _operand(self) -> Node:
        signs: list[Token] = []
        for sign in ("!", "-"):
            while not (signs and signs[0].text != sign) and self._sees(sign):
                signs.append(self._token)
                self._next += 1
        if signs and signs[-1].text == "-" and self._token.kind is Kind.INT:
            signs.pop()  # a negative number is one literal, so that the lowest number can be written
            node = self._member(self._int(-1))
        else:
            node = self._member(self._primary())
        for token in reversed(signs):
            node = self._made(Unary(token.text, node, token.at))
        return node

    def _member(self, node: Node) -> Node:
        while True:
            at = self._token.at
            if self._take("."):
                name = self._name("a field or a function")
                if self._sees("("):
                    node = self._method(node, name)
                else:
                    node = self._made(FieldAccess(node, name.text, name.at))
            elif self._take("["):
                key = self._expression()
                self._expect("]")
                node = self._made(Index(node, key, at))
            else:
                return node

    def _method(self, target: Node, name: Token) -> Node:
        self._expect("(")
        if name.text == "size":
            self._expect(")")
            return self._made(FunctionCall("size", target, name.at))
        if name.text not in MACROS:
            raise RuleError(f"there is no function .{name.text}()", name.at)
        variable = self._name("a variable's name")
        if variable.text in VARIABLES or variable.text in _RESERVED:
            raise RuleError(f"a variable may not be named {variable.text}", variable.at)
        self._expect(",")
        self._variables.append(variable.text)
        body = self._expression()
        self._variables.pop()
        self._expect(")")
        return self._made(Macro(name.text, target, variable.text, body, name.at))

    def _primary(self) -> Node:
        token = self._token
        if token.kind is Kind.INT:
            return self._int(1)
        if token.kind is Kind.STRING:
            self._next += 1
            return self._made(Literal(token.text, token.at))
        if token.kind is Kind.NAME:
            return self._named()
        if self._sees("("):
            return self._parentheses()
        if self._take("["):
            items = self._list_until("]")
            return self._made(ListOf(tuple(items), token.at))
        if self._take("{"):
            return self._map(token.at)
        raise RuleError(f"a value expected, not {self._shown()}", token.at)

    def _int(self, sign: int) -> Node:
        token = self._token
        digits = token.text.lstrip("0") or "0"
        # Check the length first, as converting hundreds of digits takes long.
        value = sign * int(digits) if len(digits) < 20 else None
        if value is None or not -MAX_INT - 1 <= value <= MAX_INT:
            raise RuleError("this number does not fit into 64 bits", token.at)
        self._next += 1
        return self._made(Literal(value, token.at))

    def _named(self) -> Node:
        token = self._name("a name")
        name = token.text
        if name in ("true", "false"):
            return self._made(Literal(name == "true", token.at))
        if self._take("("):
            if name not in FUNCTIONS:
                raise RuleError(f"there is no function {name}()", token.at)
            argument = self._expression()
            self._expect(")")
            return self._made(FunctionCall(name, argument, token.at))
        if name not in VARIABLES and name not in self._variables:
            raise RuleError(f"there is no variable {name}", token.at)
        return self._made(Variable(name, token.at))

    def _parentheses(self) -> Node:
        closers, doubled = self._closers, 0
        inner = self._next + 1
        while inner in closers and closers[inner] == closers.get(inner - 1, 0) - 1:
            inner += 1
            doubled += 1
        self._next = inner
        node = self._expression()
        for _ in range(doubled + 1):
            self._expect(")")
        return node

    def _list_until(self, closer: str) -> list[Node]:
        items: list[Node] = []
        while not self._take(closer):
            items.append(self._expression())
            if not self._take(","):
                self._expect(closer)
                break
        return items

    def _map(self, at: int) -> Node:
        keys: list[Node] = []
        values: list[Node] = []
        while not self._take("}"):
            keys.append(self._expression())
            self._expect(":")
            values.append(self._expression())
            if not self._take(","):
                self._expect("}")
                break
        return self._made(MapOf(tuple(keys), tuple(values), at))


def _too_deep(at: int) -> RuleError:
    return RuleError(f"the rule is nested more than {MAX_NESTING} deep", at)


def _closers(tokens: list[Token]) -> dict[int, int]:
    """Return for each token that is an opening parenthesis the index of the closing one."""
    closers, opened = {}, []
    for place, token in enumerate(tokens):
        if token.kind is Kind.SIGN and token.text == "(":
            opened.append(place)
        elif token.kind is Kind.SIGN and token.text == ")" and opened:
            closers[opened.pop()] = place
    return closers


def _check_letters(sign: str, left: Node, right: Node) -> None:
    """Reject a comparison of a suit or colour with a letter that no card has (R2).

    Such a comparison is always false, which its author would not notice.
    """
    if sign == "in":
        if isinstance(left, FieldAccess) and isinstance(right, ListOf):
            for item in right.items:
                _check_letter(left, item)
    elif sign in ("==", "!="):
        _check_letter(left, right)
        _check_letter(right, left)


def _check_letter(field: Node, literal: Node) -> None:
    if not isinstance(field, FieldAccess) or not isinstance(literal, Literal):
        return
    letters = _LETTERS.get(field.name)
    if letters is not None and literal.value not in letters:
        among = ", ".join(f'"{letter}"' for letter in letters)
        raise RuleError(f"no card has this {field.name}: it is one of {among}", literal.at)
