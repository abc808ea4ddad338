UPDATE usage SET used = 240 WHERE account_id = 'acc_08' AND metric = 'api_requests_per_hour';
UPDATE api_keys SET requests_last_hour = 120 WHERE account_id = 'acc_08';
