UPDATE accounts SET status = 'active', status_reason = NULL WHERE id = 'acc_07';
UPDATE invoices SET status = 'paid' WHERE account_id = 'acc_07';
UPDATE devices SET status = 'offline', last_error = 'gateway: no route' WHERE account_id = 'acc_07';
