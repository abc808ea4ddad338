UPDATE devices SET status = 'offline', last_seen_at = ago('9 days') WHERE id = 'dev_0100';
