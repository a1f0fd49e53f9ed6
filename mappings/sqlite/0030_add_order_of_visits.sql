-- Order of the record that the visit is of (contract 6.2): the smallest stays. Null for visits from before, which stay.
ALTER TABLE visits ADD COLUMN record_order TEXT;
