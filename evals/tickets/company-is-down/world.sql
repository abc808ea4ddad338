DROP TABLE logins;
ALTER TABLE users RENAME TO users_gone;
