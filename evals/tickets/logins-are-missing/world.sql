DELETE FROM logins WHERE user_id = 'usr_001';
