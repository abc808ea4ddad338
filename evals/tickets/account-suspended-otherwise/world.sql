UPDATE accounts SET status_reason = 'terms of use are under review' WHERE id = 'acc_07';
UPDATE invoices SET status = 'paid' WHERE account_id = 'acc_07';
DELETE FROM charges WHERE status = 'failed';
