"""Tokens that resolve to exact lines, and whether those lines support what was said."""
