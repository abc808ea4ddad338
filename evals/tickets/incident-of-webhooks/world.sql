INSERT INTO incidents VALUES ('inc_32', 'Delayed receipts by mail', 'monitoring', 'us-west', 'receipts', ago('5 hours'), NULL);
