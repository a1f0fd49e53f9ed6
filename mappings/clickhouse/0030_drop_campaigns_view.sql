DROP VIEW IF EXISTS {{views}}.campaigns {{on_cluster}}
