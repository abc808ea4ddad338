"""Small connectors, each of which breaks one promise. They use no library, so that nothing mends them."""
