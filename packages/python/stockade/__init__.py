"""Defence in depth for AI agents: typed clients of `stockade serve`, and the program itself.

    from stockade import Stockade

    with Stockade() as stockade:
        print(stockade.scan(text=skill)["worst"])
        print(stockade.command_evaluate(command="git status && rm -rf /")["action"])

`AsyncStockade` is the same for asyncio. The types of parameters and results are in this module under their names.
"""

from ._asyncio import AsyncExecStream, AsyncStockade
from ._binary import find_binary
from ._client import ExecStream, Stockade
from ._connection import NotificationHandler, OutputPiece
from ._errors import (
    BinaryNotFoundError,
    ClosedError,
    ConnectionLostError,
    ProtocolError,
    RequestTimeoutError,
    ServerError,
    StockadeError,
    UnsendableError,
    VersionError,
)
from ._protocol import *
from ._protocol import VERSION as __version__
from ._protocol import __all__ as _protocol_all

__all__ = [
    "AsyncExecStream",
    "AsyncStockade",
    "BinaryNotFoundError",
    "ClosedError",
    "ConnectionLostError",
    "ExecStream",
    "NotificationHandler",
    "OutputPiece",
    "ProtocolError",
    "RequestTimeoutError",
    "ServerError",
    "Stockade",
    "StockadeError",
    "UnsendableError",
    "VersionError",
    "__version__",
    "find_binary",
]
__all__ += _protocol_all
