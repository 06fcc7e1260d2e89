-- append_stream --
-- Create a stream at position 0.
INSERT INTO stream (tenant, id, kind, name, user, position, chain)
VALUES (?, ?, ?, ?, ?, 0, ?)

-- stream_by_id --
-- A stream with its head.
SELECT tenant, id, kind, name, user, position, chain, signature, signer
FROM stream WHERE tenant = ? AND id = ?

-- stream_by_name --
-- A stream with its head, by what people call it.
SELECT tenant, id, kind, name, user, position, chain, signature, signer
FROM stream WHERE tenant = ? AND kind = ? AND name = ?

-- streams --
-- Streams in order of creation; NULL stands for every tenant or kind.
SELECT tenant, id, kind, name, user, position, chain, signature, signer
FROM stream
WHERE (:tenant IS NULL OR tenant = :tenant) AND (:kind IS NULL OR kind = :kind)
ORDER BY number

-- move_head --
-- Set the head of a stream.
UPDATE stream SET position = ?, chain = ?, signature = ?, signer = ? WHERE tenant = ? AND id = ?

-- append_record --
-- Add a record.
INSERT INTO record (tenant, stream, position, id, kind, series, branch, header, chain, sealed, found)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- append_state --
-- Add a value of a state.
INSERT INTO state (tenant, stream, field, target, branch, from_pos, to_pos, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- close_state --
-- End the newest value of a state on one branch.
UPDATE state SET to_pos = ?6
WHERE tenant = ?1 AND stream = ?2 AND field = ?3 AND target = ?4 AND branch = ?5 AND from_pos = (
  SELECT max(from_pos) FROM state
  WHERE tenant = ?1 AND stream = ?2 AND field = ?3 AND target = ?4 AND branch = ?5
)

-- append_link --
-- Add a link.
INSERT INTO link (tenant, stream, relation, source, target, branch, position, own)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- append_posting --
-- Add where a name occurs in a batch.
INSERT INTO posting (stream, key, first, rest) VALUES (?, ?, ?, ?)

-- append_block --
-- Keep a rendered block; one that is there already stays.
INSERT OR IGNORE INTO block (tenant, user, address, sealed) VALUES (?, ?, ?, ?)

-- last_position --
-- The position of the last record that is there.
SELECT max(position) FROM record WHERE tenant = ? AND stream = ?

-- records --
-- Records of a stream in a range of positions, ascending.
SELECT position, header, chain, sealed FROM record
WHERE tenant = :tenant AND stream = :stream AND position > :after AND position <= :upto
ORDER BY position LIMIT :limit

-- records_by_row --
-- Records by their row numbers, ascending.
SELECT position, header, chain, sealed FROM record
WHERE rowid IN (:each)
ORDER BY position

-- records_by_id --
-- Records of one stream by id, without the root branch.
SELECT position, header, chain, sealed FROM record INDEXED BY record_by_id
WHERE tenant = ? AND stream = ? AND id <> 'main' AND id IN (:each)

-- root_branch --
-- The root branch of a stream, whose id is the one that other streams have too.
SELECT position, header, chain, sealed FROM record
WHERE tenant = ? AND stream = ? AND id = 'main'

-- records_at --
-- Records at some positions with what they are found by, ascending.
SELECT position, header, chain, sealed, found FROM record
WHERE tenant = ? AND stream = ? AND position IN (:each)
ORDER BY position

-- record_anywhere --
-- A record of a tenant by id, with its stream.
SELECT stream, position, header, chain, sealed FROM record
WHERE tenant = ? AND id = ? AND id <> 'main'

-- series_oldest --
-- Row numbers of records of some kinds of one series, on one branch, ascending.
SELECT position, rowid FROM record INDEXED BY record_in_series
WHERE tenant = ? AND stream = ? AND series = ? AND branch = ? AND position > ? AND position <= ? AND kind IN (:each)
ORDER BY position LIMIT ?

-- series_oldest_anywhere --
-- Row numbers of records of some kinds of one series, on every branch, ascending.
SELECT position, rowid FROM record INDEXED BY record_in_series
WHERE tenant = ? AND stream = ? AND series = ? AND position > ? AND position <= ? AND kind IN (:each)
ORDER BY position LIMIT ?

-- series_newest --
-- Row numbers of records of some kinds of one series, on one branch, descending.
SELECT position, rowid FROM record INDEXED BY record_in_series
WHERE tenant = ? AND stream = ? AND series = ? AND branch = ? AND position > ? AND position <= ? AND kind IN (:each)
ORDER BY position DESC LIMIT ?

-- series_newest_anywhere --
-- Row numbers of records of some kinds of one series, on every branch, descending.
SELECT position, rowid FROM record INDEXED BY record_in_series
WHERE tenant = ? AND stream = ? AND series = ? AND position > ? AND position <= ? AND kind IN (:each)
ORDER BY position DESC LIMIT ?

-- places_around --
-- Positions of records of one kind in its series, on one branch, within a distance before and after some positions.
SELECT record.position FROM (VALUES :rows) AS wanted
CROSS JOIN record INDEXED BY record_in_series ON record.tenant = ? AND record.stream = ? AND record.series = ?
  AND record.branch = ? AND record.position BETWEEN wanted.column1 - ? AND min(wanted.column1 + ?, ?)
  AND record.kind = ?

-- states_of_targets --
-- The value that a field of some targets had on a branch as of a position.
SELECT state.target, state.field, state.value, state.branch, state.from_pos, state.to_pos
FROM (VALUES :rows) AS wanted
CROSS JOIN state ON state.tenant = ? AND state.stream = ? AND state.field = ?
  AND state.target = wanted.column1 AND state.branch = ? AND state.from_pos = (
    SELECT max(from_pos) FROM state AS earlier
    WHERE earlier.tenant = ? AND earlier.stream = ? AND earlier.field = ?
      AND earlier.target = wanted.column1 AND earlier.branch = ? AND earlier.from_pos <= ?
  )

-- any_state --
-- Whether a field of any target ever had a value.
SELECT 1 FROM state WHERE tenant = ? AND stream = ? AND field = ? LIMIT 1

-- states_of_field --
-- The values that a field of any target had on a branch as of a position.
SELECT target, field, value, branch, from_pos, to_pos FROM state
WHERE tenant = ? AND stream = ? AND field = ? AND branch = ? AND from_pos <= ? AND (to_pos IS NULL OR to_pos > ?)

-- targets_with_value --
-- Targets of which a field had a value on a branch as of a position; not for "answered", which has no index.
SELECT target FROM state INDEXED BY state_by_value
WHERE tenant = ?1 AND stream = ?2 AND field = ?3 AND value = ?4 AND value <> 'answered' AND branch = ?5
  AND to_pos IS NULL AND from_pos <= ?6
UNION
SELECT target FROM state INDEXED BY state_by_value
WHERE tenant = ?1 AND stream = ?2 AND field = ?3 AND value = ?4 AND value <> 'answered' AND branch = ?5
  AND to_pos > ?6 AND from_pos <= ?6

-- links_by_source --
-- Links of one relation from some records, made by other records than these.
SELECT relation, source, target, branch, position FROM link INDEXED BY link_by_source
WHERE tenant = ? AND stream = ? AND relation = ? AND own = 0 AND source IN (:each)

-- links_by_target --
-- Links of one relation to some records.
SELECT relation, source, target, branch, position FROM link
WHERE tenant = ? AND stream = ? AND relation = ? AND target IN (:each)

-- indexes_between --
-- The indexes of records in a range of positions, ascending.
SELECT position, branch, found FROM record
WHERE tenant = ? AND stream = ? AND position > ? AND position <= ? AND found IS NOT NULL
ORDER BY position

-- indexes_at --
-- The indexes of records at some positions.
SELECT position, found FROM record
WHERE tenant = ? AND stream = ? AND position IN (:each) AND found IS NOT NULL

-- postings_of_name --
-- Where a name occurs on a branch up to a position, the newest batch first.
SELECT first, rest FROM posting WHERE stream = ? AND key = ? AND first <= ?
ORDER BY first DESC LIMIT ?

-- ids_at --
-- The ids of the records at some positions.
SELECT position, id FROM record WHERE tenant = ? AND stream = ? AND position IN (:each)

-- stream_place --
-- The number of a stream and the position that it is at.
SELECT number, position FROM stream WHERE tenant = ? AND id = ?

-- all_postings --
-- Where names occur in a stream, by key.
SELECT key, first, rest FROM posting WHERE stream = ? ORDER BY key, first

-- all_nodes --
-- The places of all records of a stream.
SELECT position, id, kind, branch FROM record WHERE tenant = ? AND stream = ? ORDER BY position

-- all_states --
-- All values of all states of a stream.
SELECT target, field, value, branch, from_pos, to_pos FROM state WHERE tenant = ? AND stream = ?
ORDER BY field, target, branch, from_pos

-- all_links --
-- All links of a stream.
SELECT relation, source, target, branch, position FROM link WHERE tenant = ? AND stream = ?
ORDER BY relation, source, target, position

-- schema --
-- What was created, by name; what SQLite makes for itself is left out.
SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND sql IS NOT NULL

-- lost_streams --
-- Streams that rows belong to and that have none themselves.
SELECT tenant, stream FROM (
  SELECT tenant, stream FROM record
  UNION SELECT tenant, stream FROM state
  UNION SELECT tenant, stream FROM link
  UNION SELECT tenant, stream FROM blob_name
  UNION SELECT tenant, stream FROM vector
) AS used
WHERE (:tenant IS NULL OR tenant = :tenant)
  AND NOT EXISTS (SELECT 1 FROM stream WHERE stream.tenant = used.tenant AND stream.id = used.stream)
ORDER BY tenant, stream

-- series_in_use --
-- In which series records of a kind stand, and the first position of each.
SELECT kind, series, min(position) FROM record WHERE tenant = ? AND stream = ? GROUP BY kind, series

-- misfiled_links --
-- Positions of links that are marked as made by their source and are not, or the other way.
SELECT link.position FROM link
JOIN record ON record.tenant = link.tenant AND record.stream = link.stream AND record.position = link.position
WHERE link.tenant = ? AND link.stream = ? AND link.own <> (record.id = link.source)

-- blob_names --
-- The blobs that the records of a stream name, with the sizes that are kept with each.
SELECT blob_name.user, blob_name.address, blob_name.position, blob.size, blob.stored FROM blob_name
LEFT JOIN blob
  ON blob.tenant = blob_name.tenant AND blob.user = blob_name.user AND blob.address = blob_name.address
WHERE blob_name.tenant = ? AND blob_name.stream = ?

-- drop_blob_names --
-- Forget which blobs the records of a stream name.
DELETE FROM blob_name WHERE tenant = ? AND stream = ?

-- restore_blob --
-- Set the row of a blob that a record names; its lease stays.
INSERT INTO blob (tenant, user, address, size, stored, lease_until)
VALUES (?, ?, ?, ?, ?, 0)
ON CONFLICT (tenant, user, address) DO UPDATE SET size = excluded.size, stored = excluded.stored

-- drop_states --
-- Forget the states of a stream.
DELETE FROM state WHERE tenant = ? AND stream = ?

-- drop_links --
-- Forget the links of a stream.
DELETE FROM link WHERE tenant = ? AND stream = ?

-- drop_postings --
-- Forget where names occur in a stream.
DELETE FROM posting WHERE stream = ?

-- drop_link --
-- Forget a link that a record made.
DELETE FROM link WHERE tenant = ? AND stream = ? AND relation = ? AND target = ? AND source = ? AND position = ?

-- drop_batches --
-- Forget where names occur in some batches of a stream; the size of a batch, then which ones, counted from 0.
DELETE FROM posting WHERE stream = ? AND (first - 1) / ? IN (:each)

-- set_index --
-- Set what a record is found by.
UPDATE record SET found = ? WHERE tenant = ? AND stream = ? AND position = ?

-- correct_record --
-- Set the searchable columns of a record to what its header says.
UPDATE record SET id = ?1, kind = ?2, series = ?3, branch = ?4
WHERE tenant = ?5 AND stream = ?6 AND position = ?7 AND (id, kind, series, branch) <> (?1, ?2, ?3, ?4)

-- erase_body --
-- Remove the body of a record.
UPDATE record SET sealed = NULL, found = NULL WHERE tenant = ? AND stream = ? AND position = ?

-- erased_by_id --
-- The ids of those records of one stream whose bodies are gone.
SELECT id FROM record INDEXED BY record_erased
WHERE tenant = ? AND stream = ? AND id IN (:each) AND sealed IS NULL

-- any_erased --
-- Whether any record of a stream has no body.
SELECT 1 FROM record INDEXED BY record_erased WHERE tenant = ? AND stream = ? AND sealed IS NULL LIMIT 1

-- put_vector --
-- Keep the vector of a record in an index, unless it has one there or has no body.
INSERT INTO vector (tenant, stream, name, position, sealed)
SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (
  SELECT 1 FROM record WHERE tenant = ?1 AND stream = ?2 AND position = ?4 AND sealed IS NOT NULL
)
ON CONFLICT (tenant, stream, name, position) DO NOTHING

-- vectors_between --
-- The vectors of one index in a range of positions, ascending, each with the id and branch of its record.
SELECT vector.position, record.id, record.branch, vector.sealed FROM vector
JOIN record ON record.tenant = vector.tenant AND record.stream = vector.stream AND record.position = vector.position
WHERE vector.tenant = ? AND vector.stream = ? AND vector.name = ? AND vector.position > ? AND vector.position <= ?
ORDER BY vector.position

-- vectors_at --
-- The vectors of one index at some positions, each with the id and branch of its record.
SELECT vector.position, record.id, record.branch, vector.sealed FROM vector
JOIN record ON record.tenant = vector.tenant AND record.stream = vector.stream AND record.position = vector.position
WHERE vector.tenant = ? AND vector.stream = ? AND vector.name = ? AND vector.position IN (:each)

-- records_without_vector --
-- The first records of some kinds in a range of positions that have a body and no vector in an index, ascending.
SELECT position, header, chain, sealed FROM record
WHERE tenant = ? AND stream = ? AND position > ? AND position <= ? AND kind IN (:each) AND sealed IS NOT NULL
  AND NOT EXISTS (
    SELECT 1 FROM vector
    WHERE vector.tenant = record.tenant AND vector.stream = record.stream AND vector.position = record.position
      AND vector.name = ?
  )
ORDER BY position LIMIT ?

-- all_vectors --
-- The row number and content of every vector of a stream.
SELECT rowid, sealed FROM vector WHERE tenant = ? AND stream = ?

-- drop_vectors --
-- Forget the vectors of one index of a stream.
DELETE FROM vector WHERE tenant = ? AND stream = ? AND name = ?

-- drop_vector --
-- Forget one vector by its row number.
DELETE FROM vector WHERE rowid = ?

-- drop_stray_vectors --
-- Forget the vectors of a stream whose records are not there or have no body.
DELETE FROM vector
WHERE tenant = ? AND stream = ? AND NOT EXISTS (
  SELECT 1 FROM record
  WHERE record.tenant = vector.tenant AND record.stream = vector.stream AND record.position = vector.position
    AND record.sealed IS NOT NULL
)

-- put_prefix --
-- Note where a history stands, if its record is there and has a body.
INSERT OR REPLACE INTO prefix (tenant, scope, mark, stream, branch, record, position, own, size, state)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
WHERE EXISTS (
  SELECT 1 FROM record
  WHERE tenant = ?1 AND stream = ?4 AND position = ?7 AND id = ?6 AND branch = ?5 AND sealed IS NOT NULL
)

-- prefixes --
-- Where histories stand, by their marks.
SELECT mark, stream, branch, record, position, own, size, state FROM prefix
WHERE tenant = ? AND scope = ? AND mark IN (:each)

-- drop_prefixes --
-- Forget where one history stands.
DELETE FROM prefix WHERE tenant = ? AND scope = ? AND mark = ?

-- drop_prefixes_from --
-- Forget where histories stand that end at a position of a stream or behind it.
DELETE FROM prefix WHERE tenant = ? AND stream = ? AND position >= ?

-- drop_stray_prefixes --
-- Forget where histories stand of which the last record is not there or has no body.
DELETE FROM prefix
WHERE tenant = ? AND stream = ? AND NOT EXISTS (
  SELECT 1 FROM record
  WHERE record.tenant = prefix.tenant AND record.stream = prefix.stream AND record.position = prefix.position
    AND record.id = prefix.record AND record.branch = prefix.branch AND record.sealed IS NOT NULL
)

-- drop_blocks --
-- Remove rendered blocks.
DELETE FROM block WHERE tenant = ? AND user = ? AND address IN (:each)

-- blocks --
-- Rendered blocks by address.
SELECT address, sealed FROM block
WHERE tenant = ? AND user = ? AND address IN (:each)

-- key_row --
-- The keys of an owner.
SELECT id, address_key, content_key FROM keyring WHERE tenant = ? AND user = ?

-- keep_key_row --
-- Set the keys of an owner.
INSERT INTO keyring (tenant, user, id, address_key, content_key)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (tenant, user) DO UPDATE SET content_key = excluded.content_key

-- blob --
-- Whether an owner has a blob.
SELECT 1 FROM blob WHERE tenant = ? AND user = ? AND address = ?

-- lease_blob --
-- Hold a blob until a moment, whether or not a record names it.
INSERT INTO blob (tenant, user, address, size, stored, lease_until)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, user, address) DO UPDATE SET
  stored = excluded.stored, lease_until = max(lease_until, excluded.lease_until)

-- name_blob --
-- A record names a blob.
INSERT INTO blob_name (tenant, user, address, stream, position) VALUES (?, ?, ?, ?, ?)

-- unname_blobs --
-- A record names no blobs any more.
DELETE FROM blob_name WHERE tenant = ? AND stream = ? AND position = ?

-- blobs_named_by --
-- The blobs that a record names.
SELECT tenant, user, address FROM blob_name WHERE tenant = ? AND stream = ? AND position = ?

-- drop_unnamed_blob --
-- Forget a blob that no record names, whatever its lease.
DELETE FROM blob
WHERE tenant = ? AND user = ? AND address = ? AND NOT EXISTS (
  SELECT 1 FROM blob_name
  WHERE blob_name.tenant = blob.tenant AND blob_name.user = blob.user AND blob_name.address = blob.address
)

-- drop_expired_blobs --
-- Forget blobs that no record names and whose lease has run out.
DELETE FROM blob
WHERE lease_until < ? AND NOT EXISTS (
  SELECT 1 FROM blob_name
  WHERE blob_name.tenant = blob.tenant AND blob_name.user = blob.user AND blob_name.address = blob.address
)

-- known_addresses --
-- Which of some addresses are blobs of anybody.
SELECT DISTINCT address FROM blob WHERE address IN (:each)

-- all_blobs --
-- The address of every blob.
SELECT DISTINCT address FROM blob

-- hold_blobs --
-- Keep all blobs from being removed until a moment.
INSERT INTO blob_hold (name, until) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET until = excluded.until

-- release_blobs --
-- End a hold.
DELETE FROM blob_hold WHERE name = ?

-- held --
-- Whether anything holds all blobs.
SELECT 1 FROM blob_hold WHERE until >= ? LIMIT 1
