UPDATE users SET locked_at = ago('20 minutes'), lock_reason = '5 failed logins in 10 minutes', failed_logins = 5 WHERE id = 'usr_003';
