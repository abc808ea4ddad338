"""LDAP: people and groups of a directory, locked accounts, and who may do what."""
