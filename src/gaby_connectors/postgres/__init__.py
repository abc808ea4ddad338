"""Postgres: look at tables and ask questions in SQL, without any way to change something."""
