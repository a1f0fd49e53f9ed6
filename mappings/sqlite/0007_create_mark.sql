-- One row: the mark this file shares with the other stores of its data folder, and whether analytics lies beside it.
CREATE TABLE mark (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  mark TEXT NOT NULL,
  has_analytics INTEGER NOT NULL
);
