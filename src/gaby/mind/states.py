"""Words for the state of a thing: what shows trouble, and which say the opposite of each other."""

from gaby.mind.words import stem, stems

TROUBLE = stems(
    """
    locked suspended expired failed failing failure declined denied disabled revoked overdue unpaid blocked offline
    down degraded exceeded full error errors timeout rejected invalid missing unhealthy critical stale mismatch
    refused crashed crash oomkilled unreachable unavailable inactive deactivated deleted cancelled stopped stuck
    exhausted saturated leak conflict duplicate unauthorized forbidden incident outage broken corrupted aborted
    dropped throttled quarantined unassigned disconnected outdated insufficient bounced breached compromised warning
    restarting evicted lagging delayed
    """
)

_OPPOSITES = """
    enabled/disabled active/inactive active/suspended active/locked active/deactivated active/disabled active/expired
    locked/unlocked online/offline up/down open/closed paid/unpaid paid/overdue valid/invalid valid/expired
    running/stopped succeeded/failed success/failure allowed/denied allowed/blocked allowed/forbidden
    connected/disconnected healthy/unhealthy healthy/degraded available/unavailable reachable/unreachable
    present/missing present/absent encrypted/unencrypted on/off public/private approved/rejected accepted/rejected
    true/false yes/no started/stopped installed/uninstalled full/empty increased/decreased rising/falling before/after
    supported/unsupported required/optional mandatory/optional working/broken delivered/undelivered read/unread
    assigned/unassigned verified/unverified authorized/unauthorized known/unknown resolved/unresolved
    successful/unsuccessful blocked/unblocked included/excluded allow/deny
"""
OPPOSITES = frozenset(
    pair
    for line in _OPPOSITES.split()
    for first, second in [line.split("/")]
    for pair in ((stem(first), stem(second)), (stem(second), stem(first)))
)
"""Both ways round."""
