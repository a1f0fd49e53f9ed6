-- The builds that company_months had. Months are summed again in the background.
ALTER TABLE rollups{{local}} {{on_cluster}} DELETE WHERE true SETTINGS mutations_sync = 2
