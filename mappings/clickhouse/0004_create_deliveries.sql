-- Deliveries are inserted here. The table keeps nothing: its materialized views store each row by its breakdowns, one view after another.
-- A failed insert may have reached some of the views. The same insert again mends that, because a repeated row replaces itself.
-- An empty creative_id or company_id means that the row is not broken down by it.
CREATE TABLE IF NOT EXISTS deliveries
(
    organization_id String,
    date Date,
    campaign_id String,
    creative_id String,
    company_id String,
    ad_spend Decimal(38, 12),
    impressions UInt64,
    clicks UInt64,
    landing_page_clicks UInt64,
    engagements UInt64,
    reactions UInt64,
    comments UInt64,
    shares UInt64,
    follows UInt64,
    video_views UInt64,
    video_completions UInt64,
    leads UInt64,
    lead_form_opens UInt64,
    conversions UInt64,
    conversion_value Decimal(38, 12),
    version UInt128
)
ENGINE = Null;
