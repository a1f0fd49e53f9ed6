CREATE ROLE IF NOT EXISTS {{views}}_analyst {{on_cluster}}
