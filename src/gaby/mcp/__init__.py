"""The MCP host: connectors' servers, started by use, watched over, and never believed. Does not load the MCP SDK."""

from typing import TYPE_CHECKING

from gaby.kernel.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from gaby.mcp.definitions import ServerDefinitions, ToolDefinition, ToolHints, read_definitions
    from gaby.mcp.diff import ChangeKind, DefinitionChange, difference
    from gaby.mcp.errors import (
        ConnectorAuthExpired,
        ConnectorCommandNotFound,
        ConnectorCrashed,
        ConnectorDegraded,
        ConnectorError,
        ConnectorProtocolError,
        ConnectorShutDown,
        ConnectorStartFailed,
        ConnectorStartTimedOut,
        ConnectorTimedOut,
        ConnectorUnavailable,
        ConnectorUnknown,
        DefinitionsRefused,
        ImpossibleMove,
        NoSuchPage,
        ResultTooLarge,
        SpillDamaged,
        SpillFailed,
        SpillNotFound,
    )
    from gaby.mcp.host import McpHost
    from gaby.mcp.launch import HttpLaunch, InProcessLaunch, Launch, ServerKey, StdioLaunch
    from gaby.mcp.limits import HostLimits
    from gaby.mcp.listeners import OnDefinitions, OnTransition
    from gaby.mcp.results import Outcome, OutcomeUnknown, ToolCallResult
    from gaby.mcp.server import ServerStatus
    from gaby.mcp.spill import Cipher, SpillFolder, SpillPointer
    from gaby.mcp.states import ServerState, StateChange

__all__ = [
    "ChangeKind",
    "Cipher",
    "ConnectorAuthExpired",
    "ConnectorCommandNotFound",
    "ConnectorCrashed",
    "ConnectorDegraded",
    "ConnectorError",
    "ConnectorProtocolError",
    "ConnectorShutDown",
    "ConnectorStartFailed",
    "ConnectorStartTimedOut",
    "ConnectorTimedOut",
    "ConnectorUnavailable",
    "ConnectorUnknown",
    "DefinitionChange",
    "DefinitionsRefused",
    "HostLimits",
    "HttpLaunch",
    "ImpossibleMove",
    "InProcessLaunch",
    "Launch",
    "McpHost",
    "NoSuchPage",
    "OnDefinitions",
    "OnTransition",
    "Outcome",
    "OutcomeUnknown",
    "ResultTooLarge",
    "ServerDefinitions",
    "ServerKey",
    "ServerState",
    "ServerStatus",
    "SpillDamaged",
    "SpillFailed",
    "SpillFolder",
    "SpillNotFound",
    "SpillPointer",
    "StateChange",
    "StdioLaunch",
    "ToolCallResult",
    "ToolDefinition",
    "ToolHints",
    "difference",
    "read_definitions",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "definitions": ("ServerDefinitions", "ToolDefinition", "ToolHints", "read_definitions"),
        "diff": ("ChangeKind", "DefinitionChange", "difference"),
        "errors": (
            "ConnectorAuthExpired",
            "ConnectorCommandNotFound",
            "ConnectorCrashed",
            "ConnectorDegraded",
            "ConnectorError",
            "ConnectorProtocolError",
            "ConnectorShutDown",
            "ConnectorStartFailed",
            "ConnectorStartTimedOut",
            "ConnectorTimedOut",
            "ConnectorUnavailable",
            "ConnectorUnknown",
            "DefinitionsRefused",
            "ImpossibleMove",
            "NoSuchPage",
            "ResultTooLarge",
            "SpillDamaged",
            "SpillFailed",
            "SpillNotFound",
        ),
        "host": ("McpHost",),
        "launch": ("HttpLaunch", "InProcessLaunch", "Launch", "ServerKey", "StdioLaunch"),
        "limits": ("HostLimits",),
        "listeners": ("OnDefinitions", "OnTransition"),
        "results": ("Outcome", "OutcomeUnknown", "ToolCallResult"),
        "server": ("ServerStatus",),
        "spill": ("Cipher", "SpillFolder", "SpillPointer"),
        "states": ("ServerState", "StateChange"),
    },
)
