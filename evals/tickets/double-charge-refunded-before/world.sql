INSERT INTO refunds VALUES ('ref_001', 'ch_03002', 24900, 'charged twice', ago('20 hours'));
