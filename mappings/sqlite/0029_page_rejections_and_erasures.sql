-- Pages of lists: of one stream, and of proofs of erasures.
CREATE INDEX rejections_by_stream ON rejections (organization_id, record ->> 'stream', rejected_ms, id);
CREATE INDEX erasures_by_organization ON erasures (organization_id, proof ->> 'requested_at', id);
