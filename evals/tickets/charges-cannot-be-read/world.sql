ALTER TABLE charges RENAME TO charges_gone;
ALTER TABLE accounts RENAME TO accounts_gone;
