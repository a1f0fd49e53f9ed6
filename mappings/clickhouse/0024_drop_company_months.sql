-- Derived from company_deliveries, and created anew with small granules.
DROP TABLE IF EXISTS company_months{{local}} {{on_cluster}} SYNC
