"""The tools that the desk's assistant is given, in the order in which it sees them."""

from examples.support_desk.tools.addresses import update_address
from examples.support_desk.tools.customers import find_customer
from examples.support_desk.tools.logs import search_log
from examples.support_desk.tools.orders import export_orders_csv, get_order, list_orders
from examples.support_desk.tools.parcels import track_parcel
from examples.support_desk.tools.policies import read_policy
from examples.support_desk.tools.products import get_product, search_products
from examples.support_desk.tools.rates import convert_currency
from examples.support_desk.tools.refunds import create_refund
from examples.support_desk.tools.stock import check_stock, read_stock_export, reserve_stock
from examples.support_desk.tools.tickets import get_ticket, update_ticket

__all__ = [
    "check_stock",
    "convert_currency",
    "create_refund",
    "export_orders_csv",
    "find_customer",
    "get_order",
    "get_product",
    "get_ticket",
    "list_orders",
    "read_policy",
    "read_stock_export",
    "reserve_stock",
    "search_log",
    "search_products",
    "track_parcel",
    "update_address",
    "update_ticket",
]


def definitions() -> list[dict[str, object]]:
    """The tools as the model is told about them."""
    return [
        find_customer.schema(),
        list_orders.schema(),
        get_order.schema(),
        update_address.schema(),
        export_orders_csv.schema(),
        search_products.schema(),
        get_product.schema(),
        check_stock.schema(),
        read_stock_export.schema(),
        reserve_stock.schema(),
        track_parcel.schema(),
        create_refund.schema(),
        convert_currency.schema(),
        get_ticket.schema(),
        update_ticket.schema(),
        read_policy.schema(),
        search_log.schema(),
    ]
