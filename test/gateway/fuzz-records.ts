const numbers = Array.from({ length: 120 }, (_, number) => number);

/** Records that random requests can find, by stream. */
export const fuzzRecords: Record<string, object[]> = {
  audiences: numbers.map((number) => ({ id: `aud_${number}`, name: `Audience ${number} maria` })),
  contacts: numbers.map((number) => ({
    contact_id: `con_${number}`,
    first_name: number % 2 ? 'Maria' : 'José',
    last_name: `Cantwell ${number}`,
    work_emails: [`maria${number}@example.com`],
    phones: ['+1 (202) 224-3441'],
    company_domain: 'example.com',
    country: 'United States',
    network_a_url: `https://www.linkedin.com/in/maria-${number}`,
    audience_ids: ['aud_1', `aud_${number}`],
  })),
  'website-visits': numbers.map((number) => ({
    id: `v${number}`,
    createdAt: '2026-11-01T00:00:00Z',
    ipAddress: `192.0.2.${number}`,
    browser: 'Chrome Mobile',
    country: 'US',
  })),
  'network-a-campaigns': [1, 2].map((number) => ({
    id: `cam_${number}`,
    name: `C ${number}`,
    status: 'ACTIVE',
    currency: 'USD',
    daily_budget: '10.5',
  })),
  'network-a-creatives': [{ id: 'cre_1', campaign_id: 'cam_1', name: 'K' }],
  'network-a-companies': [1, 2].map((number) => ({
    id: `co_${number}`,
    network_a_company_id: `${number}000`,
    name: 'Acme',
    domain: 'example.com',
  })),
  'currency-rates': ['2026-09-01', '2026-10-01'].map((date) => ({ date, currency: 'USD', per_eur: '1.08' })),
  'network-a-deliveries': numbers.map((number) => ({
    date: `2026-${number < 60 ? '09' : '10'}-${String((number % 30) + 1).padStart(2, '0')}`,
    campaign_id: `cam_${(number % 3) + 1}`,
    ...(number % 2 ? { creative_id: 'cre_1', ad_spend: '1.01' } : { company_id: `co_${(number % 4) + 1}` }),
    impressions: number,
    clicks: 1,
  })),
};
