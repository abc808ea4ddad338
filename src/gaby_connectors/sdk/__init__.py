"""What connectors share: how to declare tools, what a manifest says, and how errors are told."""
