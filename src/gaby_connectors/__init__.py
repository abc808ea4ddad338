"""Gaby's own connectors: MCP servers, each its own process. They share `sdk` and know nothing of Gaby itself."""
