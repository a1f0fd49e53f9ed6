DROP VIEW IF EXISTS {{views}}.contacts {{on_cluster}}
