INSERT INTO group_members VALUES ('grp_021', 'usr_011');
