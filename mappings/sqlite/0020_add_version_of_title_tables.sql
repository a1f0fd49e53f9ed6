-- tables: version of the tables by which seniority and department of contacts were derived.
ALTER TABLE derived ADD COLUMN tables TEXT;
