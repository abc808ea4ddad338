"""How good the answers without a model are: labelled sets for each part of the offline mind, and a simpler baseline."""
