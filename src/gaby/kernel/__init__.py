"""What every package builds on: errors, ids, time, storage, encryption, logs. Knows nothing of support."""
