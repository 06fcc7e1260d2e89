-- What records mean, as embedders say: sealed like the body that it was made of, and gone with it.

CREATE TABLE vector (
  tenant TEXT NOT NULL,
  stream TEXT NOT NULL,
  name TEXT NOT NULL,
  position INTEGER NOT NULL,
  sealed BLOB NOT NULL,
  PRIMARY KEY (tenant, stream, name, position)
) STRICT;
