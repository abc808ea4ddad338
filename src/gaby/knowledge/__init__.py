"""Knowledge: the company's own words, found, cited by line, and learned only with consent."""
