"""Whether a call can be made now: its connector answers, shows the accepted tools, and is below its rate limit."""

from dataclasses import dataclass
from uuid import UUID

from gaby.kernel.actors import system_actor
from gaby.kernel.database import Database
from gaby.kernel.metrics import Metrics
from gaby.mcp import ConnectorAuthExpired, ConnectorError, ConnectorUnavailable, McpHost
from gaby.safety import Verdict, rate_reason
from gaby.tools.catalogue import ToolEntry
from gaby.tools.connectors import Connectors
from gaby.tools.decided_calls import DecidedCall
from gaby.tools.launches import Launcher
from gaby.tools.rates import RateKey, RateLimiter
from gaby.tools.runs import Failed, RetryLater, Run
from gaby.tools.tokens import OAuthGrant
from gaby_connectors.sdk.manifest import ErrorKind

CHANGED = Verdict("deny", "definition.changed", "The connector's tools are not those that were accepted.")


@dataclass(frozen=True)
class AdmittedCall:
    """It is counted, so it is made now."""

    grant: OAuthGrant | None


@dataclass(frozen=True)
class ConnectorNotReady:
    """The connector cannot be used. With the grant that it had, if any."""

    failed: Failed
    grant: OAuthGrant | None


@dataclass(frozen=True)
class Admission:
    database: Database
    metrics: Metrics
    host: McpHost
    launcher: Launcher
    connectors: Connectors
    rates: RateLimiter

    async def admit(self, decided: DecidedCall, run: Run) -> AdmittedCall | ConnectorNotReady | RetryLater | Verdict:
        """A verdict is a refusal: only a server that shows exactly the accepted tools is called."""
        entry = decided.entry
        key = entry.connector.key
        grant: OAuthGrant | None = None
        try:
            grant = await self.launcher.ready(key, decided.snapshot.epoch)
            shown = await self.host.definitions(key)
        except ConnectorError as error:
            failed = failure_of(error)
            return failed if isinstance(failed, RetryLater) else ConnectorNotReady(failed, grant)
        if shown.fingerprint != entry.connector.fingerprint:
            actor = system_actor("connector host", run.workspace_id)
            async with self.database.write(run.workspace_id) as session:
                await self.connectors.observe(session, actor, key.connector, shown)
            return CHANGED
        if self.rates.take(_key(entry, run), _most(entry), decided.call.id) > 0:
            return self.put_off(decided, run)
        return AdmittedCall(grant)

    def put_off(self, decided: DecidedCall, run: Run) -> RetryLater:
        """A run that comes back by itself gets a place in the queue. A person who tries again does not need one, and
        a place that nobody will take would only make everybody after it wait longer."""
        entry = decided.entry
        wait = self.rates.queue(_key(entry, run), _most(entry), decided.call.id, run.most_wait)
        return RetryLater("rate_limit", rate_reason(entry.facts, entry.connector.policy), wait, entry.facts.connector)

    def last_minute(self, entry: ToolEntry, run: Run) -> int:
        return self.rates.last_minute(_key(entry, run))

    def seconds_until_free(self, entry: ToolEntry, run: Run, call: UUID) -> float:
        return self.rates.seconds_until_free(_key(entry, run), _most(entry), call)

    def count(self, later: RetryLater, run: Run) -> None:
        self.metrics.tool_waits.labels(str(run.workspace_id), later.connector, later.rule).inc()


def _key(entry: ToolEntry, run: Run) -> RateKey:
    return RateKey(run.workspace_id, entry.facts.connector, entry.facts.access)


def _most(entry: ToolEntry) -> int:
    return max(1, entry.connector.policy.per_minute(entry.facts.access))


def failure_of(error: ConnectorError) -> Failed | RetryLater:
    """Of an error that says that nothing was done."""
    if isinstance(error, ConnectorAuthExpired):
        return Failed(ErrorKind.AUTH_EXPIRED, error.message)
    if isinstance(error, ConnectorUnavailable) and error.retry_after is not None:
        return RetryLater("connector.unavailable", error.message, error.retry_after, error.connector)
    kind = ErrorKind.TRANSIENT if isinstance(error, ConnectorUnavailable) else ErrorKind.PERMANENT
    return Failed(kind, error.message)
