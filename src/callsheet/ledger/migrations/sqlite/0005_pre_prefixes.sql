-- Where histories stand that clients send again: keyed hashes, gone with the first record that they cover.

CREATE TABLE prefix (
  tenant TEXT NOT NULL,
  scope TEXT NOT NULL,
  mark BLOB NOT NULL,
  stream TEXT NOT NULL,
  branch TEXT NOT NULL,
  record TEXT NOT NULL,
  position INTEGER NOT NULL,
  own INTEGER NOT NULL,
  size INTEGER NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (tenant, scope, mark, stream, branch)
) STRICT, WITHOUT ROWID;

CREATE INDEX prefix_by_stream ON prefix (tenant, stream, position);
