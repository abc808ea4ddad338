"""The MCP host: one supervised server per connector and workspace."""
