-- What records are found by: the sealed index beside the body, and where names occur in full batches of records.

ALTER TABLE record ADD COLUMN found BLOB;

CREATE TABLE posting (
  stream INTEGER NOT NULL,
  key INTEGER NOT NULL,
  first INTEGER NOT NULL,
  rest BLOB NOT NULL,
  PRIMARY KEY (stream, key, first)
) STRICT, WITHOUT ROWID;
