"""What is used of `ldap3`. The library still calls its own dependency by old names, which is not ours to hear about."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from ldap3 import (
        MODIFY_ADD,
        MODIFY_DELETE,
        MODIFY_REPLACE,
        NONE,
        SUBTREE,
        Connection,
        Server,
        Tls,
    )
    from ldap3.core.exceptions import (
        LDAPAttributeOrValueExistsResult,
        LDAPBindError,
        LDAPCommunicationError,
        LDAPException,
        LDAPInsufficientAccessRightsResult,
        LDAPInvalidCredentialsResult,
        LDAPNoSuchAttributeResult,
        LDAPSizeLimitExceededResult,
        LDAPSocketOpenError,
    )
    from ldap3.utils.conv import escape_filter_chars

__all__ = [
    "MODIFY_ADD",
    "MODIFY_DELETE",
    "MODIFY_REPLACE",
    "NONE",
    "SUBTREE",
    "Connection",
    "LDAPAttributeOrValueExistsResult",
    "LDAPBindError",
    "LDAPCommunicationError",
    "LDAPException",
    "LDAPInsufficientAccessRightsResult",
    "LDAPInvalidCredentialsResult",
    "LDAPNoSuchAttributeResult",
    "LDAPSizeLimitExceededResult",
    "LDAPSocketOpenError",
    "Server",
    "Tls",
    "escape_filter_chars",
]
