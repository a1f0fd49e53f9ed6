DROP VIEW IF EXISTS {{views}}.creative_daily {{on_cluster}}
