UPDATE api_keys SET requests_last_hour = 900 WHERE account_id = 'acc_08';
INSERT INTO api_keys VALUES ('key_083', 'acc_08', 'Seats', 'lfk_08c', 'active', ago('90 days'), NULL, ago('1 minute'), 900), ('key_084', 'acc_08', 'Posters', 'lfk_08d', 'active', ago('90 days'), NULL, ago('1 minute'), 900);
