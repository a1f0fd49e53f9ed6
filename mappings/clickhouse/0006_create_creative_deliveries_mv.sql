-- Row by row, never summed: a restated row replaces its predecessor. The first row of each organization and month adds the mark.
CREATE MATERIALIZED VIEW IF NOT EXISTS creative_deliveries_mv TO creative_deliveries AS
SELECT
    delivery.organization_id AS organization_id,
    if(is_mark, toStartOfMonth(delivery.date), delivery.date) AS date,
    if(is_mark, '', delivery.campaign_id) AS campaign_id,
    if(is_mark, '', delivery.creative_id) AS creative_id,
    if(is_mark, '', delivery.company_id) AS company_id,
    if(is_mark, toDecimal128(0, 12), delivery.ad_spend) AS ad_spend,
    if(is_mark, 0, delivery.impressions) AS impressions,
    if(is_mark, 0, delivery.clicks) AS clicks,
    if(is_mark, 0, delivery.landing_page_clicks) AS landing_page_clicks,
    if(is_mark, 0, delivery.engagements) AS engagements,
    if(is_mark, 0, delivery.reactions) AS reactions,
    if(is_mark, 0, delivery.comments) AS comments,
    if(is_mark, 0, delivery.shares) AS shares,
    if(is_mark, 0, delivery.follows) AS follows,
    if(is_mark, 0, delivery.video_views) AS video_views,
    if(is_mark, 0, delivery.video_completions) AS video_completions,
    if(is_mark, 0, delivery.leads) AS leads,
    if(is_mark, 0, delivery.lead_form_opens) AS lead_form_opens,
    if(is_mark, 0, delivery.conversions) AS conversions,
    if(is_mark, toDecimal128(0, 12), delivery.conversion_value) AS conversion_value,
    if(is_mark, 0, delivery.version) AS version,
    if(is_mark, rand64(), 0) AS mark
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY organization_id, toStartOfMonth(date)) = 1 AS is_first
    FROM deliveries
    WHERE creative_id != ''
) AS delivery
ARRAY JOIN if(delivery.is_first, [false, true], [false]) AS is_mark
