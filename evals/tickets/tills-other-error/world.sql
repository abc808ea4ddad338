UPDATE devices SET status = 'offline', last_seen_at = ago('1 hour'), last_error = 'disk: read-only file system' WHERE id = 'dev_0301';
