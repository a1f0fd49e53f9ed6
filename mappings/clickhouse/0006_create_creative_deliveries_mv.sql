-- Row by row, never summed: a restated row replaces its predecessor.
CREATE MATERIALIZED VIEW IF NOT EXISTS creative_deliveries_mv TO creative_deliveries AS
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
    version
FROM deliveries
WHERE creative_id != ''
