-- To tell at each request whether anything that is at hand was erased, without looking at all of it.
CREATE INDEX record_erased ON record (tenant, stream, id) WHERE sealed IS NULL;
