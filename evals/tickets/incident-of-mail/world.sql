UPDATE incidents SET status = 'monitoring', resolved_at = NULL, regions = 'us-east' WHERE id = 'inc_30';
