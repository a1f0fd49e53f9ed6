-- change: number of the last change of the body, from the counter `change`.
ALTER TABLE contacts ADD COLUMN change INTEGER NOT NULL DEFAULT 0;

UPDATE contacts SET change = key;

INSERT INTO counters (name, value) SELECT 'change', coalesce(max(key), 0) FROM contacts;

-- Reads the feed of changes in order.
CREATE INDEX contacts_by_change ON contacts (organization, change);

-- Marks of deleted and erased contacts in the feed of changes. change: as in contacts.
CREATE TABLE absent_contacts (
  organization INTEGER NOT NULL,
  id TEXT NOT NULL,
  change INTEGER NOT NULL,
  PRIMARY KEY (organization, id)
) WITHOUT ROWID;

CREATE INDEX absent_contacts_by_change ON absent_contacts (organization, change);

-- One row. epoch: id of the numbering of changes, which a rebuild or restore replaces.
-- marks_from: marks of changes up to this number are gone.
CREATE TABLE change_feed (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  epoch TEXT NOT NULL,
  marks_from INTEGER NOT NULL
);

INSERT INTO change_feed (only, epoch, marks_from) VALUES (1, lower(hex(randomblob(8))), 0);

-- Number of the last change at some moments, which tells the age of marks. noted_ms: milliseconds since 1970.
CREATE TABLE change_times (
  noted_ms INTEGER PRIMARY KEY,
  change INTEGER NOT NULL
);
