"""The MCP host: connectors' servers, started by use, watched over, and never believed. Does not load the MCP SDK."""

from gaby.mcp.definitions import Hints, ServerDefinitions, ToolDefinition, read_definitions
from gaby.mcp.diff import Change, ChangeKind, difference
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
from gaby.mcp.results import Answered, Outcome, OutcomeUnknown
from gaby.mcp.server import ServerStatus
from gaby.mcp.spill import Cipher, SpillFolder, SpillPointer
from gaby.mcp.states import Move, State

__all__ = [
    "Answered",
    "Change",
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
    "DefinitionsRefused",
    "Hints",
    "HostLimits",
    "HttpLaunch",
    "ImpossibleMove",
    "InProcessLaunch",
    "Launch",
    "McpHost",
    "Move",
    "NoSuchPage",
    "OnDefinitions",
    "OnTransition",
    "Outcome",
    "OutcomeUnknown",
    "ResultTooLarge",
    "ServerDefinitions",
    "ServerKey",
    "ServerStatus",
    "SpillDamaged",
    "SpillFailed",
    "SpillFolder",
    "SpillNotFound",
    "SpillPointer",
    "State",
    "StdioLaunch",
    "ToolDefinition",
    "difference",
    "read_definitions",
]
