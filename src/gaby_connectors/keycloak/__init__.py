"""Keycloak: people who sign in, their sessions, and what support may do about them."""
