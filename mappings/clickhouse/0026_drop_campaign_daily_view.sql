DROP VIEW IF EXISTS {{views}}.campaign_daily {{on_cluster}}
