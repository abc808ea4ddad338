"""Building the connectors' host and everything about tools out of the settings."""

from gaby.app.services import Services
from gaby.mcp import HostLimits, McpHost
from gaby.safety import parse_profile
from gaby.settings import Settings
from gaby.tools import Tools, ToolSettings, build_tools
from gaby.tools.device_code import OAuthHttp
from gaby.tools.tokens import TokenRefresher


def build_host(services: Services) -> McpHost:
    limits = _host_limits(services.settings)
    return McpHost(services.clock, services.random, services.metrics, limits, services.spill)


def build_tools_service(services: Services) -> Tools:
    tools = build_tools(services.tool_dependencies, services.host, services.spill, _tool_settings(services.settings))
    oauth = OAuthHttp(services.http)
    tools.launcher.renewed_by(TokenRefresher(services.database, services.vault, services.clock, oauth))
    return tools


def _host_limits(settings: Settings) -> HostLimits:
    patience = settings.connectors
    return HostLimits(
        start_timeout=patience.start_timeout.total_seconds(),
        call_deadline=patience.call_deadline.total_seconds(),
        idle_stop=patience.idle_stop.total_seconds(),
        ping_every=patience.check_every.total_seconds(),
        cool_down=patience.put_aside.total_seconds(),
    )


def _tool_settings(settings: Settings) -> ToolSettings:
    safety = settings.safety
    folder = settings.home / "connectors"
    return ToolSettings(
        profile=parse_profile(safety.profile),
        approval_ttl=safety.approval_ttl,
        sitting=safety.sitting,
        folder=folder,
        inside=safety.inside or "",
        reads_per_minute=settings.connectors.reads_per_minute,
        writes_per_minute=settings.connectors.writes_per_minute,
    )
