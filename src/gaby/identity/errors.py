"""What can go wrong with people and their keys."""

from gaby.kernel.errors import BadRequest, Conflict, Forbidden, Invalid, NotFound, TooManyRequests, Unauthenticated


class WrongCredentials(Unauthenticated):
    """The e-mail address or the password is wrong. Try again, or ask an admin to set a new password."""


class KeyNotAccepted(Unauthenticated):
    """The API key is unknown, expired or revoked. Create a new one with `gaby key create`."""


class SignInEnded(Unauthenticated):
    """You are not signed in any more. Sign in again."""


class TokenMissing(Forbidden):
    """The X-CSRF-Token header is missing or wrong. Load the session again and send the token it gives."""


class LinkNotAccepted(NotFound):
    """This link is not valid: it was used already, has expired, or was never issued. Ask for a new one."""


class AlreadySetUp(Conflict):
    """This installation has its first admin already. Sign in, or let an admin invite you."""


class LastOwner(Conflict):
    """A workspace needs an owner. Make somebody else an owner first."""


class NotYours(Forbidden):
    """You cannot give or take a role above your own. Ask an owner."""


class WeakPassword(Invalid):
    """The password is too short or too common. Use at least 12 characters; a few words in a row are good."""


class TooManySignIns(TooManyRequests):
    """Too many failed sign-ins. Wait a quarter of an hour, then try again."""


class MalformedKey(BadRequest):
    """That is not an API key. Keys look like gaby-PREFIX.SECRET."""
