"""The spine that every room stands on: errors, ids, time, storage, encryption, logs. Knows nothing of support."""
