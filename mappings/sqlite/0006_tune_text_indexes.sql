-- Bulk loads leave up to 16 segments a level before they merge: half the work. The writer merges the rest when it is idle.
INSERT INTO contact_terms (contact_terms, rank) VALUES ('automerge', 16);
INSERT INTO contact_terms (contact_terms, rank) VALUES ('hashsize', 8000000);
