"""What can go wrong with people and their keys."""

from gaby.kernel.errors import BadRequest, Conflict, Forbidden, Invalid, NotFound, TooManyRequests, Unauthenticated


class WrongCredentials(Unauthenticated):
    """The e-mail address or the password is wrong, or the account is known in another workspace. Whoever joined with an
    invitation signs in with the name of that workspace; an account made on the machine needs none."""


class KeyNotAccepted(Unauthenticated):
    """The API key is unknown, expired or revoked. Create a new one with `gaby key create`."""


class SignInEnded(Unauthenticated):
    """You are not signed in any more. Sign in again."""


class TokenMissing(Forbidden):
    """The X-CSRF-Token header is missing or wrong. Load the session again and send the token it gives."""


class SentByAnotherSite(Forbidden):
    """This form was sent by a page of another site. Open the form at Gaby's own address and send it from there. If you
    did, the installation's GABY_SERVER_PUBLIC_URL is not the address in your browser."""


class LinkNotAccepted(NotFound):
    """This link is not valid: it was used already, has expired, or was never issued. Ask for a new one."""


class AlreadySetUp(Conflict):
    """This installation has its first admin already. Sign in, or let an admin invite you."""


class LastOwner(Conflict):
    """A workspace needs an owner. Make somebody else an owner first."""


class NotYours(Forbidden):
    """You cannot give or take a role that holds more than you do. Ask an owner. A key needs every scope of the role,
    and never makes or unmakes owners."""


class WeakPassword(Invalid):
    """The password is too short or too common. Use at least 12 characters; a few words in a row are good."""


class TooManySignIns(TooManyRequests):
    """Too many failed sign-ins. Wait a quarter of an hour, then try again."""


class AccountExists(Conflict):
    """This workspace has an account for this address already. Choose "I have an account" and give its password."""


class MalformedKey(BadRequest):
    """That is not an API key. Keys look like gaby-PREFIX.SECRET."""
