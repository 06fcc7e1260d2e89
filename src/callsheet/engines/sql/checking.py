"""What a query may say, told from its syntax tree: one SELECT over the tables at hand, and nothing that is not in them.

What is not known here is refused, so that what a later version of the engine can do beside does not come in by itself.
The engine's own locks hold whatever is overlooked; see `answering`.
"""

from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

Tree: TypeAlias = dict[str, Any]
"""A node of the engine's syntax tree, as its JSON says it."""

LONGEST = 4_000
"""Characters of a query."""

ONLY = "only one SELECT is answered, which may begin with WITH; nothing can be changed, loaded, set or listed"

_NODES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_SOURCES = frozenset({"BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EMPTY", "EXPRESSION_LIST"})
_EXPRESSIONS = frozenset(
    [
        "BETWEEN",
        "CASE",
        "CAST",
        "COLLATE",
        "COLUMN_REF",
        "COMPARISON",
        "CONJUNCTION",
        "CONSTANT",
        "FUNCTION",
        "LAMBDA",
        "LAMBDA_REF",
        "OPERATOR",
        "POSITIONAL_REFERENCE",
        "STAR",
        "SUBQUERY",
        "TYPE",
        "WINDOW",
    ]
)
_ROWS_FROM = frozenset({"generate_series", "json_each", "json_tree", "range", "regexp_split_to_table", "unnest"})
"""Functions that make rows of what they are given."""
_COUNTING = frozenset({"generate_series", "range"})

_CLOCK = frozenset(
    [
        "ago",
        "current_date",
        "current_localtime",
        "current_localtimestamp",
        "current_time",
        "current_timestamp",
        "get_current_time",
        "get_current_timestamp",
        "localtime",
        "localtimestamp",
        "now",
        "pg_conf_load_time",
        "pg_postmaster_start_time",
        "today",
        "transaction_timestamp",
    ]
)
_CHANCE = frozenset(["gen_random_uuid", "random", "setseed", "uuid", "uuidv4", "uuidv7"])
_SURROUNDINGS = frozenset(
    [
        "add_parquet_key",
        "current_catalog",
        "current_connection_id",
        "current_database",
        "current_query",
        "current_query_id",
        "current_role",
        "current_schema",
        "current_schemas",
        "current_setting",
        "current_transaction_id",
        "current_user",
        "currval",
        "error",
        "get_block_size",
        "getenv",
        "getvariable",
        "in_search_path",
        "inet_client_addr",
        "inet_client_port",
        "inet_server_addr",
        "inet_server_port",
        "json_deserialize_sql",
        "json_serialize_plan",
        "json_serialize_sql",
        "nextval",
        "pg_sleep",
        "pg_typeof_oid",
        "session_user",
        "set_config",
        "setval",
        "sleep_ms",
        "stats",
        "txid_current",
        "user",
        "vector_type",
        "version",
        "write_log",
    ]
)


def refusal(tree: Tree, tables: Collection[str], columns: Collection[str], volatile: Collection[str]) -> str | None:
    """Why a parsed query is not answered; None: it is.

    `tree` is what the engine makes of the text, `tables` and `columns` are the names there are, `volatile` the
    functions of which the engine says that they differ from call to call; all names in lower case.
    """
    statements = tree.get("statements")
    if tree.get("error") or not isinstance(statements, list):
        return ONLY
    if len(statements) != 1:
        return f"{ONLY}; there are {len(statements)} statements"
    nodes = list(_walk(statements[0]))
    known = {name.lower() for node in nodes for name in _defined(node)} | set(tables)
    for node in nodes:
        found = _of_node(node, known, columns, volatile)
        if found is not None:
            return found
    return None


def _walk(tree: object) -> Iterator[Tree]:
    """All nodes, without recursion."""
    stack = [tree]
    while stack:
        top = stack.pop()
        if isinstance(top, dict):
            yield top
            stack.extend(top.values())
        elif isinstance(top, list):
            stack.extend(top)


def _defined(node: Tree) -> list[str]:
    """The names of the common table expressions that a node defines."""
    held = node.get("cte_map")
    entries = held.get("map") if isinstance(held, dict) else None
    names = [str(entry.get("key")) for entry in entries or () if isinstance(entry, dict)]
    return [*names, *([str(node["cte_name"])] if "cte_name" in node else [])]


def _of_node(node: Tree, known: Collection[str], columns: Collection[str], volatile: Collection[str]) -> str | None:
    kind, group = str(node.get("type", "")), node.get("class")
    if kind.endswith("_NODE") and kind not in _NODES:
        return ONLY
    if "sample" in node:
        if node["sample"] is not None:
            return "a sample differs from time to time; use LIMIT"
        if "select_list" not in node and kind not in _SOURCES:
            return ONLY
    if kind == "BASE_TABLE":
        return _of_table(node, known)
    if kind == "TABLE_FUNCTION":
        return _of_rows(node)
    if isinstance(group, str):
        return _of_expression(group, node, columns, volatile)
    return None


def _of_table(node: Tree, known: Collection[str]) -> str | None:
    path = [node.get("catalog_name"), node.get("schema_name"), node.get("table_name")]
    name = ".".join(str(part) for part in path if part)
    if name.lower() not in known or node.get("at_clause") is not None:
        return f"there is no table {_short(name)}"
    return None


def _of_rows(node: Tree) -> str | None:
    inner = node.get("function")
    name = str(inner.get("function_name", "")).lower() if isinstance(inner, dict) else ""
    if name not in _ROWS_FROM:
        return (
            f"rows cannot come from {_short(name)}; they come from the tables, or from {', '.join(sorted(_ROWS_FROM))}"
        )
    return None


def _of_expression(group: str, node: Tree, columns: Collection[str], volatile: Collection[str]) -> str | None:
    if group == "PARAMETER":
        return "there are no values for ? and $1; write the value, or put the name of a column in double quotes"
    if group not in _EXPRESSIONS:
        return f"an expression of kind {group.lower()} is not answered"
    if group == "COLUMN_REF":
        path = node.get("column_names")
        name = str(path[0]).lower() if isinstance(path, list) and len(path) == 1 else ""
        return _of_function(name, ()) if name not in columns else None
    if group in ("FUNCTION", "WINDOW"):
        name = str(node.get("function_name", "")).lower()
        given = node.get("arguments", node.get("children"))
        if name == "age" and isinstance(given, list) and len(given) == 1:
            return _of_function("now", ())
        return _of_function(name, volatile)
    return None


def _of_function(name: str, volatile: Collection[str]) -> str | None:
    if name in _CLOCK:
        return "there is no clock here, so that a query says the same each time; write the date"
    if name in _CHANCE:
        return "there is no chance here, so that a query says the same each time"
    if name in _SURROUNDINGS or name in volatile:
        return f"{_short(name)} cannot be asked here"
    return None


def _short(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:60] + "…")


# ---------------------------------------------------------------------------------------------- order


def put_in_order(tree: Tree, places: list[Any], tables: Collection[str]) -> None:
    """Change a query that `refusal` found nothing against so that its rows come in a total order.

    Rows that its own ORDER BY leaves equal follow each other by all columns, from the first on; `places` are these,
    as items of an ORDER BY. Without ORDER BY, rows that come straight from one table keep its order.
    """
    node = _last(tree["statements"][0]["node"])
    modifiers = node["modifiers"]
    given = next((one for one in modifiers if one["type"] == "ORDER_MODIFIER"), None)
    if given is None:
        if not _straight(node, tables):
            before = next((at for at, one in enumerate(modifiers) if "LIMIT" in one["type"]), len(modifiers))
            modifiers.insert(before, {"type": "ORDER_MODIFIER", "orders": places})
    elif not _is_all(given["orders"]):
        given["orders"] = [*given["orders"], *places]


def _is_all(orders: list[Tree]) -> bool:
    """Whether it is ORDER BY ALL, which is a total order, and is another one where anything stands beside it."""
    first = orders[0]["expression"]
    return len(orders) == 1 and first.get("class") == "STAR" and first.get("expr") is None


def _last(node: Tree) -> Tree:
    while node.get("type") == "CTE_NODE" and isinstance(node.get("child"), dict):
        node = node["child"]
    return node


def _straight(node: Tree, tables: Collection[str]) -> bool:
    """Whether each row of the answer is made of one row of one table, one after the other."""
    source = node.get("from_table")
    if node.get("type") != "SELECT_NODE" or not isinstance(source, dict):
        return False
    name = str(source.get("table_name", "")).lower()
    own = name in tables and name not in {name.lower() for name in _defined(node)}
    function = source.get("function")
    counting = isinstance(function, dict) and function.get("function_name") in _COUNTING
    if not (own if source.get("type") == "BASE_TABLE" else counting):
        return False
    if any(node.get(part) for part in ("group_expressions", "group_sets", "qualify")):
        return False
    if any("LIMIT" not in one["type"] for one in node["modifiers"]):
        return False
    parts = _walk([node["select_list"], node["where_clause"]])
    aside = any(part.get("class") in ("SUBQUERY", "WINDOW") for part in parts)
    return not aside and node.get("aggregate_handling") == "STANDARD_HANDLING"
