"""Fields that are personal or secret whatever they hold: by their name, or because a tool's hints say so."""

import re
from collections.abc import Mapping
from functools import lru_cache

from gaby.safety.redaction.spans import Kind

_NAMES: dict[Kind, str] = {
    "password": """password passwd pwd passphrase passcode secret clientsecret secretkey secretaccesskey currentpassword
        newpassword oldpassword userpassword dbpassword pin otp cvv cvc""",
    "api_key": "apikey accesskey apisecret apitoken xapikey",
    "token": "token accesstoken refreshtoken idtoken authtoken sessiontoken authorization cookie setcookie bearertoken",
    "private_key": "privatekey",
    "name": "firstname lastname fullname givenname familyname surname maidenname middlename",
    "birth_date": "dob dateofbirth birthdate birthday",
    "national_id": "ssn socialsecuritynumber nationalid passportnumber nino pesel bsn cpf aadhaar taxid",
    "phone": "phone phonenumber mobile mobilephone mobilenumber cellphone telephone fax",
    "address": "address street streetaddress addressline1 addressline2 postalcode zipcode postcode zip",
    "medical_id": "mrn medicalrecordnumber patientid healthplanid",
}
_KIND_OF: dict[str, Kind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_PLAIN = re.compile(r"[^a-z0-9]+")

Path = tuple[str, ...]


@lru_cache(maxsize=4096)
def kind_of_field(name: str) -> Kind | None:
    """What a field of this name holds: `firstName`, `first_name` and `First-Name` are the same."""
    if len(name) > 40:
        return None
    return _KIND_OF.get(_PLAIN.sub("", name.lower()))


class Hints:
    """`customer.notes` is that field; in `orders.*.address` the star is any one step; `nickname` is meant anywhere."""

    def __init__(self, paths: Mapping[str, Kind]) -> None:
        self._anywhere: dict[str, Kind] = {}
        self._paths: list[tuple[Path, Kind]] = []
        for path, kind in paths.items():
            steps = tuple(path.split("."))
            if len(steps) == 1:
                self._anywhere[path] = kind
            else:
                self._paths.append((steps, kind))

    def __bool__(self) -> bool:
        return bool(self._anywhere or self._paths)

    def kind_at(self, path: Path) -> Kind | None:
        if path and path[-1] in self._anywhere:
            return self._anywhere[path[-1]]
        return next((kind for steps, kind in self._paths if _fits(steps, path)), None)


def _fits(steps: Path, path: Path) -> bool:
    return len(steps) == len(path) and all(step in {"*", given} for step, given in zip(steps, path, strict=True))


NO_HINTS = Hints({})
