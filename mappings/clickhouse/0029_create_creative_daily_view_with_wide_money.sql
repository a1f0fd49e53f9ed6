-- Money of 76 digits: analysts add it up, and sums of 38 digits wrap around.
CREATE VIEW IF NOT EXISTS {{views}}.creative_daily {{on_cluster}}
(
    organization_id String COMMENT 'Organization the row belongs to',
    date Date COMMENT 'Day, in UTC',
    campaign_id String COMMENT 'Campaign',
    creative_id String COMMENT 'Creative',
    ad_spend Decimal(76, 12) COMMENT 'Spent, in the currency of the campaign',
    impressions UInt64 COMMENT 'Times shown',
    clicks UInt64 COMMENT 'Clicks of any kind',
    landing_page_clicks UInt64 COMMENT 'Clicks to the landing page',
    engagements UInt64 COMMENT 'Interactions of any kind',
    reactions UInt64 COMMENT 'Reactions',
    comments UInt64 COMMENT 'Comments',
    shares UInt64 COMMENT 'Shares',
    follows UInt64 COMMENT 'Follows',
    video_views UInt64 COMMENT 'Videos begun',
    video_completions UInt64 COMMENT 'Videos seen to the end',
    leads UInt64 COMMENT 'Forms sent',
    lead_form_opens UInt64 COMMENT 'Forms opened',
    conversions UInt64 COMMENT 'Conversions',
    conversion_value Decimal(76, 12) COMMENT 'Value of conversions, in the currency of the campaign'
)
AS SELECT
    organization_id,
    date,
    campaign_id,
    creative_id,
    sum(toDecimal256(day.ad_spend, 12)) AS ad_spend,
    sum(day.impressions) AS impressions,
    sum(day.clicks) AS clicks,
    sum(day.landing_page_clicks) AS landing_page_clicks,
    sum(day.engagements) AS engagements,
    sum(day.reactions) AS reactions,
    sum(day.comments) AS comments,
    sum(day.shares) AS shares,
    sum(day.follows) AS follows,
    sum(day.video_views) AS video_views,
    sum(day.video_completions) AS video_completions,
    sum(day.leads) AS leads,
    sum(day.lead_form_opens) AS lead_form_opens,
    sum(day.conversions) AS conversions,
    sum(toDecimal256(day.conversion_value, 12)) AS conversion_value
FROM creative_deliveries AS day FINAL
WHERE campaign_id != ''
GROUP BY organization_id, date, campaign_id, creative_id
SETTINGS do_not_merge_across_partitions_select_final = 1
COMMENT 'Figures of each creative and day, restatements resolved'
