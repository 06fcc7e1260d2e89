-- The schema as it is now, for new stores; older ones come to it by migrations. A test holds the two together.
-- The tenant is in every key. An empty text stands for "no branch" and "no user".

CREATE TABLE stream (
  number INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  user TEXT NOT NULL,
  position INTEGER NOT NULL,
  chain TEXT NOT NULL,
  signature BLOB,
  signer TEXT,
  UNIQUE (tenant, id),
  UNIQUE (tenant, kind, name)
) STRICT;

-- id, kind and branch repeat what the header says, to be searched by. The kinds that every turn brings share a series,
-- so that a turn touches one page of the index; every other kind is a series of its own. found is the sealed index.
CREATE TABLE record (
  tenant TEXT NOT NULL,
  stream TEXT NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  series TEXT NOT NULL,
  branch TEXT NOT NULL,
  header BLOB NOT NULL,
  chain TEXT NOT NULL,
  sealed BLOB,
  found BLOB,
  PRIMARY KEY (tenant, stream, position)
) STRICT;

-- The root branch is the one id that every stream may have.
CREATE UNIQUE INDEX record_by_id ON record (tenant, id) WHERE id <> 'main';
CREATE UNIQUE INDEX record_root_branch ON record (tenant, stream) WHERE id = 'main';
CREATE INDEX record_in_series ON record (tenant, stream, series, branch, position, kind);

-- To tell at each request whether anything that is at hand was erased, without looking at all of it.
CREATE INDEX record_erased ON record (tenant, stream, id) WHERE sealed IS NULL;

CREATE TABLE state (
  tenant TEXT NOT NULL,
  stream TEXT NOT NULL,
  field TEXT NOT NULL,
  target TEXT NOT NULL,
  branch TEXT NOT NULL,
  from_pos INTEGER NOT NULL,
  to_pos INTEGER,
  value TEXT,
  PRIMARY KEY (tenant, stream, field, target, branch, from_pos)
) STRICT, WITHOUT ROWID;

-- Nearly every call is answered: whoever looks for those reads them all anyway.
CREATE INDEX state_by_value ON state (tenant, stream, field, value, branch, to_pos) WHERE value <> 'answered';

-- own: made by the record that is its source, so found from that record, and not a second time by an index.
CREATE TABLE link (
  tenant TEXT NOT NULL,
  stream TEXT NOT NULL,
  relation TEXT NOT NULL,
  target TEXT NOT NULL,
  source TEXT NOT NULL,
  position INTEGER NOT NULL,
  branch TEXT NOT NULL,
  own INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, stream, relation, target, source, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX link_by_source ON link (tenant, stream, relation, source) WHERE own = 0;

-- Where entities and terms occur: a row for each name on each branch in each batch of records, for what is full batches.
-- The key is a keyed hash of name and branch; `first` and `rest` are positions. The stream is named by its number.
CREATE TABLE posting (
  stream INTEGER NOT NULL,
  key INTEGER NOT NULL,
  first INTEGER NOT NULL,
  rest BLOB NOT NULL,
  PRIMARY KEY (stream, key, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE block (
  tenant TEXT NOT NULL,
  user TEXT NOT NULL,
  address TEXT NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (tenant, user, address)
) STRICT;

CREATE TABLE blob (
  tenant TEXT NOT NULL,
  user TEXT NOT NULL,
  address TEXT NOT NULL,
  size INTEGER NOT NULL,
  stored INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  PRIMARY KEY (tenant, user, address)
) STRICT, WITHOUT ROWID;

-- To tell whether a file in the blob store is anybody's.
CREATE INDEX blob_by_address ON blob (address);

CREATE TABLE blob_name (
  tenant TEXT NOT NULL,
  user TEXT NOT NULL,
  address TEXT NOT NULL,
  stream TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (tenant, user, address, stream, position),
  FOREIGN KEY (tenant, user, address) REFERENCES blob
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_name_by_record ON blob_name (tenant, stream, position);

CREATE TABLE blob_hold (
  name TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keyring (
  tenant TEXT NOT NULL,
  user TEXT NOT NULL,
  id TEXT NOT NULL,
  address_key BLOB NOT NULL,
  content_key BLOB,
  PRIMARY KEY (tenant, user)
) STRICT, WITHOUT ROWID;

-- What records mean, by index: an embedder. Sealed like the body that it was made of, and gone with it.
CREATE TABLE vector (
  tenant TEXT NOT NULL,
  stream TEXT NOT NULL,
  name TEXT NOT NULL,
  position INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (tenant, stream, name, position)
) STRICT;

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

-- For what goes with erased records.
CREATE INDEX prefix_by_stream ON prefix (tenant, stream, position);
