CREATE MATERIALIZED VIEW IF NOT EXISTS company_deliveries_mv TO company_deliveries AS
SELECT
    organization_id,
    date,
    campaign_id,
    creative_id,
    company_id,
    ad_spend,
    impressions,
    clicks,
    landing_page_clicks,
    engagements,
    reactions,
    comments,
    shares,
    follows,
    video_views,
    video_completions,
    leads,
    lead_form_opens,
    conversions,
    conversion_value,
    ad_spend > 0
        OR impressions > 0
        OR clicks > 0
        OR landing_page_clicks > 0
        OR engagements > 0
        OR reactions > 0
        OR comments > 0
        OR shares > 0
        OR follows > 0
        OR video_views > 0
        OR video_completions > 0
        OR leads > 0
        OR lead_form_opens > 0
        OR conversions > 0
        OR conversion_value > 0 AS active,
    version
FROM deliveries
WHERE company_id != ''
