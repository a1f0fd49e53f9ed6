-- Words of letters that records have, so that words a typo away are found. indexed: 0 contacts, 1 audiences.
CREATE TABLE vocabulary (
  organization INTEGER NOT NULL,
  indexed INTEGER NOT NULL,
  first TEXT NOT NULL,
  length INTEGER NOT NULL,
  word TEXT NOT NULL,
  PRIMARY KEY (organization, indexed, first, length, word)
) WITHOUT ROWID;
