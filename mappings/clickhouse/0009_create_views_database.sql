-- What analysts see: docs/analysts.md. Views with restatements resolved, so that nobody has to think of FINAL.
CREATE DATABASE IF NOT EXISTS {{views}} {{on_cluster}}
