UPDATE users SET locked_at = ago('30 minutes'), lock_reason = '5 failed logins in 10 minutes', failed_logins = 5 WHERE id = 'usr_003';
INSERT INTO logins (user_id, at, ok, reason, client, address) VALUES ('usr_003', ago('35 minutes'), 0, 'bad_password', 'Firefox on Windows', '203.0.113.3');
