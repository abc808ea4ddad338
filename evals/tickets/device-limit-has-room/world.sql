UPDATE usage SET used = 6 WHERE account_id = 'acc_04' AND metric = 'devices';
DELETE FROM devices WHERE id IN ('dev_0406', 'dev_0407', 'dev_0408', 'dev_0409');
