DELETE FROM deploys WHERE service = 'reporting';
