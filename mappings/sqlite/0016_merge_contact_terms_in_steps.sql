-- A level of 16 segments is merged a little with every transaction of a bulk load, before it has 64: at 16, the default, all of it was
-- merged at once, and other writes waited.
INSERT INTO contact_terms (contact_terms, rank) VALUES ('crisismerge', 64);
