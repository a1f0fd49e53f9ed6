-- Views for analysts (docs/analysts.md), with restatements resolved, so that no query needs FINAL.
CREATE DATABASE IF NOT EXISTS {{views}} {{on_cluster}}
