UPDATE incidents SET status = 'resolved', resolved_at = ago('30 minutes') WHERE id = 'inc_31';
