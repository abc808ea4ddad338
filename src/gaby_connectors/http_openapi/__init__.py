"""HTTP APIs: tools made from an OpenAPI file, for one server and no other."""
