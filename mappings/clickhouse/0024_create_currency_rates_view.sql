CREATE VIEW IF NOT EXISTS {{views}}.currency_rates {{on_cluster}}
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day of the rate',
    currency String COMMENT 'ISO 4217 code',
    per_eur Decimal(38, 12) COMMENT 'Units of the currency for one euro'
)
AS SELECT
    organization_id,
    date,
    toString(currency) AS currency,
    per_eur
FROM currency_rates FINAL
COMMENT 'The rates of currencies as last loaded, one row per currency and day'
