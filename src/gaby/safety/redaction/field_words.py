"""The vocabulary of fields and sentences: which words, in which languages, say that a secret or a person follows.

Everything is written in small letters and is folded like the texts are, so `contraseña` is also `contrasena`.
"""

from gaby.safety.redaction.normalized_text import FOLDED, lower
from gaby.safety.redaction.spans import Kind


def folded(text: str) -> str:
    return lower(text.translate(FOLDED))


def _words(text: str) -> frozenset[str]:
    return frozenset(folded(text).split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(folded(phrase.strip()) for phrase in text.split(",") if phrase.strip())


PASSWORD_WORDS = _words("""
    password passwd passphrase passcode passwort kennwort losungswort passord lösenord lösenordet adgangskode salasana
    heslo hasło haslo jelszó şifre parolă lozinka geslo wachtwoord contraseña contrasenya senha mdp motdepasse
    palavrapasse keyphrase einmalpasswort zugangscode zugangskennwort пароль парола κωδικός
    パスワード 密码 密碼 暗証番号 비밀번호 סיסמה
""")
"""Words that mean a password and nothing else, alone or at the end of a longer word (`userpassword`)."""

PASSWORD_PHRASES = _phrases("""
    mot de passe, palavra passe, palavra-passe, parola d'ordine, clave de acceso, clave secreta, pass phrase,
    one-time password, code secret, codice segreto, hasło to, haslo to, pin code, pin-code, pin number, security code,
    card code
""")

SHORT_PASSWORD_WORDS = _words("pass pwd pw psw clave parola secret pin otp cvv cvc cvv2 cvc2 csc totp")
"""Short or ambiguous: they count as a whole word that something is assigned to."""

SECRET_KEY_WORDS = _words("api access secret private signing encryption master account shared subscription license")
"""What makes a `key` one that opens something."""

TOKEN_WORDS = _words("token cookie authorization jwt bearer")
PLACE_WORDS = _words("page next continuation pagination cursor sync resume skip prev previous")
"""A token after them says where a list goes on. A model must be able to send it back."""

STATEMENT_WORDS = _words("""
    has is are can may should must needs need requires require allow allows enable enabled disable disabled show hide
    use uses used with num count max min total forgot reset change changed expired expires
""")
"""Before a name they make it a statement about a secret: `has_password`, `last_token`."""

QUIET_ENDINGS = _words(
    "value plain plaintext raw text confirm confirmation again repeat repeated new old hash b64 number no nr"
)
"""After a name they change nothing: `password_confirmation` is a password."""

_NAMES: dict[Kind, str] = {
    "password": "securitycode cardcode verificationcode onetimecode onetimepassword recoverycode backupcode "
    "securityanswer pincode cardpin userpin otpcode smscode mfacode 2facode",
    "api_key": "apikey accesskey apisecret xapikey accountkey sharedkey",
    "token": "setcookie sessionid phpsessid jsessionid sid sessioncookie xauthtoken csrf xsrf",
    "private_key": "privatekey privkey sshkey privatepem secretpem",
    "name": "firstname lastname fullname givenname familyname surname maidenname middlename forename "
    "birthname realname legalname personname customername requestername contactname patientname employeename "
    "cardholdername cardholder accountholder holdername recipientname sendername clientname guestname "
    "vorname nachname familienname vollername prenom nomdefamille nomcomplet nombrecompleto apellido apellidos "
    "primerapellido segundoapellido nomecompleto sobrenome cognome primeironome voornaam achternaam imię imie "
    "nazwisko förnamn efternamn fornavn etternavn etunimi sukunimi имя фамилия 姓名 氏名",
    "birth_date": "dob dateofbirth birthdate birthday bday geburtsdatum geburtstag geburtsdat datenaissance "
    "datedenaissance fechanacimiento fechadenacimiento datadinascita datanascita datadenascimento "
    "datanascimento geboortedatum dataurodzenia födelsedatum fødselsdato",
    "national_id": "ssn socialsecuritynumber socialsecurity nationalid nationalidnumber passportnumber passportno "
    "passport nino nhsnumber pesel bsn cpf cnpj aadhaar aadhar taxid taxnumber taxidnumber tin itin sin tfn "
    "personnummer fodselsnummer fødselsnummer cprnumber cpr hetu curp rfc dni nie nif nir insee codicefiscale "
    "steuerid steueridnr steuernummer sozialversicherungsnummer svnr ahv avs egn cnp rodnecislo driverslicense "
    "driverlicense driverslicensenumber drivinglicence drivinglicense licensenumber idcardnumber idnumber "
    "personalausweisnummer reisepassnummer numerodepasseport identitynumber",
    "phone": "phone phonenumber phoneno mobile mobilephone mobilenumber mobileno cellphone telephone "
    "telephonenumber tel fax faxnumber telefon telefonnummer rufnummer handynummer telefono celular "
    "telefone telefoon mobiel homephone workphone msisdn whatsapp",
    "address": "address street streetaddress streetname addressline1 addressline2 address1 address2 postalcode "
    "zipcode postcode zip plz strasse straße anschrift adresse hausnummer direccion codigopostal endereco "
    "indirizzo adres ulica homeaddress shippingaddress billingaddress mailingaddress",
    "medical_id": "mrn medicalrecordnumber patientid healthplanid medicareid medicarenumber insurancenumber "
    "krankenversichertennummer",
}
EXACT_NAMES: dict[str, Kind] = {folded(name): kind for kind, names in _NAMES.items() for name in names.split()}
"""Whole names, without anything between their words."""

NAME_ENDINGS: tuple[tuple[str, Kind], ...] = (
    ("firstname", "name"),
    ("lastname", "name"),
    ("surname", "name"),
    ("givenname", "name"),
    ("familyname", "name"),
    ("dateofbirth", "birth_date"),
    ("birthdate", "birth_date"),
    ("dob", "birth_date"),
    ("ssn", "national_id"),
    ("phonenumber", "phone"),
    ("phone", "phone"),
    ("apikey", "api_key"),
    ("privatekey", "private_key"),
    ("passportnumber", "national_id"),
)
"""Endings that tell the kind whatever stands before them: `customer_dob`."""

NUMERIC_SECRETS = _words("pin cvv cvc cvv2 cvc2 csc otp totp passcode pincode userpin cardpin") | {
    "pin code", "pin-code", "pin number", "security code", "card code",
}  # fmt: skip
"""After them a few digits alone are the secret."""

ABSENT = _words("""
    null none nil true false undefined required optional string redacted hidden masked empty yes no not missing invalid
    incorrect wrong expired reset forgotten unknown blank changed unset default disabled enabled n/a na tbd todo
    changeme? obligatoire obligatorio obligatoria incorrecta incorrecto expiré abgelaufen falsch verlopen scaduta
    must should cannot can will was has is
""")
"""What may stand where a secret would, and is none."""
