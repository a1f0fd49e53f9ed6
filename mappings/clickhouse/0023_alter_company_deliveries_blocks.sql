-- A page reads a granule of each of its companies and months. A granule of a column has 16 to 32 kB; by default, blocks of at least 64 kB are
-- decompressed for it.
ALTER TABLE company_deliveries{{local}} {{on_cluster}} MODIFY SETTING min_compress_block_size = 16384
