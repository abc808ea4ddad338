"""The check rules of national identity numbers. Each takes the bare digits and capital letters."""

_NINO_FIRST = "ABCEGHJKLMNOPRSTWXYZ"
_NINO_SECOND = "ABCEGHJKLMNPRSTWXYZ"
_NINO_NEVER = {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_FISCAL_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16,
         10, 22, 25, 24, 23),
        strict=True,
    )
)  # fmt: skip
_VERHOEFF_MULTIPLY = (
    "0123456789",
    "1234067895",
    "2340178956",
    "3401289567",
    "4012395678",
    "5987604321",
    "6598710432",
    "7659821043",
    "8765932104",
    "9876543210",
)
_VERHOEFF_PERMUTE = (
    "0123456789",
    "1576283094",
    "5803796142",
    "8916043527",
    "9453126870",
    "4286573901",
    "2793806415",
    "7046913258",
)


def has_valid_ssn(digits: str) -> bool:
    """United States: no area 000, 666 or 9xx, no group 00, no serial 0000."""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and area[0] != "9" and group != "00" and serial != "0000"


def has_valid_nino(text: str) -> bool:
    """United Kingdom: the letters that are never given."""
    return text[0] in _NINO_FIRST and text[1] in _NINO_SECOND and text[:2] not in _NINO_NEVER


def has_valid_tax_id(digits: str) -> bool:
    """Germany: among the first ten digits exactly one comes twice or three times; ISO 7064 mod 11, 10."""
    repeated = [count for count in map(digits[:10].count, set(digits[:10])) if count > 1]
    if digits[0] == "0" or len(repeated) != 1 or repeated[0] > 3:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[10])


def has_valid_nir(text: str) -> bool:
    """France: sex, month, and the key that completes 97. Corsica's 2A and 2B count as 19 and 18."""
    number = text[:13].replace("2A", "19").replace("2B", "18")
    month = int(number[3:5])
    return number[0] in "12" and (1 <= month <= 12 or month >= 20) and 97 - int(number) % 97 == int(text[13:])


def has_valid_dni(text: str) -> bool:
    """Spain: the letter that the number modulo 23 chooses; X, Y, Z of a NIE count as 0, 1, 2."""
    number = int(text[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2"))
    return text[-1] == _DNI_LETTERS[number % 23]


def has_valid_fiscal_code(text: str) -> bool:
    """Italy: the letter that the other fifteen characters add up to."""
    code = text.upper()
    odd = sum(_FISCAL_ODD[character] for character in code[:15:2])
    even = sum(int(character, 36) if character.isdigit() else int(character, 36) - 10 for character in code[1:15:2])
    return code[15] == chr(ord("A") + (odd + even) % 26)


def has_valid_bsn(digits: str) -> bool:
    """The Netherlands: the eleven test."""
    total = sum(int(digit) * weight for digit, weight in zip(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1), strict=True))
    return total % 11 == 0 and digits != "000000000"


def has_valid_pesel(digits: str) -> bool:
    """Poland: a date of birth whose month tells the century, and a check digit."""
    month, day = int(digits[2:4]) % 20, int(digits[4:6])
    total = sum(int(digit) * weight for digit, weight in zip(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), strict=True))
    return 1 <= month <= 12 and 1 <= day <= 31 and total % 10 == 0


def has_valid_cpf(digits: str) -> bool:
    """Brazil: two check digits; eleven times the same digit is nobody's."""
    if len(set(digits)) == 1:
        return False
    return all(_cpf_digit(digits[:length]) == int(digits[length]) for length in (9, 10))


def _cpf_digit(digits: str) -> int:
    total = sum(int(digit) * weight for digit, weight in zip(digits, range(len(digits) + 1, 1, -1), strict=True))
    return total * 10 % 11 % 10


def has_valid_aadhaar(digits: str) -> bool:
    """India: does not begin with 0 or 1, and has a Verhoeff check digit."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_VERHOEFF_MULTIPLY[check][int(_VERHOEFF_PERMUTE[place % 8][int(digit)])])
    return digits[0] not in "01" and check == 0
