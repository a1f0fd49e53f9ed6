-- The builds that company_months had. Months are summed again in the background.
TRUNCATE TABLE IF EXISTS rollups{{local}} {{on_cluster}}
