"""Questions of customers and the pages of their companies: how many are answered rightly from pages alone."""
