"""What is found in Python."""

from __future__ import annotations

import pytest

CASES = [
    pytest.param(
        "python",
        '''
        class Flask(App, metaclass=Meta):
            """Text."""
            name = "no definition"

            def route(self, rule: str, **options):
                def inner():
                    pass

            @property
            def url(self) -> str: ...

            @url.setter
            def url(self, value): ...

            @classmethod
            async def make(cls): ...

            @staticmethod
            def plain(a, b=1): ...

            def _own(self: T, a): ...
            def __init__(self): ...

            class Meta:
                def deep(self): ...


        class _Hidden:
            def run(self): ...


        async def fetch(url, *, timeout: float = 1.5) -> bytes:
            class Local:
                def lost(self): ...


        @decorated(with_=arguments)
        def wrapped(): ...
        ''',
        """
        1 class Flask | class Flask(App, metaclass=Meta)
        5 method Flask.route | def route(rule: str, **options)
        10 method Flask.url | def url() -> str
        16 method Flask.make | async def make()
        19 method Flask.plain | def plain(a, b=1)
        21 -method Flask._own | def _own(a)
        22 -method Flask.__init__ | def __init__()
        24 class Flask.Meta | class Meta
        25 method Meta.deep | def deep()
        28 -class _Hidden | class _Hidden
        29 -method _Hidden.run | def run()
        32 function fetch | async def fetch(url, *, timeout: float = 1.5) -> bytes
        38 function wrapped | def wrapped()
        """,
        id="python: functions, classes and their methods",
    ),
    pytest.param(
        "python",
        """
        def first(
            a: int,  # one, two
            b: str = "# none",
            *,
            c: dict[str, int] = {},
        ) -> None:  # done
            pass


        class Second(
            Base,
        ):
            pass
        """,
        """
        1 function first | def first(a: int, b: str = "# none", *, c: dict[str, int] = {}) -> None
        10 class Second | class Second(Base)
        """,
        id="python: a signature over several lines, with comments",
    ),
    pytest.param(
        "python",
        """
        __all__ = ["first"]
        __version__ = "1"
        LIMIT = 10
        limit: int = 10
        unset: str
        first, second = 1, 2
        a = b = 3
        object.attribute = 1
        counter += 1
        type Pair[T] = tuple[T, T]
        type Name = str
        Alias: TypeAlias = dict[str, int]
        """,
        """
        2 -variable __version__ | __version__
        3 constant LIMIT | LIMIT
        4 variable limit | limit: int
        5 variable unset | unset: str
        6 variable first | first
        6 variable second | second
        7 variable a | a
        10 type Pair | type Pair[T] = tuple[T, T]
        11 type Name | type Name = str
        12 variable Alias | Alias: TypeAlias
        """,
        id="python: names of the module",
    ),
    pytest.param(
        "python",
        """
        if TYPE_CHECKING:
            from x import Y
            T = TypeVar("T")
            def checked(): ...
        elif other:
            def other(): ...
        else:
            ELSE = 1
        try:
            import fast
            speed = fast.speed
        except ImportError:
            def speed(): ...
            fallback = None
        finally:
            LAST = 1
        with suppress(Error):
            inside = 1
        for loop in names:
            lost = 1
        if __name__ == "__main__":
            main()
        """,
        """
        3 variable T | T
        4 function checked | def checked()
        6 function other | def other()
        8 constant ELSE | ELSE
        11 variable speed | speed
        13 function speed | def speed()
        14 variable fallback | fallback
        16 constant LAST | LAST
        18 variable inside | inside
        """,
        id="python: what is guarded",
    ),
    pytest.param(
        "python",
        """
        def first[T: (int, str)](items: list[T]) -> T: ...
        class Box[T](Base[T]): ...
        """,
        """
        1 function first | def first[T: (int, str)](items: list[T]) -> T
        2 class Box | class Box[T](Base[T])
        """,
        id="python: generics",
    ),
    pytest.param(
        "python",
        """
        @overload
        def get(key: str) -> str: ...
        @typing.overload  # the default is used
        @deprecated(
            "define no default"
        )
        async def get(key: str, default: T) -> str | T: ...
        def get(key, default=None):
            return default

        class Store:
            @t.overload
            @classmethod
            def open(cls, path: str) -> Store: ...
            @t.overload
            @classmethod
            def open(cls) -> None: ...
            @classmethod
            def open(cls, path=None): ...
            @overload
            def close(self) -> int: ...

            def flush(self): ...

        @overload
        def only(a: int) -> int: ...
        @overload
        def only(a: str) -> str: ...

        @overloaded
        def marked(a: int): ...
        def marked(b): ...
        """,
        """
        8 function get | def get(key, default=None)
        11 class Store | class Store
        19 method Store.open | def open(path=None)
        21 method Store.close | def close() -> int
        23 method Store.flush | def flush()
        26 function only | def only(a: int) -> int
        31 function marked | def marked(a: int)
        """,
        id="python: what implements overloads",
    ),
]
