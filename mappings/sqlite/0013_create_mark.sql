-- One row: the id that the stores of the data folder share. has_analytics: whether the analytics store was used with this file.
CREATE TABLE mark (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  mark TEXT NOT NULL,
  has_analytics INTEGER NOT NULL
);
