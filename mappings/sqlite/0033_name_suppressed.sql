-- Whether a request named the identifier: 0 where it was only found with a contact of the person. Of older entries nobody knows: they count
-- as named.
ALTER TABLE suppressed ADD COLUMN named INTEGER NOT NULL DEFAULT 1;
